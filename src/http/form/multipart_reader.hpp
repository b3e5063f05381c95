// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "http/form/content_disposition.hpp"
#include "http/form/multipart_parser.hpp"
#include "skua/error.hpp"
#include "skua/multipart.hpp"

namespace skua::http {

/// The state that a Multipart shares with its parts: the parser and its pending input.
class MultipartReader {
 public:
  MultipartReader(std::string_view content_type, Multipart::Source source,
                  const MultipartLimits& limits);

  /// Makes each call end with this error, before the first.
  void refuse(Error why) noexcept { failure_ = why; }
  /// Reads the head of the next part; returns false if there are no more parts.
  Task<Result<bool>> next();
  /// Returns the next piece of the open part, or nullopt at its end.
  Task<Result<std::optional<Bytes>>> read();

  [[nodiscard]] const ContentDisposition& disposition() const noexcept { return disposition_; }
  [[nodiscard]] std::optional<std::string_view> find(std::string_view name) const noexcept {
    return parser_->find(name);
  }

 private:
  Task<Result<MultipartStatus>> advance();
  Result<void> read_head();
  Error fail(Error error) noexcept;

  Multipart::Source source_;
  std::unique_ptr<MultipartParser> parser_;  // null: construction failed
  ContentDisposition disposition_;           // of the open part
  std::string_view waiting_;                 // unparsed rest of the last piece
  std::string_view data_;                    // content of the open part, from the last step
  Result<void> failure_;
  bool is_form_ = false;
  bool in_part_ = false;
  bool is_over_ = false;
};

/// Parses a form that arrives in pieces. See Form::parse_content.
Task<Result<Form>> read_form(std::string content_type, Multipart::Source source, FormLimits limits);

}  // namespace skua::http
