// SPDX-License-Identifier: MIT
#include "support/transport.hpp"

#include <cstdlib>
#include <stdexcept>
#include <string_view>

namespace skua::testing {
namespace {

Transport by_name(std::string_view name) {
  if (name.empty() || name == "tcp") return Transport::Tcp;
  if (name == "tls") return Transport::Tls;
  if (name == "h2") return Transport::H2;
  if (name == "h2-tls") return Transport::H2Tls;
  throw std::invalid_argument("SKUA_TEST_TRANSPORT: " + std::string(name));
}

}  // namespace

Transport transport() {
  static const Transport chosen = [] {
    const char* const name = std::getenv("SKUA_TEST_TRANSPORT");
    return by_name(name != nullptr ? name : "");
  }();
  return chosen;
}

}  // namespace skua::testing
