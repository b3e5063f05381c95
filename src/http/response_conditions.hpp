// SPDX-License-Identifier: MIT
#pragma once

#include "http/field.hpp"
#include "skua/request.hpp"
#include "skua/response.hpp"

namespace skua::http {

/// Whether a request has a field that apply_conditions() looks at.
inline bool has_conditions(const Head& head) noexcept {
  return head.has(FieldName::IfNoneMatch) || head.has(FieldName::IfModifiedSince) ||
         head.has(FieldName::IfMatch) || head.has(FieldName::IfUnmodifiedSince);
}

/// Turns a 200 that has an ETag or a Last-Modified into 304 or 412, where the conditions of a GET
/// or HEAD ask for that. Other methods have acted already: their conditions are the handler's.
///
/// RFC:       9110 §13.2, §15.4.5, §15.5.13
void apply_conditions(const Request& request, Response& response);

}  // namespace skua::http
