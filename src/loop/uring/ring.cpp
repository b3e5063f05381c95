// SPDX-License-Identifier: MIT
// In: submissions. Out: completions. One system call per turn exchanges both and waits.
//
// The ring runs with SINGLE_ISSUER and DEFER_TASKRUN: completions are produced only inside our
// own io_uring_enter, so the kernel never interrupts a callback, and never touches the memory of
// an operation between two calls. It starts disabled, because the thread that creates a loop
// need not be the one that runs it: the first thread to submit becomes the issuer.
//
// If that thread ends first, the ring is useless: the kernel takes nothing from another thread,
// and ends operations in flight only with the ring. Pending closes are then done here.
#include "loop/uring/ring.hpp"

#if defined(SKUA_HAS_IO_URING)

#include <sched.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdlib>

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace skua::loop {
namespace {

// A new ring may reuse the address of another thread's. ThreadSanitizer does not see liburing's
// system calls, so it must be told that the old one ended before the new one began.
#if defined(__SANITIZE_THREAD__)
char rings;
void ring_begins() noexcept { __tsan_acquire(&rings); }
void ring_ends() noexcept { __tsan_release(&rings); }
#else
void ring_begins() noexcept {}
void ring_ends() noexcept {}
#endif

constexpr unsigned basic_flags = IORING_SETUP_R_DISABLED | IORING_SETUP_SUBMIT_ALL |
                                 IORING_SETUP_CQSIZE | IORING_SETUP_CLAMP |
                                 IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_COOP_TASKRUN;

// SEND_ZC stands for Linux 6.0, which also has multishot receive, for which there is no probe.
constexpr std::array required_operations = {
    IORING_OP_CONNECT,  IORING_OP_RECV,         IORING_OP_SEND,
    IORING_OP_SENDMSG,  IORING_OP_CLOSE,        IORING_OP_NOP,
    IORING_OP_POLL_ADD, IORING_OP_ASYNC_CANCEL, IORING_OP_SEND_ZC};

constexpr unsigned required_features =
    IORING_FEAT_NODROP | IORING_FEAT_EXT_ARG | IORING_FEAT_SUBMIT_STABLE | IORING_FEAT_FAST_POLL;

}  // namespace

UringRing::~UringRing() {
  if (!is_created_) return;
  ring_ends();
  io_uring_queue_exit(&ring_);
}

Result<void> UringRing::create(const UringOptions& options) {
  io_uring_params parameters{};
  parameters.flags = basic_flags | (options.defers_task_runs ? IORING_SETUP_DEFER_TASKRUN : 0U);
  parameters.cq_entries = options.completions;
  int failure = io_uring_queue_init_params(options.submissions, &ring_, &parameters);
  if (failure == -EINVAL && options.defers_task_runs) {  // Linux 6.0
    parameters = {};
    parameters.flags = basic_flags;
    parameters.cq_entries = options.completions;
    failure = io_uring_queue_init_params(options.submissions, &ring_, &parameters);
  }
  if (failure != 0)
    return uring_error("io_uring_setup", "io_uring's queues; raise RLIMIT_MEMLOCK (ulimit -l)",
                       -failure);
  is_created_ = true;
  ring_begins();
  // Submission i is always in slot i.
  for (unsigned i = 0; i < ring_.sq.ring_entries; ++i) ring_.sq.array[i] = i;
  if (const auto checked = check_features(); !checked) return checked;
  return restrict_operations();
}

Result<void> UringRing::check_features() noexcept {
  if ((ring_.features & required_features) != required_features) {
    return Error(Errc::Unsupported, "io_uring features");
  }
  io_uring_probe* const probe = io_uring_get_probe_ring(&ring_);
  if (probe == nullptr) return Error(Errc::Unsupported, "io_uring probe");
  bool has_all = true;
  for (const auto operation : required_operations) {
    has_all = has_all && io_uring_opcode_supported(probe, operation) != 0;
  }
  io_uring_free_probe(probe);
  if (!has_all) return Error(Errc::Unsupported, "io_uring operations");
  return {};
}

// A filter of system calls does not see what goes through a ring: code that an attacker runs in the
// process could still open files and sockets with it. From its first submission on, the ring takes
// only the operations of a loop, and no registration.
Result<void> UringRing::restrict_operations() noexcept {
  std::array<io_uring_restriction, required_operations.size() + 1> rules{};
  for (std::size_t i = 0; i < required_operations.size(); ++i) {
    rules[i].opcode = IORING_RESTRICTION_SQE_OP;
    rules[i].sqe_op = required_operations[i];
  }
  rules.back().opcode = IORING_RESTRICTION_SQE_FLAGS_ALLOWED;
  rules.back().sqe_flags = IOSQE_BUFFER_SELECT;
  const int failure =
      io_uring_register(static_cast<unsigned>(ring_.ring_fd), IORING_REGISTER_RESTRICTIONS,
                        rules.data(), static_cast<unsigned>(rules.size()));
  if (failure != 0) return uring_error("io_uring restrictions", "a ring's restrictions", -failure);
  return {};
}

void UringRing::enable() noexcept {
  is_enabled_ = true;
  // liburing 2.3 declares io_uring_enable_rings, but does not export it.
  io_uring_register(static_cast<unsigned>(ring_.ring_fd), IORING_REGISTER_ENABLE_RINGS, nullptr, 0);
}

int UringRing::enter(unsigned wait_count, unsigned flags,
                     const __kernel_timespec* timeout) noexcept {
  if (!is_enabled_) [[unlikely]]
    enable();
  io_uring_sq& queue = ring_.sq;
  queue.sqe_head = queue.sqe_tail;
  std::atomic_ref<unsigned>(*queue.ktail).store(queue.sqe_tail, std::memory_order_release);
  const unsigned count = queue.sqe_tail - *queue.khead;
  io_uring_getevents_arg argument{};
  argument.ts = reinterpret_cast<std::uintptr_t>(timeout);
  return io_uring_enter2(static_cast<unsigned>(ring_.ring_fd), count, wait_count,
                         flags | IORING_ENTER_EXT_ARG, reinterpret_cast<sigset_t*>(&argument),
                         sizeof(argument));
}

void UringRing::submit() noexcept {
  if (is_abandoned_) return abandon();
  while (true) {
    const int outcome = enter(0, 0, nullptr);
    if (outcome == -EEXIST) return abandon();
    if (outcome >= 0 && io_uring_sq_space_left(&ring_) > 0) return;
    // Only a lack of kernel memory, or of room for completions, gets us here. Both are temporary.
    if (outcome < 0 && outcome != -EAGAIN && outcome != -EBUSY && outcome != -EINTR) std::abort();
    enter(0, IORING_ENTER_GETEVENTS, nullptr);
    ::sched_yield();
  }
}

void UringRing::wait(Duration timeout) noexcept {
  if (is_abandoned_) return abandon();
  constexpr auto second = Duration(std::chrono::seconds(1));
  __kernel_timespec time{};
  time.tv_sec = timeout / second;
  time.tv_nsec = (timeout % second).count();
  const unsigned wait_count = timeout == Duration::zero() ? 0 : 1;
  const int outcome =
      enter(wait_count, IORING_ENTER_GETEVENTS, timeout > Duration::zero() ? &time : nullptr);
  // Time-outs, signals and shortages are harmless: the next turn tries again.
  if (outcome == -EEXIST) abandon();
}

void UringRing::abandon() noexcept {
  is_abandoned_ = true;
  if (!is_created_) return;
  io_uring_sq& queue = ring_.sq;
  const unsigned first = *queue.khead;
  for (unsigned i = first; i != queue.sqe_tail; ++i) {
    const io_uring_sqe& entry = queue.sqes[i & queue.ring_mask];
    if (entry.opcode == IORING_OP_CLOSE) ::close(entry.fd);
  }
  queue.sqe_head = queue.sqe_tail = first;
  std::atomic_ref<unsigned>(*queue.ktail).store(first, std::memory_order_release);
}

}  // namespace skua::loop

#endif
