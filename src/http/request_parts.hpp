// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "http/field.hpp"
#include "skua/request.hpp"

namespace skua::http {

/// What a server knows about a request; a Request is a view of it.
struct RequestParts {
  const Head* head = nullptr;
  std::string_view path{};   ///< canonical: of canonical_path(), or "*"
  std::string_view query{};  ///< after the '?', raw
  std::string_view host{};   ///< Host, or the authority of an absolute-form target
  std::string_view body{};   ///< the whole content
  /// Tells the client's address; called when somebody asks.
  std::string (*peer)(const void* context) = nullptr;
  const void* peer_context = nullptr;
  bool is_secure = false;
  std::string_view upgrade{};  ///< what the client asks to go on with: Upgrade, or `:protocol`
  detail::BodySource* source = nullptr;  ///< the content while it arrives; null: it is `body`
  bool has_later_content = false;        ///< the source is not known to be empty
};

/// The doors of Request that only skua itself uses.
struct RequestAccess {
  /// The captures outlive the use of the request's parameters.
  static void bind(Request& request, const http::Captures* captures) noexcept {
    request.captures_ = captures;
  }
  /// Null where no route was matched.
  static const http::Captures* captures(const Request& request) noexcept {
    return request.captures_;
  }
  static const RequestParts& parts(const Request& request) noexcept { return *request.parts_; }
};

}  // namespace skua::http
