// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "http/message/field.hpp"
#include "http/message/request_parts.hpp"
#include "skua/request.hpp"
#include "skua/response.hpp"

namespace skua::http {

/// Access to the internals of Response, for skua itself.
struct ResponseAccess {
  /// The field lines, for fields that handlers do not set.
  static FieldLines& lines(Response& response) noexcept { return response.lines_; }
  /// The response of an origin server, which has evaluated the request's preconditions itself.
  static void mark_evaluated(Response& response) noexcept { response.is_evaluated_ = true; }
  static bool is_evaluated(const Response& response) noexcept { return response.is_evaluated_; }
  /// The index of static_type() in known_types(); 0, the empty one, for any other type.
  static std::size_t known_type(const Response& response) noexcept {
    return static_cast<std::size_t>(response.type_);
  }
  static constexpr std::span<const std::string_view> known_types() noexcept {
    return Response::known_types;
  }
};

/// Reports whether a request has a field that apply_conditions() evaluates.
inline bool has_conditions(const Head& head) noexcept {
  using enum FieldName;
  return head.has_any(set_of(IfNoneMatch, IfModifiedSince, IfMatch, IfUnmodifiedSince, Range));
}

/// The part of apply_conditions() for a request that has such a field.
void evaluate_conditions(const Request& request, Response& response);

/// Turns a 200 with an ETag or Last-Modified into 304 or 412 if the conditions of a GET or HEAD
/// call for it, or into 206 or 416 if its Range does; see apply_range(). Other methods have already
/// acted: their conditions are up to the handler.
///
/// RFC:       9110 §13.2, §14.2, §15.4.5, §15.5.13
inline void apply_conditions(const Request& request, Response& response) {
  if (has_conditions(*RequestAccess::parts(request).head)) [[unlikely]]
    evaluate_conditions(request, response);
}

}  // namespace skua::http
