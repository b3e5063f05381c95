// SPDX-License-Identifier: MIT
// In: the calls that a server makes. Out: a seccomp filter in BPF, which the kernel runs at each
// system call: a list of numbers, each with an answer.
//
// Refused calls fail with EPERM instead of ending the process, because a C library tries calls that
// it can do without. Four answers differ:
// - Calls that start, inspect or change a process end this one: the server never makes them.
// - Calls newer than this list are answered ENOSYS, so that newer libraries use the older ones.
// - So is clone3, whose flags are in memory, where a filter cannot see them: C libraries fall back
//   to clone, which is allowed for threads.
// - So is openat2 if files can be made, for it has the mode of a new file in memory: nobody may
// make
//   one that runs with the rights of this process's user.
#include "serve/sandbox/system_call_filter.hpp"

#if defined(__linux__)
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>
#endif

namespace skua::cli {

#if defined(__linux__)

namespace {

// Without these, root's thread cannot give a file capabilities either, which a filter could not
// tell from other extended attributes.
Result<void> drop_file_privileges() {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> data{};
  if (::syscall(SYS_capget, &header, data.data()) != 0) return Error::from_system(errno, "capget");
  std::uint32_t had = 0;
  for (const unsigned dropped : {unsigned{CAP_FSETID}, unsigned{CAP_SETFCAP}}) {
    __user_cap_data_struct& word = data.at(dropped / 32);
    const std::uint32_t others = ~(std::uint32_t{1} << dropped % 32);
    had |= (word.effective | word.permitted | word.inheritable) & ~others;
    word.effective &= others;
    word.permitted &= others;
    word.inheritable &= others;
  }
  if (had == 0) return {};  // units for users without privileges do not permit the call
  if (::syscall(SYS_capset, &header, data.data()) != 0) return Error::from_system(errno, "capset");
  return {};
}

}  // namespace

Result<void> forbid_new_privileges() {
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return Error::from_system(errno, "prctl");
  return drop_file_privileges();
}

#else

Result<void> forbid_new_privileges() { return Error(Errc::Unsupported, "no new privileges"); }

#endif

#if defined(__linux__) && !defined(SKUA_IS_INSTRUMENTED) && \
    (defined(__x86_64__) || defined(__aarch64__))

namespace {

#if defined(__x86_64__)
constexpr std::uint32_t architecture = AUDIT_ARCH_X86_64;
#else
constexpr std::uint32_t architecture = AUDIT_ARCH_AARCH64;
#endif

// Programs of the x32 kind use this processor's architecture with numbers from here on.
constexpr std::uint32_t first_x32_call = 0x4000'0000;

// file_setattr of Linux 6.17: the newest call that this list knows.
constexpr std::uint32_t newest_call = 469;

constexpr std::initializer_list<int> allowed_calls = {
    // connections
    SYS_accept4,
    SYS_getpeername,
    SYS_getsockname,
    SYS_getsockopt,
    SYS_recvfrom,
    SYS_recvmsg,
    SYS_sendmsg,
    SYS_sendto,
    SYS_setsockopt,
    SYS_shutdown,
    // waiting
    SYS_epoll_ctl,
    SYS_epoll_pwait,
    SYS_epoll_pwait2,
    SYS_ppoll,
    SYS_timerfd_settime,
    // files, which Landlock restricts
    SYS_close,
    SYS_dup3,
    SYS_fadvise64,
    SYS_fcntl,
    SYS_fstat,
    SYS_getcwd,
    SYS_getdents64,
    SYS_lseek,
    SYS_newfstatat,  // see check_creation() for openat
    SYS_pread64,
    SYS_preadv,
    SYS_preadv2,
    SYS_read,
    SYS_readlinkat,
    SYS_readv,
    SYS_sendfile,
    SYS_statx,
    SYS_write,
    SYS_writev,
    // memory, see check() for mmap and mprotect
    SYS_brk,
    SYS_madvise,
    SYS_mremap,
    SYS_munmap,
    // threads and signals, see check() for clone and tgkill
    SYS_exit,
    SYS_exit_group,
    SYS_futex,
    SYS_membarrier,
    SYS_restart_syscall,
    SYS_rseq,
    SYS_rt_sigaction,
    SYS_rt_sigpending,
    SYS_rt_sigprocmask,
    SYS_rt_sigreturn,
    SYS_rt_sigtimedwait,
    SYS_sched_getaffinity,
    SYS_sched_yield,
    SYS_set_robust_list,
    SYS_sigaltstack,
    // time, chance and facts about this process
    SYS_clock_getres,
    SYS_clock_gettime,
    SYS_clock_nanosleep,
    SYS_getegid,
    SYS_geteuid,
    SYS_getgid,
    SYS_getpid,
    SYS_getrandom,
    SYS_gettid,
    SYS_gettimeofday,
    SYS_getuid,
    SYS_nanosleep,
    SYS_sysinfo,
    SYS_uname,
#if defined(__x86_64__)  // the older forms of the calls above
    SYS_epoll_wait,
    SYS_lstat,
    SYS_poll,
    SYS_readlink,
    SYS_stat,
    SYS_time,
#endif
#if !defined(__GLIBC__)  // musl signals threads without naming their process
    SYS_tkill,
#endif
};

// Also those by which a file system that cannot rename without replacing gets a second name.
constexpr std::initializer_list<int> upload_calls = {
    SYS_flock, SYS_fsync, SYS_linkat, SYS_renameat, SYS_renameat2, SYS_unlinkat,
};

constexpr std::initializer_list<int> webdav_calls = {
    SYS_fgetxattr,
    SYS_fremovexattr,
    SYS_fsetxattr,
};

constexpr std::initializer_list<int> fatal_calls = {
    SYS_bpf,
    SYS_execve,
    SYS_execveat,
    SYS_pidfd_getfd,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_ptrace,
#if defined(__x86_64__)
    SYS_fork,
    SYS_vfork,
#endif
};

constexpr std::uint32_t allowing = SECCOMP_RET_ALLOW;
constexpr std::uint32_t killing = SECCOMP_RET_KILL_PROCESS;
constexpr std::uint32_t failing_with(std::uint32_t code) noexcept {
  return SECCOMP_RET_ERRNO | code;
}
constexpr std::uint32_t refusing = failing_with(EPERM);
constexpr std::uint32_t set_id_bits = S_ISUID | S_ISGID;

/// A program for the kernel. Each function appends instructions.
class CallFilter {
 public:
  CallFilter() {
    load(offsetof(seccomp_data, arch));
    skip_unless(BPF_JEQ, architecture, 1);
    jump(1);
    answer(killing);
    load(offsetof(seccomp_data, nr));
#if defined(__x86_64__)
    skip_unless(BPF_JGE, first_x32_call, 1);
    answer(killing);
#endif
  }

  void answer(std::uint32_t what) { add(BPF_RET | BPF_K, what); }
  void answer(int call, std::uint32_t what) {
    skip_unless(BPF_JEQ, static_cast<std::uint32_t>(call), 1);
    answer(what);
  }
  void answer_from(std::uint32_t first_call, std::uint32_t what) {
    skip_unless(BPF_JGE, first_call, 1);
    answer(what);
  }
  /// Allows a call if the bits of `mask` of an argument, an int or flags, have this value.
  void check(int call, unsigned argument, std::uint32_t mask, std::uint32_t value,
             std::uint32_t otherwise) {
    skip_unless(BPF_JEQ, static_cast<std::uint32_t>(call), 5);
    load(offsetof(seccomp_data, args) + argument * sizeof(std::uint64_t));  // little-endian
    add(BPF_ALU | BPF_AND | BPF_K, mask);
    skip_unless(BPF_JEQ, value, 1);
    answer(allowing);
    answer(otherwise);
  }

  /// Allows a call unless it makes a file that is set-user-ID or set-group-ID.
  void check_creation(int call, unsigned flags, unsigned mode) {
    constexpr std::uint32_t creating = O_CREAT | (O_TMPFILE & ~O_DIRECTORY);
    skip_unless(BPF_JEQ, static_cast<std::uint32_t>(call), 9);
    for (const auto& [argument, mask] :
         {std::pair(flags, creating), std::pair(mode, set_id_bits)}) {
      load(offsetof(seccomp_data, args) + argument * sizeof(std::uint64_t));
      add(BPF_ALU | BPF_AND | BPF_K, mask);
      skip_unless(BPF_JEQ, 0, 1);
      answer(allowing);
    }
    answer(refusing);
  }

  /// Allows a call if an argument, an int or flags, is one of two values.
  void check(int call, unsigned argument, const std::array<std::uint32_t, 2>& values) {
    skip_unless(BPF_JEQ, static_cast<std::uint32_t>(call), 6);
    load(offsetof(seccomp_data, args) + argument * sizeof(std::uint64_t));
    for (const std::uint32_t value : values) {
      skip_unless(BPF_JEQ, value, 1);
      answer(allowing);
    }
    answer(refusing);
  }

  /// Allows a call if these arguments, whole words, are zero.
  void check_zero(int call, const std::array<unsigned, 2>& arguments) {
    skip_unless(BPF_JEQ, static_cast<std::uint32_t>(call), 13);
    for (const unsigned argument : arguments) {
      for (const unsigned half : {0U, 1U}) {
        load(offsetof(seccomp_data, args) + argument * sizeof(std::uint64_t) +
             half * sizeof(std::uint32_t));
        add(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0);
        answer(refusing);
      }
    }
    answer(allowing);
  }

  /// Installs the program in all threads.
  Result<void> install() {
    const sock_fprog program{.len = static_cast<unsigned short>(instructions_.size()),
                             .filter = instructions_.data()};
    const long failed_thread =
        ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
    if (failed_thread < 0) return Error::from_system(errno, "seccomp");
    if (failed_thread > 0) return Error(Errc::SystemFailure, "seccomp");  // it has another filter
    return {};
  }

 private:
  void add(unsigned code, std::uint32_t operand, std::uint8_t if_true = 0,
           std::uint8_t if_false = 0) {
    instructions_.push_back({static_cast<std::uint16_t>(code), if_true, if_false, operand});
  }
  void load(std::size_t offset) {
    add(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
  }
  void skip_unless(unsigned comparison, std::uint32_t operand, std::uint8_t count) {
    add(BPF_JMP | comparison | BPF_K, operand, 0, count);
  }
  void jump(std::uint32_t count) { add(BPF_JMP | BPF_JA, count); }

  std::vector<sock_filter> instructions_;
};

}  // namespace

Result<void> restrict_system_calls(const CallNeeds& needs) {
  constexpr std::uint32_t enable_rings = 12;  // IORING_REGISTER_ENABLE_RINGS
  constexpr std::uint32_t all_bits = ~0U;
  CallFilter filter;
  for (const int call : allowed_calls) filter.answer(call, allowing);
  for (const int call : fatal_calls) filter.answer(call, killing);
  filter.check_creation(SYS_openat, 2, 3);
#if defined(__x86_64__)
  filter.check_creation(SYS_open, 1, 2);
#endif
  const bool makes_files = needs.uploads || needs.webdav || needs.logs;
  filter.answer(SYS_openat2, makes_files ? failing_with(ENOSYS) : allowing);
  filter.check(SYS_mmap, 2, PROT_EXEC, 0, refusing);
  filter.check(SYS_mprotect, 2, PROT_EXEC, 0, refusing);
  filter.check(SYS_clone, 0, CLONE_THREAD, CLONE_THREAD, killing);
  filter.check(SYS_tgkill, 0, all_bits, static_cast<std::uint32_t>(::getpid()), refusing);
  filter.check_zero(SYS_prlimit64, {0, 2});  // its own limits, and no new ones
  if (needs.io_uring) {
    filter.answer(SYS_io_uring_enter, allowing);
    filter.check(SYS_io_uring_register, 1, all_bits, enable_rings, refusing);
  }
  if (needs.uploads) {
    for (const int call : upload_calls) filter.answer(call, allowing);
  }
  if (needs.wait) filter.answer(SYS_wait4, allowing);
  if (needs.watch) {
    filter.answer(SYS_inotify_add_watch, allowing);
    filter.answer(SYS_inotify_rm_watch, allowing);
  }
  if (needs.webdav) {
    for (const int call : webdav_calls) filter.answer(call, allowing);
    filter.check(SYS_mkdirat, 2, set_id_bits, 0, refusing);
  }
  if (needs.connect) {
    constexpr std::uint32_t socket_kind = 0xF;  // the other bits are flags
    filter.check(SYS_socket, 1, socket_kind, SOCK_STREAM, refusing);
    filter.answer(SYS_connect, allowing);
  }
  if (needs.terminal) {
    filter.check(SYS_ioctl, 1, {TIOCGWINSZ, TIOCGPGRP});
    filter.answer(SYS_getpgid, allowing);
#if defined(__x86_64__)
    filter.answer(SYS_getpgrp, allowing);
#endif
  }
  if (needs.unlink) filter.answer(SYS_unlinkat, allowing);
#if defined(__x86_64__)
  if (needs.unlink) filter.answer(SYS_unlink, allowing);
#endif
  filter.answer(SYS_clone3, failing_with(ENOSYS));
  filter.answer_from(newest_call + 1, failing_with(ENOSYS));
  filter.answer(refusing);
  return filter.install();
}

#else

Result<void> restrict_system_calls(const CallNeeds&) { return Error(Errc::Unsupported, "seccomp"); }

#endif

}  // namespace skua::cli
