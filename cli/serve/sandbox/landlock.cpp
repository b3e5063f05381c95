// SPDX-License-Identifier: MIT
// In: what stays accessible. Out: a Landlock domain, which denies everything else that this
// kernel's Landlock knows. The headers of the build machine may be older than the kernel, so the
// names that came after the first version are defined here.
#include "serve/sandbox/landlock.hpp"

#if defined(__linux__) && !defined(SKUA_IS_INSTRUMENTED)
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/disk.hpp"

namespace skua::cli {
namespace {

// Architectures share these numbers, but old headers lack them.
constexpr long create_ruleset = 444;
constexpr long add_rule = 445;
constexpr long restrict_self = 446;

constexpr unsigned ask_version = 1;
constexpr int rule_path_beneath = 1;
constexpr int rule_tcp_port = 2;

// Rights over files, as bits. Version 1 has thirteen; 2 adds to link or rename between folders, 3
// to truncate, 5 to control devices.
constexpr std::uint64_t right_to_write = 1U << 1;
constexpr std::uint64_t right_to_read = 1U << 2;
constexpr std::uint64_t right_to_list = 1U << 3;
constexpr std::uint64_t right_to_remove_folders = 1U << 4;
constexpr std::uint64_t right_to_remove = 1U << 5;
constexpr std::uint64_t right_to_make_folders = 1U << 7;
constexpr std::uint64_t right_to_make = 1U << 8;
constexpr std::uint64_t right_to_move = 1U << 13;
constexpr std::array<unsigned, 6> rights_by_version = {0, 13, 14, 15, 15, 16};

constexpr std::uint64_t bind_and_connect_tcp = 3;
constexpr std::uint64_t right_to_connect_tcp = 2;
constexpr std::uint64_t abstract_sockets_and_signals = 3;
constexpr int version_with_scopes = 6;

struct Ruleset {
  std::uint64_t files;
  std::uint64_t tcp;
  std::uint64_t scopes;
};

struct [[gnu::packed]] PathRule {
  std::uint64_t rights;
  std::int32_t folder;
};

struct PortRule {
  std::uint64_t rights;
  std::uint64_t port;
};

// Returns what this version can restrict. An old kernel accepts the fields it does not know if they
// are zero.
Ruleset all_rights(int version) noexcept {
  const auto known = std::min(static_cast<std::size_t>(version), rights_by_version.size() - 1);
  return {.files = (std::uint64_t{1} << rights_by_version[known]) - 1,
          .tcp = version >= landlock_with_tcp ? bind_and_connect_tcp : 0,
          .scopes = version >= version_with_scopes ? abstract_sockets_and_signals : 0};
}

Result<void> allow_below(int rules, const std::vector<std::string>& paths, std::uint64_t rights) {
  for (const std::string& path : paths) {
    const disk::Descriptor place(::open(path.c_str(), O_PATH | O_CLOEXEC));
    if (!place) return Error::from_system(errno, "Landlock");
    const PathRule rule{.rights = rights, .folder = place.number()};
    if (::syscall(add_rule, rules, rule_path_beneath, &rule, 0) != 0) {
      return Error::from_system(errno, "Landlock");
    }
  }
  return {};
}

Result<void> allow_ports(int rules, const std::vector<std::uint16_t>& ports) {
  for (const std::uint16_t port : ports) {
    const PortRule rule{.rights = right_to_connect_tcp, .port = port};
    if (::syscall(add_rule, rules, rule_tcp_port, &rule, 0) != 0) {
      return Error::from_system(errno, "Landlock");
    }
  }
  return {};
}

}  // namespace

Result<int> restrict_access(const KeptAccess& access) {
  const long version = ::syscall(create_ruleset, nullptr, 0, ask_version);
  if (version < 1) return Error(Errc::Unsupported, "Landlock", errno);
  const Ruleset denied = all_rights(static_cast<int>(version));
  const disk::Descriptor rules(
      static_cast<int>(::syscall(create_ruleset, &denied, sizeof denied, 0)));
  if (!rules) return Error::from_system(errno, "Landlock");
  constexpr std::uint64_t right_to_write_files = right_to_write | right_to_make | right_to_remove;
  constexpr std::uint64_t right_to_change =
      right_to_write_files | right_to_make_folders | right_to_remove_folders | right_to_move;
  for (const auto& [paths, rights] :
       {std::pair(&access.listed, right_to_read | right_to_list),
        std::pair(&access.readable, right_to_read), std::pair(&access.removable, right_to_remove),
        std::pair(&access.writable, right_to_write_files),
        std::pair(&access.changeable, right_to_change & denied.files),
        std::pair(&access.logged, right_to_write | right_to_make)}) {
    if (auto added = allow_below(rules.number(), *paths, rights); !added) return added.error();
  }
  if (denied.tcp != 0) {
    if (auto added = allow_ports(rules.number(), access.connected); !added) return added.error();
  }
  if (::syscall(restrict_self, rules.number(), 0) != 0) {
    return Error::from_system(errno, "Landlock");
  }
  return static_cast<int>(version);
}

}  // namespace skua::cli

#else

namespace skua::cli {

Result<int> restrict_access(const KeptAccess&) { return Error(Errc::Unsupported, "Landlock"); }

}  // namespace skua::cli

#endif
