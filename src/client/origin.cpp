// SPDX-License-Identifier: MIT
#include "client/origin.hpp"

namespace skua::client {

std::string Origin::to_string() const {
  if (!unix_path.empty()) return "unix:" + unix_path;
  const bool lacks_brackets = host.find(':') != std::string::npos && !host.starts_with('[');
  const std::string name = lacks_brackets ? "[" + host + "]" : host;
  return name + ":" + std::to_string(port);
}

}  // namespace skua::client
