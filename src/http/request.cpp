// SPDX-License-Identifier: MIT
// In: the server's data about a request. Out: what a handler asks for, as views of it. Lookups
// scan; only an encoded query value is copied, to its own place in a buffer as large as the query,
// so asking again neither allocates nor moves it.
#include "skua/request.hpp"

#include "http/captures.hpp"
#include "http/cookie.hpp"
#include "http/query.hpp"
#include "http/request_parts.hpp"

namespace skua {

HeaderLine HeaderLines::Iterator::operator*() const noexcept {
  const http::FieldLine& line = head_->fields[index_];
  return {head_->name(line), head_->value(line)};
}

std::size_t HeaderLines::size() const noexcept { return head_->fields.size(); }

QueryValues::Iterator::Iterator(const Request& request, std::string_view name)
    : request_(&request), name_(name), rest_(request.query_string()) {
  next();
}

void QueryValues::Iterator::next() {
  while (const auto pair = http::take_pair(rest_)) {
    if (!http::decodes_to(pair->name, name_)) continue;
    value_ = request_->decode(pair->value);
    return;
  }
  is_end_ = true;
}

Method Request::method() const noexcept { return parts_->head->method; }

std::string_view Request::path() const noexcept { return parts_->path; }

std::string_view Request::target() const noexcept { return parts_->head->target(); }

std::string_view Request::query_string() const noexcept { return parts_->query; }

std::optional<std::string_view> Request::query(std::string_view name) const {
  const QueryValues::Iterator first = queries(name).begin();
  if (first == QueryValues::end()) return std::nullopt;
  return *first;
}

std::string_view Request::decode(std::string_view encoded) const {
  if (!http::is_encoded(encoded)) return encoded;
  const std::string_view query = parts_->query;
  if (!decoded_) decoded_ = std::make_unique_for_overwrite<char[]>(query.size());
  char* const out = decoded_.get() + (encoded.data() - query.data());
  return {out, http::decode_form(encoded, out)};
}

std::optional<std::string_view> Request::header(std::string_view name) const noexcept {
  const http::FieldLine* const line = parts_->head->find(name);
  if (line == nullptr) return std::nullopt;
  return parts_->head->value(*line);
}

HeaderLines Request::headers() const noexcept { return HeaderLines(*parts_->head); }

std::string_view Request::content_type() const noexcept {
  const http::FieldLine* const line = parts_->head->find(http::FieldName::ContentType);
  return line == nullptr ? std::string_view{} : parts_->head->value(*line);
}

std::optional<std::string_view> Request::cookie(std::string_view name) const noexcept {
  const http::Head& head = *parts_->head;
  if (!head.has(http::FieldName::Cookie)) return std::nullopt;
  // RFC 9113 §8.2.3: there may be several Cookie lines.
  for (const http::FieldLine& line : head.fields) {
    if (line.name != http::FieldName::Cookie) continue;
    if (const auto value = http::find_cookie(head.value(line), name)) return value;
  }
  return std::nullopt;
}

RequestCookies Request::cookies() const noexcept { return RequestCookies(*parts_->head); }

std::string_view Request::body() const noexcept {
  return loaded_ == nullptr ? parts_->body : std::string_view(*loaded_);
}

std::optional<std::string_view> Request::param(std::string_view name) const noexcept {
  if (captures_ == nullptr || captures_->names == nullptr) return std::nullopt;
  for (std::size_t i = 0; i < captures_->count; ++i) {
    if ((*captures_->names)[i] == name) return (*captures_)[i];
  }
  return std::nullopt;
}

std::string_view Request::param(std::size_t index) const noexcept {
  if (captures_ == nullptr || index >= captures_->count) return {};
  return (*captures_)[index];
}

Version Request::version() const noexcept { return parts_->head->version(); }

std::string_view Request::host() const noexcept { return parts_->host; }

std::string Request::peer() const {
  return parts_->peer == nullptr ? std::string() : parts_->peer(parts_->peer_context);
}

bool Request::is_secure() const noexcept { return parts_->is_secure; }

}  // namespace skua
