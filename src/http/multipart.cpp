// SPDX-License-Identifier: MIT
// The public interface of multipart content: parts and their texts. files/save saves them.
#include "skua/multipart.hpp"

#include <utility>

#include "http/content_disposition.hpp"
#include "http/multipart_reader.hpp"

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

namespace {

Task<Result<std::optional<Part>>> next_part(http::MultipartReader& reader, Part part) {
  const auto is_there = co_await reader.next();
  if (!is_there) co_return is_there.error();
  co_return *is_there ? std::optional<Part>(part) : std::nullopt;
}

}  // namespace

Task<Result<std::optional<Part>>> Multipart::next() { return next_part(*reader_, Part(*reader_)); }

}  // namespace skua
