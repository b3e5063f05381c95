// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "skua/error.hpp"

namespace skua::http {

/// What a Content-Disposition says, decoded.
struct ContentDisposition {
  std::string type{};                     ///< `form-data`, in lower case
  std::optional<std::string> name{};      ///< of the form's field
  std::optional<std::string> filename{};  ///< as the sender calls it: never to be trusted
};

/// Reads a Content-Disposition. In quoted texts `%22`, `%0D` and `%0A` are what browsers write for
/// a quote, CR and LF, and `\"` and `\\` what others write. `filename*=UTF-8''...` is preferred
/// where it is well-formed.
///
/// Ends with: MalformedMultipart; a parameter that is there twice counts, as readers do not agree
///            which of the two is meant.
/// RFC:       6266 §4, 7578 §4.2, 8187 §3.2; WHATWG HTML §4.10.21.8
Result<ContentDisposition> parse_content_disposition(std::string_view field);

/// The value of the Content-Disposition of a form's part, as browsers write it. Control characters
/// are percent-encoded, so neither text can end the field.
std::string form_data_disposition(std::string_view name, std::optional<std::string_view> filename);

/// A name for a new file, made of one that somebody sent; empty when nothing is left of it.
///
/// The last component, separated by `/` or `\`; control characters and `<>:"|?*` become `_`;
/// neither dots nor spaces around it; no device of Windows; at most 200 bytes.
std::string safe_filename(std::string_view filename);

}  // namespace skua::http
