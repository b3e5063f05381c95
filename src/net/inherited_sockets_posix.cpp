// SPDX-License-Identifier: MIT
// In: the variables that systemd sets for a service (sd_listen_fds(3)). Out: the sockets.
#include "skua/inherited_sockets.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "net/problem.hpp"
#include "net/socket.hpp"

namespace skua {
namespace {

constexpr int first_descriptor = 3;  // SD_LISTEN_FDS_START
constexpr const char* pid_variable = "LISTEN_PID";
constexpr const char* count_variable = "LISTEN_FDS";
constexpr const char* names_variable = "LISTEN_FDNAMES";
constexpr std::string_view own_prefix = "skua-own-";

/// Returns the value of a variable, or an empty text.
std::string take_variable(const char* name) {
  const char* const value = std::getenv(name);
  std::string taken(value != nullptr ? value : "");
  ::unsetenv(name);
  return taken;
}

std::optional<int> whole_number(std::string_view text) noexcept {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

Problem malformed(const char* variable, const std::string& value) {
  return {Error(Errc::InvalidAddress, "inherited sockets"),
          std::string(variable).append(" is not a valid number: \"").append(value).append("\"")};
}

/// Consumes the next of the names, which are separated by colons.
std::string take_name(std::string_view& names) {
  const std::size_t end = std::min(names.find(':'), names.size());
  std::string name(names.substr(0, end));
  names.remove_prefix(std::min(end + 1, names.size()));
  return name;
}

}  // namespace

Result<std::vector<ListeningSocket>, Problem> inherited_sockets() {
  const std::string process = take_variable(pid_variable);
  const std::string count_text = take_variable(count_variable);
  const std::string all_names = take_variable(names_variable);
  std::vector<ListeningSocket> sockets;
  if (process.empty() || count_text.empty()) return sockets;
  const std::optional<int> pid = whole_number(process);
  if (!pid) return malformed(pid_variable, process);
  if (*pid != ::getpid()) return sockets;
  const std::optional<int> count = whole_number(count_text);
  if (!count || *count > std::numeric_limits<int>::max() - first_descriptor) {
    return malformed(count_variable, count_text);
  }
  std::string_view names = all_names;
  for (int i = 0; i < *count; ++i) {
    Result<Socket> socket = Socket::adopt(first_descriptor + i);
    if (!socket) {
      const std::string number = std::to_string(first_descriptor + static_cast<std::uint64_t>(i));
      return net::could_not("inherit", "descriptor " + number, socket.error());
    }
    std::string name = take_name(names);
    const bool owns_path = name == net::own_socket_name || name.starts_with(own_prefix);
    if (owns_path) name.erase(0, own_prefix.size());
    sockets.push_back({std::make_shared<Socket>(*std::move(socket)), std::move(name), owns_path});
  }
  return sockets;
}

}  // namespace skua
