// SPDX-License-Identifier: MIT
// For Linux.
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

#include <initializer_list>
#include <thread>
#include <vector>

namespace skua::support {

/// A system call, and the error with which it fails.
struct FailingCall {
  long number;
  int error;
};

/// Runs a function on a thread whose system calls of these kinds fail, as they do on other file
/// systems. Returns false, without running it, if this machine cannot do that.
template <class F>
bool with_failing_calls(std::initializer_list<FailingCall> calls, const F& run) {
  std::vector<sock_filter> filter = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0)};
  for (const FailingCall& call : calls) {
    const auto number = static_cast<unsigned>(call.number);
    const auto answer = SECCOMP_RET_ERRNO | static_cast<unsigned>(call.error);
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1));
    filter.push_back(BPF_STMT(BPF_RET | BPF_K, answer));
  }
  filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  bool has_run = false;
  std::thread([&] {
    const sock_fprog program = {.len = static_cast<unsigned short>(filter.size()),
                                .filter = filter.data()};
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return;
    if (::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) return;
    has_run = true;
    run();
  }).join();
  return has_run;
}

}  // namespace skua::support
