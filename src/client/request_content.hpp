// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "client/request_spec.hpp"
#include "skua/body.hpp"
#include "skua/error.hpp"

namespace skua::client {

/// A request's content and its media type.
struct RequestContent {
  Body body{};
  std::string type{};
  bool is_given = false;  ///< there is content, even if it is empty
};

/// Makes a request's content. Call it for each attempt, since files are read as they are sent.
///
/// Ends with: the file system's errors for a form's files.
Result<RequestContent> make_content(const RequestSpec& spec);

/// Reports whether there will be content, even if it is empty.
[[nodiscard]] bool has_content(const RequestSpec& spec) noexcept;

/// Reports whether the content's producer is our own, since it reads files: then its exceptions are
/// problems of the request, and do not come from the caller's code.
[[nodiscard]] bool sends_files(const RequestSpec& spec) noexcept;

/// Reports whether make_content() can be called again after some of the content was sent.
[[nodiscard]] bool is_repeatable(const RequestSpec& spec) noexcept;

}  // namespace skua::client
