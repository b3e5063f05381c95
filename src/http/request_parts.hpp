// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
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
  /// How much of the content is to come; null where that is not known.
  std::optional<std::uint64_t> length_bytes{};
  bool has_later_content = false;  ///< content may follow that is neither in `body` nor loaded
  /// Set by a guard that has to see the content: it is asked again then. Null where nobody keeps
  /// the content whole.
  bool* wants_content = nullptr;
};

/// The doors of Request that only skua itself uses.
struct RequestAccess {
  /// The captures outlive the use of the request's parameters.
  static void bind(Request& request, const http::Captures* captures) noexcept {
    request.captures_ = captures;
  }
  /// Makes attachments() those of somebody else, who outlives their use; null: its own again.
  static void lend(Request& request, Attachments* attachments) noexcept {
    request.lent_ = attachments;
  }
  /// Null where no route was matched.
  static const http::Captures* captures(const Request& request) noexcept {
    return request.captures_;
  }
  static const RequestParts& parts(const Request& request) noexcept { return *request.parts_; }
  /// For guards that have to see the content: whether they will be asked again when it is there.
  static bool ask_for_content(const Request& request) noexcept {
    bool* const wanted = request.parts_->wants_content;
    return wanted != nullptr && (*wanted = true);
  }
  static bool waits_for_content(const Request& request) noexcept {
    const bool* const wanted = request.parts_->wants_content;
    return wanted != nullptr && *wanted;
  }
};

}  // namespace skua::http
