// SPDX-License-Identifier: MIT
#pragma once

#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <thread>

namespace skua::support {

/// Whether this machine reserves port 1 for privileged programs.
inline bool has_privileged_ports() {
  int first_free = 1024;
  std::ifstream("/proc/sys/net/ipv4/ip_unprivileged_port_start") >> first_free;
  return first_free > 1;
}

/// Runs a function on a thread without the right to bind to privileged ports.
template <class F>
void without_privilege(const F& run) {
  std::thread([&run] {
    __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
    std::array<__user_cap_data_struct, 2> sets{};
    ::syscall(SYS_capget, &header, sets.data());
    sets[0].effective &= ~(1U << CAP_NET_BIND_SERVICE);
    ::syscall(SYS_capset, &header, sets.data());
    run();
  }).join();
}

}  // namespace skua::support
