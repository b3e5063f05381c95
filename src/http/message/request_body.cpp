// SPDX-License-Identifier: MIT
// Reads the content of a request, piece by piece or whole. A request without a source (all of it
// was there, or a test made it) has one piece.
#include "http/message/request_body.hpp"

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "base/ascii.hpp"
#include "http/form/multipart_reader.hpp"
#include "http/message/field.hpp"
#include "http/message/request_parts.hpp"
#include "skua/http_error.hpp"
#include "skua/request.hpp"

namespace skua {
namespace {

std::size_t limit_of(const detail::BodySource* source, std::size_t wanted) noexcept {
  if (wanted != 0) return wanted;
  return source != nullptr ? source->max_kept_bytes() : std::string().max_size();
}

bool is_longer(const detail::BodySource* source, std::size_t limit_bytes) noexcept {
  return source != nullptr && source->left_bytes().value_or(0) > limit_bytes;
}
bool is_kept(detail::BodySource* source, std::size_t bytes) noexcept {
  return source == nullptr || source->keep(bytes);
}

void append(std::string& text, Bytes piece) { text.append(skua::text(piece)); }
void append(std::vector<std::byte>& bytes, Bytes piece) {
  bytes.insert(bytes.end(), piece.begin(), piece.end());
}

// Refuses content that is known to be too long before asking the client for it. RFC 9110 §10.1.1
template <class T>
Task<T> collect(Request& request, detail::BodySource* source, std::size_t limit_bytes,
                bool& is_taken) {
  if (is_taken) {
    throw std::logic_error(
        "the content was read before: keep what text() or bytes() returned, or call load() first");
  }
  if (is_longer(source, limit_bytes)) throw HttpError(Status::ContentTooLarge);
  T whole;
  while (true) {
    const std::optional<Bytes> piece = co_await request.read();
    if (!piece) break;
    if (piece->size() > limit_bytes - whole.size()) throw HttpError(Status::ContentTooLarge);
    if (!is_kept(source, piece->size())) throw HttpError(Status::ServiceUnavailable);
    append(whole, *piece);
  }
  is_taken = !whole.empty();
  co_return whole;
}

}  // namespace

bool detail::ReadAwaiter::await_ready() const noexcept {
  const BodySource* const source = request_->parts_->source;
  return source == nullptr || request_->loaded_ != nullptr || source->has_piece();
}

void detail::ReadAwaiter::await_suspend(std::coroutine_handle<> reader) {
  request_->parts_->source->wait(waiter_, reader);
}

std::optional<Bytes> detail::ReadAwaiter::await_resume() {
  BodySource* const source = request_->parts_->source;
  if (source != nullptr && request_->loaded_ == nullptr) return source->take();
  if (std::exchange(request_->is_read_, true) || request_->body().empty()) return std::nullopt;
  return request_->bytes();
}

Task<std::string> Request::text(std::size_t limit_bytes) {
  return collect<std::string>(*this, parts_->source, limit_of(parts_->source, limit_bytes),
                              is_taken_);
}

Task<std::vector<std::byte>> Request::bytes(std::size_t limit_bytes) {
  return collect<std::vector<std::byte>>(*this, parts_->source,
                                         limit_of(parts_->source, limit_bytes), is_taken_);
}

Task<std::string_view> Request::load(std::size_t limit_bytes) {
  if (parts_->source != nullptr && loaded_ == nullptr) {
    std::string whole = co_await text(limit_bytes);
    loaded_ = std::make_unique<const std::string>(std::move(whole));
    is_taken_ = false;
  }
  co_return body();
}

std::optional<std::string_view> Request::trailer(std::string_view name) const noexcept {
  if (parts_->source == nullptr) return std::nullopt;
  const http::Head& trailers = parts_->source->trailers();
  const http::FieldLine* const line = trailers.find(name);
  if (line == nullptr) return std::nullopt;
  return trailers.value(*line);
}

// Reads the content of a request as a form or as parts, from the pieces that the request supplies.
// Encoded content is refused: its bytes are not a form.

bool http::has_coding(const Request& request) noexcept {
  for (const auto [name, value] : request.headers()) {
    if (!ascii::equals_ignoring_case(name, "Content-Encoding")) continue;
    for (std::string_view rest = value; !rest.empty();) {
      const std::string_view coding = ascii::take_list_element(rest);
      if (!coding.empty() && !ascii::equals_ignoring_case(coding, "identity")) return true;
    }
  }
  return false;
}

namespace {

constexpr Error coding_refusal(Errc::UnsupportedCoding, "Content-Encoding");

Task<Result<Form>> refuse_form() { co_return coding_refusal; }

Task<std::optional<Bytes>> read_piece(Request& request) {
  const std::optional<Bytes> piece = co_await request.read();
  co_return piece;
}

}  // namespace

Task<Result<Form>> Request::form(FormLimits limits) {
  if (http::has_coding(*this)) return refuse_form();
  return http::read_form(std::string(content_type()), [this] { return read_piece(*this); }, limits);
}

Multipart Request::multipart(const MultipartLimits& limits) {
  Multipart parts(content_type(), [this] { return read_piece(*this); }, limits);
  if (http::has_coding(*this)) parts.refuse(coding_refusal);
  return parts;
}

}  // namespace skua
