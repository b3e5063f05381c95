// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "client/request_spec.hpp"
#include "skua/body.hpp"
#include "skua/error.hpp"

namespace skua::client {

/// Content and what it is.
struct RequestContent {
  Body body{};
  std::string type{};
  bool is_given = false;  ///< there is content, if only an empty one
};

/// The content of a request; each time that it is to be sent, as files are read while it is.
///
/// Ends with: what the file system says of a form's files.
Result<RequestContent> make_content(const RequestSpec& spec);

/// Whether it will be given.
[[nodiscard]] bool has_content(const RequestSpec& spec) noexcept;

/// Whether files are read while it is sent: then what its producer throws is the request's problem,
/// not an exception of the caller's own code.
[[nodiscard]] bool sends_files(const RequestSpec& spec) noexcept;

/// Whether make_content() can be called again once some of the content was sent.
[[nodiscard]] bool is_repeatable(const RequestSpec& spec) noexcept;

}  // namespace skua::client
