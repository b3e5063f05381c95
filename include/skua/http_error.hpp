// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: checks the C++ version

#include <stdexcept>
#include <string>
#include <type_traits>

#include "skua/config.hpp"
#include "skua/mistakes.hpp"
#include "skua/status.hpp"

namespace skua {

/// An exception that a handler throws to answer with a status; the text is sent to the peer.
class SKUA_API HttpError : public std::runtime_error {
 public:
  explicit HttpError(Status status, const std::string& text = {})
      : std::runtime_error(text), status_(status) {}
  template <class First, class... Rest>
    requires(!std::is_base_of_v<HttpError, std::remove_cvref_t<First>> &&
             !std::is_convertible_v<First, Status>)
  explicit HttpError(First&&, Rest&&...) : HttpError(Status::Ok) {
    static_assert(detail::never<First>,
                  "an HttpError has a status, then a text: skua::HttpError(skua::Status::NotFound, "
                  "\"no such gull\")");
  }
  [[nodiscard]] Status status() const noexcept { return status_; }

 private:
  Status status_;
};

}  // namespace skua
