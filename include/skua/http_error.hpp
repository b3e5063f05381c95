// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: checks the C++ version

#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "skua/config.hpp"
#include "skua/mistakes.hpp"
#include "skua/status.hpp"

namespace skua {

class Response;

/// An exception that a handler throws to answer with a status. The text is sent to the peer, the
/// reason only to the log (Hooks::log).
class SKUA_API HttpError : public std::runtime_error {
 public:
  explicit HttpError(Status status, const std::string& text = {}, std::string reason = {})
      : std::runtime_error(text), reason_(std::move(reason)), status_(status) {}
  template <class First, class... Rest>
    requires(!std::is_base_of_v<HttpError, std::remove_cvref_t<First>> &&
             !std::is_convertible_v<First, Status>)
  explicit HttpError(First&&, Rest&&...) : HttpError(Status::Ok) {
    static_assert(detail::never<First>,
                  "an HttpError has a status, then a text: skua::HttpError(skua::Status::NotFound, "
                  "\"no such gull\")");
  }
  [[nodiscard]] Status status() const noexcept { return status_; }
  [[nodiscard]] const std::string& reason() const noexcept SKUA_LIFETIMEBOUND { return reason_; }
  /// Called with the response that the exception becomes: a derived class may add fields to it.
  virtual void amend(Response& /*response*/) const {}

 private:
  std::string reason_;
  Status status_;
};

}  // namespace skua
