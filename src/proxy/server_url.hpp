// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "skua/url.hpp"

namespace skua::proxy {

/// The address of an upstream server, as users write it.
struct ServerUrl {
  /// Ends with: std::invalid_argument, see ReverseProxy.
  static ServerUrl parse(std::string_view text);

  /// Returns `example.com:443`, or `unix:/run/app.sock`.
  [[nodiscard]] std::string name() const;
  /// Reports whether the host is a name that has to be looked up.
  [[nodiscard]] bool has_name() const;

  std::string text{};                 ///< as written
  Url url{};                          ///< http:// or https://
  std::string unix_socket{};          ///< its path; empty: TCP
  std::optional<std::string> base{};  ///< see Upstream::base()
  bool is_http2 = false;              ///< without TLS, with prior knowledge
};

/// Throws std::invalid_argument.
[[noreturn]] void refuse(std::string_view text, const std::string& why);

}  // namespace skua::proxy
