// SPDX-License-Identifier: MIT
// Reads the content of a request, piece by piece or whole. A request without a source (all of it
// was there, or a test made it) has one piece.
#include <string>
#include <utility>

#include "http/field.hpp"
#include "http/request_parts.hpp"
#include "skua/http_error.hpp"
#include "skua/request.hpp"

namespace skua {
namespace {

std::size_t limit_of(const detail::BodySource* source, std::size_t wanted) noexcept {
  if (wanted != 0) return wanted;
  return source != nullptr ? source->most_kept_bytes() : std::string().max_size();
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
Task<T> collect(Request& request, detail::BodySource* source, std::size_t limit_bytes) {
  if (is_longer(source, limit_bytes)) throw HttpError(Status::ContentTooLarge);
  T whole;
  while (true) {
    const std::optional<Bytes> piece = co_await request.read();
    if (!piece) break;
    if (piece->size() > limit_bytes - whole.size()) throw HttpError(Status::ContentTooLarge);
    if (!is_kept(source, piece->size())) throw HttpError(Status::ServiceUnavailable);
    append(whole, *piece);
  }
  co_return whole;
}

}  // namespace

bool detail::ReadAwaiter::await_ready() const noexcept {
  const BodySource* const source = request_->parts_->source;
  return source == nullptr || source->has_piece();
}

void detail::ReadAwaiter::await_suspend(std::coroutine_handle<> reader) {
  request_->parts_->source->wait(waiter_, reader);
}

std::optional<Bytes> detail::ReadAwaiter::await_resume() {
  if (BodySource* const source = request_->parts_->source) return source->take();
  if (std::exchange(request_->is_read_, true) || request_->body().empty()) return std::nullopt;
  return request_->bytes();
}

Task<std::string> Request::text(std::size_t limit_bytes) {
  return collect<std::string>(*this, parts_->source, limit_of(parts_->source, limit_bytes));
}

Task<std::vector<std::byte>> Request::bytes(std::size_t limit_bytes) {
  return collect<std::vector<std::byte>>(*this, parts_->source,
                                         limit_of(parts_->source, limit_bytes));
}

Task<std::string_view> Request::load(std::size_t limit_bytes) {
  if (parts_->source != nullptr && loaded_ == nullptr) {
    std::string whole = co_await text(limit_bytes);
    loaded_ = std::make_unique<const std::string>(std::move(whole));
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

}  // namespace skua
