// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "http/content_disposition.hpp"
#include "http/multipart_parser.hpp"
#include "skua/error.hpp"
#include "skua/multipart.hpp"

namespace skua::http {

/// What a Multipart and its parts share: the parser, and the piece that it is about to read.
class MultipartReader {
 public:
  MultipartReader(std::string_view content_type, Multipart::Source source,
                  const MultipartLimits& limits);

  /// The head of the next part, then true; false when there is none.
  Task<Result<bool>> next();
  /// The next piece of the open part; nothing at its end.
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
  std::unique_ptr<MultipartParser> parser_;  // null: a failure from the start
  ContentDisposition disposition_;           // of the open part
  std::string_view waiting_;                 // of the last piece, not yet parsed
  std::string_view data_;                    // of the open part, parsed last
  Result<void> failure_;
  bool is_form_ = false;
  bool in_part_ = false;
  bool is_over_ = false;
};

/// The form that content in pieces is, see Form::parse_content.
Task<Result<Form>> read_form(std::string content_type, Multipart::Source source, FormLimits limits);

}  // namespace skua::http
