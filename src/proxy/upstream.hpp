// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "client/core.hpp"
#include "skua/client_options.hpp"
#include "skua/reverse_proxy.hpp"
#include "skua/url.hpp"

namespace skua::proxy {

/// An upstream server, and how to reach it. It is shared by all threads; each has connections of
/// its own.
class Upstream final {
 public:
  /// Ends with: std::invalid_argument, see ReverseProxy.
  Upstream(std::string_view text, const ReverseProxyOptions& options);
  Upstream(const Upstream&) = delete;
  Upstream& operator=(const Upstream&) = delete;
  ~Upstream() = default;

  [[nodiscard]] const ReverseProxyOptions& options() const noexcept { return options_; }
  /// The path that replaces the beginning of the request's, without a slash at its end; nullopt if
  /// the request's path is kept.
  [[nodiscard]] const std::optional<std::string>& base() const noexcept { return base_; }
  /// The name of this proxy in Via; unique, so that a request that comes back is known.
  [[nodiscard]] const std::string& pseudonym() const noexcept { return pseudonym_; }

  /// Returns the client of this thread's loop, which owns it, too.
  [[nodiscard]] std::shared_ptr<client::Core> client() const;

 private:
  Upstream(std::string_view text, const Url& url, const ReverseProxyOptions& options);

  ReverseProxyOptions options_;
  std::optional<std::string> base_;
  std::string pseudonym_;
  ClientOptions client_options_;
  client::TlsContexts tls_;  // shared by the threads, as reading the trust store is slow
  std::uint64_t id_;         // unique in the process
};

}  // namespace skua::proxy
