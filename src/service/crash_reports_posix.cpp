// SPDX-License-Identifier: MIT
// In: a signal by which the program dies. Out: a line, and the calls that led there.
// The handler may interrupt any code, so it neither allocates nor locks: the text is built on its
// stack, and backtrace() has run once before, which loads what it needs.
#include "skua/crash_reports.hpp"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SKUA_IS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(memory_sanitizer) || __has_feature(address_sanitizer) || \
    __has_feature(thread_sanitizer)
#define SKUA_IS_SANITIZED 1
#endif
#endif

#if defined(SKUA_IS_SANITIZED)

namespace skua {

void report_crashes() {}
void report_crashes(Server&) {}

}  // namespace skua

#else

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#if __has_include(<execinfo.h>)
#include <execinfo.h>
#endif

#include "base/thread_object.hpp"
#include "router/last_request.hpp"
#include "router/tree.hpp"

namespace skua {
namespace {

struct Fatal {
  int number;
  std::string_view name;
  bool has_address;  // of the memory that was accessed, or of the instruction
};
constexpr std::array<Fatal, 5> fatal = {{{SIGSEGV, "SIGSEGV", true},
                                         {SIGBUS, "SIGBUS", true},
                                         {SIGFPE, "SIGFPE", true},
                                         {SIGILL, "SIGILL", true},
                                         {SIGABRT, "SIGABRT", false}}};

constexpr std::size_t stack_bytes = std::size_t{64} * 1024;
constexpr int max_frames = 64;

/// A line that is built without allocating; a longer one is cut.
class Line {
 public:
  Line& operator<<(std::string_view text) noexcept {
    const std::size_t size = std::min(text.size(), text_.size() - size_);
    std::copy_n(text.data(), size, text_.data() + size_);
    size_ += size;
    return *this;
  }
  Line& add_hex(std::uintptr_t number) noexcept {
    std::array<char, 2 * sizeof number> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number, 16).ptr;
    return *this << "0x" << std::string_view(digits.data(), end);
  }
  void write() const noexcept { static_cast<void>(!::write(STDERR_FILENO, text_.data(), size_)); }

 private:
  std::array<char, 1024> text_;
  std::size_t size_ = 0;
};

void write_calls() noexcept {
#if __has_include(<execinfo.h>)
  std::array<void*, max_frames> frames;
  const int count = ::backtrace(frames.data(), max_frames);
  ::backtrace_symbols_fd(frames.data(), count, STDERR_FILENO);
#endif
}

void report(int signal, const siginfo_t& info) noexcept {
  const auto* const found = std::ranges::find(fatal, signal, &Fatal::number);
  Line line;
  line << "skua: " << (found != fatal.end() ? found->name : "a signal");
  if (found != fatal.end() && found->has_address && info.si_code > 0) {
    (line << " at ").add_hex(reinterpret_cast<std::uintptr_t>(info.si_addr));
  }
  const router::LastRequest& last = router::last_request;
  if (last.route != nullptr) {
    line << "; last handled on this thread: " << name(last.method) << " " << last.route->pattern;
  }
  line << "\n";
  line.write();
  write_calls();
}

// The first thread that crashes reports; others wait for the end. A crash of the report itself ends
// the program at once.
void on_fatal_signal(int signal, siginfo_t* info, void*) {
  static std::atomic<const void*> reporter{nullptr};
  const int before = errno;
  const void* const self = &router::last_request;  // of this thread
  const void* other = nullptr;
  if (reporter.compare_exchange_strong(other, self)) {
    report(signal, *info);
  } else if (other != self) {
    while (true) ::poll(nullptr, 0, -1);
  }
  struct sigaction standard{};
  standard.sa_handler = SIG_DFL;
  ::sigaction(signal, &standard, nullptr);
  errno = before;
  // An instruction that faulted does so again. A signal that was sent has to be sent again.
  if (info->si_code <= 0 || signal == SIGABRT) ::raise(signal);
}

/// A stack for the handler on this thread, whose own may be used up.
class AlternateStack {
 public:
  AlternateStack() : memory_(std::make_unique_for_overwrite<std::byte[]>(stack_bytes)) {
    stack_t before{};
    if (::sigaltstack(nullptr, &before) != 0 || (before.ss_flags & SS_DISABLE) == 0) return;
    stack_t stack{};
    stack.ss_sp = memory_.get();
    stack.ss_size = stack_bytes;
    is_set_ = ::sigaltstack(&stack, nullptr) == 0;
  }
  AlternateStack(const AlternateStack&) = delete;
  AlternateStack& operator=(const AlternateStack&) = delete;
  ~AlternateStack() {
    if (!is_set_) return;
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    ::sigaltstack(&none, nullptr);
  }

 private:
  std::unique_ptr<std::byte[]> memory_;
  bool is_set_ = false;
};

void use_alternate_stack() { static_cast<void>(base::thread_object<AlternateStack>()); }

}  // namespace

void report_crashes() {
#if __has_include(<execinfo.h>)
  std::array<void*, 1> frames;
  static_cast<void>(::backtrace(frames.data(), 1));
#endif
  use_alternate_stack();
  struct sigaction action{};
  action.sa_sigaction = on_fatal_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  for (const Fatal& signal : fatal) ::sigaction(signal.number, &action, nullptr);
}

void report_crashes(Server& server) {
  report_crashes();
  server.on_each_thread(use_alternate_stack);
}

}  // namespace skua

#endif
