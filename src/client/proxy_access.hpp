// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "client/proxy.hpp"
#include "http/field.hpp"
#include "skua/credentials.hpp"
#include "skua/error.hpp"

namespace skua::client {

/// A proxy as one client uses it: where it is, and how it wants to be told who asks.
///
/// Lifetime:  one loop.
/// RFC:       9110 §11.7; 7616, 7617
class ProxyAccess final {
 public:
  explicit ProxyAccess(Proxy proxy);
  ProxyAccess(const ProxyAccess&) = delete;
  ProxyAccess& operator=(const ProxyAccess&) = delete;

  [[nodiscard]] const Proxy& proxy() const noexcept { return proxy_; }

  /// The field Proxy-Authorization of the next request; empty where nobody is named. It is Basic
  /// from the start, and Digest from when the proxy has asked for it.
  ///
  /// Ends with: Unsupported where no random bytes are to be had.
  Result<std::string> authorize(std::string_view method, std::string_view target);
  /// Takes the challenges of a response 407. `sent` is the field that the request had. Whether
  /// another request may fare better.
  bool accept(const http::Head& response, std::string_view sent);
  /// Takes what any other response says about the next request. RFC 7616 §3.5
  void note(const http::Head& response);

 private:
  enum class Scheme : std::uint8_t { None, Basic, Digest };

  const Proxy proxy_;
  std::string basic_;
  DigestSession digest_;
  Scheme scheme_ = Scheme::None;
};

}  // namespace skua::client
