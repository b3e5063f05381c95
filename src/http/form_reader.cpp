// SPDX-License-Identifier: MIT
// In: content in pieces. Out: a form. Memory is bounded by the form's limits: urlencoded text is at
// most three times as long as its decoded form, and of multipart content only the open field is
// kept, if it fits.
#include "http/form_reader.hpp"

#include <optional>
#include <utility>

#include "base/ascii.hpp"
#include "http/boundary.hpp"
#include "http/media_type.hpp"

namespace skua::http {
namespace {

constexpr Error too_long(Errc::BodyTooLong, "form");

}  // namespace

Result<ContentDisposition> parse_form_part(const MultipartParser& parser) {
  constexpr Error malformed(Errc::MalformedMultipart, "Content-Disposition");
  std::optional<std::string_view> found;
  for (std::size_t i = 0; i < parser.field_count(); ++i) {
    const PartField field = parser.field(i);
    if (!ascii::equals_ignoring_case(field.name, "content-disposition")) continue;
    if (found) return malformed;
    found = field.value;
  }
  if (!found) return malformed;
  auto disposition = parse_content_disposition(*found);
  if (disposition && (disposition->type != "form-data" || !disposition->name)) return malformed;
  return disposition;
}

Result<void> FormReader::start(std::string_view content_type) {
  const auto media = parse_media_type(content_type);
  if (media && media->is("application", "x-www-form-urlencoded")) return {};
  if (!media || !media->is("multipart", "form-data")) {
    return Error(Errc::UnsupportedMediaType, "form");
  }
  const auto boundary = parse_boundary(content_type);
  if (!boundary) return boundary.error();
  parser_ = std::make_unique<MultipartParser>(*boundary, MultipartLimits{.parts = limits_.fields});
  return {};
}

Result<void> FormReader::read(std::string_view piece) {
  if (parser_) return read_parts(piece);
  text_ += piece;
  // A decoded byte takes up to three encoded ones; each field adds `=` and `&`.
  const std::size_t least = text_.size() / 3;
  if (least > limits_.total_bytes && least - limits_.total_bytes > limits_.fields) return too_long;
  return {};
}

Result<void> FormReader::read_parts(std::string_view piece) {
  for (;;) {
    const MultipartParser::Step step = parser_->step(piece);
    piece.remove_prefix(step.consumed_bytes);
    if (step.status == MultipartStatus::Failed) return Error(parser_->error(), "form");
    if (auto taken = take(step); !taken) return taken;
    if (step.status == MultipartStatus::Done) return {};
    if (step.status == MultipartStatus::More && piece.empty()) return {};
  }
}

Result<void> FormReader::take(const MultipartParser::Step& step) {
  if (step.status == MultipartStatus::Part) {
    auto part = parse_form_part(*parser_);
    if (!part) return part.error();
    is_file_ = part->filename.has_value();
    name_ = std::move(part->name).value_or(std::string());
    text_.clear();
  }
  if (is_file_) return {};
  const std::size_t kept = form_.total_bytes() + name_.size() + text_.size();
  if (kept > limits_.total_bytes || step.data.size() > limits_.total_bytes - kept) return too_long;
  text_ += step.data;
  if (step.status == MultipartStatus::PartEnd) {
    form_.add(name_, text_);
    name_.clear();
    text_.clear();
  }
  return {};
}

Result<Form> FormReader::finish() {
  if (!parser_) return Form::parse(text_, limits_);
  if (auto end = parser_->end_of_input(); !end) return end.error();
  return std::move(form_);
}

}  // namespace skua::http

namespace skua {

Result<Form> Form::parse_content(std::string_view content_type, std::string_view content,
                                 const FormLimits& limits) {
  http::FormReader reader(limits);
  if (auto started = reader.start(content_type); !started) return started.error();
  if (auto read = reader.read(content); !read) return read.error();
  return reader.finish();
}

}  // namespace skua
