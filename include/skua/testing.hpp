// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "skua/config.hpp"
#include "skua/request.hpp"
#include "skua/response.hpp"
#include "skua/router.hpp"

/// Tests of handlers and routers without a socket.
namespace skua::testing {

/// A hand-made request, to test a handler or a router without a socket.
///
/// ```cpp
/// skua::testing::FakeRequest fake("GET /users/7?full=yes");
/// fake.header("Accept", "text/plain");
/// skua::Response response = router.handle(fake.request());
/// ```
class SKUA_API FakeRequest final {
 public:
  /// Makes a request from a method and a target.
  ///
  /// Ends with: std::invalid_argument if the method is unknown or the target is missing.
  explicit FakeRequest(std::string_view line, std::string_view body = {});

  /// Adds a field line. To be called before request().
  FakeRequest& header(std::string_view name, std::string_view value);
  /// Returns the request, which lives as long as this object; throws if the target is malformed.
  [[nodiscard]] Request& request() SKUA_LIFETIMEBOUND;

 private:
  struct State;
  struct Delete {
    void operator()(State* state) const noexcept;
  };
  std::unique_ptr<State, Delete> state_;
};

/// Returns what a server with this router answers to a request such as `GET /users/7`.
[[nodiscard]] SKUA_API Response call(const Router& router, std::string_view line,
                                     std::string_view body = {});

}  // namespace skua::testing
