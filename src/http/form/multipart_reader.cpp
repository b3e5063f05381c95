// SPDX-License-Identifier: MIT
// The public interface of multipart content: parts and their texts. files/save saves them.
#include "http/form/multipart_reader.hpp"

#include <utility>

#include "http/form/content_disposition.hpp"
#include "http/form/form_reader.hpp"
#include "http/form/multipart_parser.hpp"
#include "http/message/media_type.hpp"
#include "skua/multipart.hpp"

namespace skua {
namespace {

Task<Result<std::string>> read_text(http::MultipartReader& reader, std::size_t limit_bytes) {
  std::string text;
  for (;;) {
    const auto read = co_await reader.read();
    if (!read) co_return read.error();
    const std::optional<Bytes>& piece = *read;
    if (!piece) co_return text;
    if (piece->size() > limit_bytes - text.size()) co_return Error(Errc::BodyTooLong, "part");
    text += skua::text(*piece);
  }
}

}  // namespace

std::string_view Part::name() const noexcept {
  const auto& name = reader_->disposition().name;
  return name ? std::string_view(*name) : std::string_view();
}

std::optional<std::string_view> Part::filename() const noexcept {
  return reader_->disposition().filename;
}

std::string Part::safe_filename() const { return http::safe_filename(filename().value_or("")); }

std::string_view Part::content_type() const noexcept {
  return header("content-type").value_or(std::string_view());
}

std::optional<std::string_view> Part::header(std::string_view name) const noexcept {
  return reader_->find(name);
}

Task<Result<std::optional<Bytes>>> Part::read() { return reader_->read(); }

Task<Result<std::string>> Part::text(std::size_t limit_bytes) {
  return read_text(*reader_, limit_bytes);
}

Multipart::Multipart(std::string_view content_type, Source source, const MultipartLimits& limits)
    : reader_(std::make_unique<http::MultipartReader>(content_type, std::move(source), limits)) {}
Multipart::Multipart(Multipart&&) noexcept = default;
Multipart& Multipart::operator=(Multipart&&) noexcept = default;
Multipart::~Multipart() = default;

void Multipart::refuse(Error why) noexcept { reader_->refuse(why); }

namespace {

Task<Result<std::optional<Part>>> next_part(http::MultipartReader& reader, Part part) {
  const auto is_there = co_await reader.next();
  if (!is_there) co_return is_there.error();
  co_return *is_there ? std::optional<Part>(part) : std::nullopt;
}

}  // namespace

Task<Result<std::optional<Part>>> Multipart::next() { return next_part(*reader_, Part(*reader_)); }

}  // namespace skua

// In: pieces of a body. Out: steps of the parser. A piece is requested only when the one before it
// is used up, so a slow reader slows down the sender, and only part heads are buffered.

namespace skua::http {

MultipartReader::MultipartReader(std::string_view content_type, Multipart::Source source,
                                 const MultipartLimits& limits)
    : source_(std::move(source)) {
  const auto media = parse_media_type(content_type);
  const auto boundary = parse_boundary(content_type);
  if (!boundary) {
    failure_ = boundary.error();
    return;
  }
  is_form_ = media && media->is("multipart", "form-data");
  parser_ = std::make_unique<MultipartParser>(*boundary, limits);
}

Error MultipartReader::fail(Error error) noexcept {
  failure_ = error;
  in_part_ = false;
  return error;
}

// Advances the parser by one step, with as many pieces as it takes; More comes with content.
Task<Result<MultipartStatus>> MultipartReader::advance() {
  if (!failure_) co_return failure_.error();
  for (;;) {
    const MultipartParser::Step step = parser_->step(waiting_);
    waiting_.remove_prefix(step.consumed_bytes);
    data_ = step.data;
    if (step.status == MultipartStatus::Failed) {
      co_return fail(Error(parser_->error(), "multipart"));
    }
    if (step.status == MultipartStatus::PartEnd) in_part_ = false;
    if (step.status == MultipartStatus::Done) is_over_ = true;
    if (step.status != MultipartStatus::More || !data_.empty()) co_return step.status;
    if (!waiting_.empty()) continue;
    const std::optional<Bytes> piece = co_await source_();
    if (piece) {
      waiting_ = skua::text(*piece);
    } else {
      co_return fail(parser_->end_of_input().error());  // Done was not reached
    }
  }
}

Task<Result<bool>> MultipartReader::next() {
  while (!is_over_) {
    const auto status = co_await advance();
    if (!status) co_return status.error();
    if (*status != MultipartStatus::Part) continue;
    if (const auto head = read_head(); !head) co_return fail(head.error());
    in_part_ = true;
    co_return true;
  }
  co_return false;
}

// Only the parts of a form must have names.
Result<void> MultipartReader::read_head() {
  disposition_ = {};
  if (is_form_) {
    auto disposition = parse_form_part(*parser_);
    if (!disposition) return disposition.error();
    disposition_ = *std::move(disposition);
  } else if (const auto field = parser_->find("content-disposition")) {
    auto disposition = parse_content_disposition(*field);
    if (disposition) disposition_ = *std::move(disposition);
  }
  return {};
}

Task<Result<std::optional<Bytes>>> MultipartReader::read() {
  if (in_part_) {
    const auto status = co_await advance();
    if (!status) co_return status.error();
    if (*status == MultipartStatus::More) co_return std::optional<Bytes>(bytes(data_));
  } else if (!failure_) {
    co_return failure_.error();
  }
  co_return std::optional<Bytes>();
}

Task<Result<Form>> read_form(std::string content_type, Multipart::Source source,
                             FormLimits limits) {
  FormReader reader(limits);
  if (const auto started = reader.start(content_type); !started) co_return started.error();
  for (;;) {
    const std::optional<Bytes> piece = co_await source();
    if (!piece) co_return reader.finish();
    if (const auto read = reader.read(skua::text(*piece)); !read) co_return read.error();
  }
}

}  // namespace skua::http
