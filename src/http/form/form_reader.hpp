// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "http/form/content_disposition.hpp"
#include "http/form/multipart_parser.hpp"
#include "skua/error.hpp"
#include "skua/form.hpp"

namespace skua::http {

/// Parses the head of a form's part. RFC 7578 §4.2: it has exactly one Content-Disposition, which
/// is `form-data` and has a name.
///
/// Ends with: MalformedMultipart.
Result<ContentDisposition> parse_form_part(const MultipartParser& parser);

/// Builds a form from content that arrives in pieces: urlencoded, or the text fields of
/// `multipart/form-data`. Files are skipped.
class FormReader {
 public:
  explicit FormReader(const FormLimits& limits) noexcept : limits_(limits) {}

  /// Ends with: UnsupportedMediaType, MalformedMultipart.
  Result<void> start(std::string_view content_type);
  /// Takes the next piece. Errors are final.
  ///
  /// Ends with: BodyTooLong, TooManyParts, PartHeadTooLong, MalformedMultipart.
  Result<void> read(std::string_view piece);
  /// Returns the form after the last piece. Ends with: TruncatedBody, BodyTooLong.
  Result<Form> finish();

 private:
  Result<void> read_parts(std::string_view piece);
  Result<void> take(const MultipartParser::Step& step);

  FormLimits limits_;
  Form form_;
  std::unique_ptr<MultipartParser> parser_;  // null: urlencoded
  std::string name_;
  std::string text_;  // value of the open field, or the whole urlencoded form
  bool is_file_ = false;
};

}  // namespace skua::http
