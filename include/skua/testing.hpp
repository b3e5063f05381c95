// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "skua/request.hpp"
#include "skua/response.hpp"
#include "skua/router.hpp"

namespace skua::testing {

/// A request made by hand, to try a handler or a router without a socket.
///
/// ```cpp
/// skua::testing::FakeRequest fake("GET /users/7?full=yes");
/// fake.header("Accept", "text/plain");
/// skua::Response response = router.handle(fake.request());
/// ```
class FakeRequest final {
 public:
  /// A method and a target.
  ///
  /// Ends with: std::invalid_argument for what a server would refuse.
  explicit FakeRequest(std::string_view line, std::string_view body = {});

  /// Adds a field line, before request() is called.
  FakeRequest& header(std::string_view name, std::string_view value);
  /// The request: it lives as long as this object.
  [[nodiscard]] Request& request() SKUA_LIFETIMEBOUND;

 private:
  struct State;
  struct Delete {
    void operator()(State* state) const noexcept;
  };
  std::unique_ptr<State, Delete> state_;
};

/// What a router answers to `GET /users/7`.
[[nodiscard]] Response call(const Router& router, std::string_view line,
                            std::string_view body = {});

}  // namespace skua::testing
