// SPDX-License-Identifier: MIT
// In: content in pieces. Out: a form. Memory is bounded by the form's limits: urlencoded text is at
// most three times as long as its decoded form, and of multipart content only the open field is
// kept, if it fits.
#include "http/form/form_reader.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/ascii.hpp"
#include "base/percent.hpp"
#include "http/form/multipart_parser.hpp"
#include "http/message/media_type.hpp"
#include "http/uri/query.hpp"
#include "skua/form.hpp"

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

// In: urlencoded text, or fields one at a time. Out: the fields, and the text again. All names and
// values lie back to back in one string, so a form of a thousand fields takes two allocations, and
// a limit on that string limits the form.

namespace {

void append_encoded(std::string& out, std::string_view text) {
  const std::size_t begin = out.size();
  percent::append(out, text, [](char c) { return c == ' ' || percent::is(c, percent::Form); });
  std::replace(out.begin() + static_cast<std::ptrdiff_t>(begin), out.end(), ' ', '+');
}

}  // namespace

Result<Form> Form::parse(std::string_view text, const FormLimits& limits) {
  Form form;
  form.text_.reserve(std::min(text.size(), limits.total_bytes));
  while (const auto pair = http::take_pair(text)) {
    if (form.size() == limits.fields) return Error(Errc::BodyTooLong, "form");
    form.add_encoded(pair->name, pair->value);
    if (form.total_bytes() > limits.total_bytes) return Error(Errc::BodyTooLong, "form");
  }
  return form;
}

void Form::add_encoded(std::string_view name, std::string_view value) {
  const std::size_t begin = text_.size();
  text_.resize(begin + name.size() + value.size());
  const std::size_t name_bytes = http::decode_form(name, text_.data() + begin);
  const std::size_t value_bytes = http::decode_form(value, text_.data() + begin + name_bytes);
  text_.resize(begin + name_bytes + value_bytes);
  spans_.push_back({begin, name_bytes, value_bytes});
}

Form& Form::add(std::string_view name, std::string_view value) & {
  const std::size_t begin = text_.size();
  const std::size_t wanted = begin + name.size() + value.size();
  std::string former;  // keeps the old text until the copy: both may be views of it
  if (wanted > text_.capacity()) {
    former.reserve(std::max(wanted, 2 * begin));
    former.append(text_);
    former.swap(text_);
  }
  text_.append(name).append(value);
  spans_.push_back({begin, name.size(), value.size()});
  return *this;
}

FormField Form::field(std::size_t index) const noexcept {
  const Span& span = spans_[index];
  const char* const name = text_.data() + span.begin;
  return {{name, span.name_bytes}, {name + span.name_bytes, span.value_bytes}};
}

// Returns the index of the first field with this name at or after `index`, or size().
std::size_t Form::find_from(std::size_t index, std::string_view name) const noexcept {
  while (index < size() && field(index).name != name) ++index;
  return index;
}

std::optional<std::string_view> Form::get(std::string_view name) const noexcept {
  const std::size_t index = find_from(0, name);
  if (index == size()) return std::nullopt;
  return field(index).value;
}

FormValues Form::all(std::string_view name) const noexcept { return {*this, name}; }

std::string Form::to_string() const {
  std::string out;
  out.reserve(text_.size() + 2 * size());
  for (const auto [name, value] : *this) {
    if (!out.empty()) out += '&';
    append_encoded(out, name);
    out += '=';
    append_encoded(out, value);
  }
  return out;
}

}  // namespace skua
