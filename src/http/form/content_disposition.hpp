// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "skua/error.hpp"

namespace skua::http {

/// A decoded Content-Disposition.
struct ContentDisposition {
  std::string type{};                     ///< `form-data`, in lower case
  std::optional<std::string> name{};      ///< of the form field
  std::optional<std::string> filename{};  ///< chosen by the sender: never trust it
};

/// Parses a Content-Disposition. A quoted value may escape a quote as `%22`, as browsers do, or use
/// `\"` and `\\`; `%0D` and `%0A` stay as they are. `filename*=UTF-8''...` is preferred if it is
/// well-formed.
///
/// Ends with: MalformedMultipart, also for a repeated parameter: readers disagree on which of the
///            two counts.
/// RFC:       6266 §4, 7578 §4.2, 8187 §3.2; WHATWG HTML §4.10.21.8
Result<ContentDisposition> parse_content_disposition(std::string_view field);

/// Formats the Content-Disposition of a form's part as browsers do. Control characters are
/// percent-encoded, so neither text can end the field.
std::string form_data_disposition(std::string_view name, std::optional<std::string_view> filename);

/// Makes a name for a new file from a name that a peer sent; empty if nothing is left of it.
///
/// Keeps the last component after `/` or `\`, at most 200 bytes of it. Control characters, bidi
/// controls, `<>:"|?*` and a leading `-` or `~` become `_`. Surrounding dots and spaces are
/// removed; Windows device names get a `_` in front.
std::string safe_filename(std::string_view filename);

}  // namespace skua::http
