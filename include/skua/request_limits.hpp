// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: checks the C++ version

#include <cstddef>
#include <cstdint>
#include <optional>

#include "skua/bytes.hpp"
#include "skua/config.hpp"
#include "skua/request.hpp"
#include "skua/response.hpp"

namespace skua {

/// Limits of some routes, in place of those of the server; nullopt leaves the server's.
struct RequestLimits {
  /// The content of a request, kept or read piece by piece: 413. It may be more than
  /// Limits::body_bytes, but not more than Limits::streamed_body_bytes.
  std::optional<std::size_t> body_bytes{};
  /// The slowest content, instead of Limits::body_bytes_per_second: 408.
  std::optional<std::size_t> body_bytes_per_second{};
  /// Between two pieces of content, instead of Timeouts::body: 408.
  std::optional<Duration> body_timeout{};
  /// The response of a handler that waits, instead of Timeouts::handler: 503, handler dropped, and
  /// with it what it waits for. See Request::time_left().
  std::optional<Duration> handler_timeout{};
};

/// Sets limits for the requests of a router.
class SKUA_API RequestLimiter final {
 public:
  explicit RequestLimiter(const RequestLimits& limits) noexcept : limits_(limits) {}
  std::optional<Response> operator()(Request& request) const;

 private:
  RequestLimits limits_;
};

/// Sets limits for the requests of a router, and of those mounted on it, which may set their own.
///
/// ```cpp
/// skua::Router photos;
/// photos.use(skua::request_limits({.body_bytes = 50'000'000, .handler_timeout = 5s}));
/// photos.post("/", store);
/// router.mount("/photos", std::move(photos));
/// ```
[[nodiscard]] inline RequestLimiter request_limits(const RequestLimits& limits) noexcept {
  return RequestLimiter(limits);
}

}  // namespace skua
