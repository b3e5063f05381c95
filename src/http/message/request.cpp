// SPDX-License-Identifier: MIT
// In: the server's data about a request. Out: what a handler asks for, as views of it. Lookups
// scan; only an encoded query value is copied, to its own place in a buffer as large as the query,
// so asking again neither allocates nor moves it.

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "http/cookie/cookie.hpp"
#include "http/message/field.hpp"
#include "http/message/request_parts.hpp"
#include "http/uri/query.hpp"
#include "skua/field_lines.hpp"
#include "skua/request.hpp"
#include "skua/status.hpp"

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

std::string_view Request::method_name() const noexcept { return parts_->head->method_name(); }

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
  if (captures_ == nullptr || captures_->route == nullptr) return std::nullopt;
  for (std::size_t i = 0; i < captures_->count; ++i) {
    if (captures_->route->names[i] == name) return (*captures_)[i];
  }
  return std::nullopt;
}

std::string_view Request::route() const noexcept {
  const bool is_matched = captures_ != nullptr && captures_->route != nullptr;
  return is_matched ? std::string_view(captures_->route->pattern) : std::string_view();
}

Duration Request::time_left() const noexcept {
  return parts_->handler == nullptr ? Duration::max() : parts_->handler->time_left();
}

std::string_view Request::param(std::size_t index) const noexcept {
  if (captures_ == nullptr || index >= captures_->count) return {};
  return (*captures_)[index];
}

Version Request::version() const noexcept { return parts_->head->version(); }

std::string_view Request::host() const noexcept { return parts_->host; }

std::string Request::peer() const {
  return parts_->peer == nullptr ? std::string() : parts_->peer(parts_->peer_context).to_string();
}

bool Request::is_secure() const noexcept { return parts_->is_secure; }

Connection& Request::connection() {
  SKUA_ASSERT(parts_->connection != nullptr);
  return parts_->connection->connection();
}

void Request::early_hints(const FieldLines& headers) {
  using enum http::FieldName;
  constexpr std::uint64_t refused =
      http::set_of(Connection, ContentLength, KeepAlive, ProxyConnection, TransferEncoding, Upgrade,
                   Te, Trailer);
  bool is_empty = true;
  for (const FieldLines::Line line : headers) {
    is_empty = false;
    if ((refused >> line.known & 1U) != 0) {
      throw std::invalid_argument("Request::early_hints: " + std::string(line.name) +
                                  " is about the connection");
    }
  }
  if (parts_->source == nullptr || is_empty) return;
  parts_->source->inform(Status::EarlyHints, headers);
}

const Connection& Request::connection() const {
  SKUA_ASSERT(parts_->connection != nullptr);
  return parts_->connection->connection();
}

// In: a request, whose views end with the handler. Out: a copy that owns all but the content.

namespace {

std::size_t end_of_text(const http::Head& head) noexcept {
  std::size_t end = std::size_t{head.target_begin} + head.target_bytes;
  for (const http::FieldLine& line : head.fields) {
    end = std::max({end, std::size_t{line.name_begin} + line.name_bytes,
                    std::size_t{line.value_begin} + line.value_bytes});
  }
  return end;
}

struct KeptRequest final : http::OriginSource {
  explicit KeptRequest(const http::RequestParts& parts, const http::Captures* matched)
      : text(parts.head->base, end_of_text(*parts.head)),
        lines(parts.head->fields.begin(), parts.head->fields.end()),
        path(parts.path),
        query(parts.query),
        host(parts.host),
        upgrade(parts.upgrade),
        peer(parts.peer != nullptr ? parts.peer(parts.peer_context) : Address()),
        head(*parts.head) {
    head.base = text.data();
    head.fields = lines;
    known = {.head = &head,
             .path = path,
             .query = query,
             .host = host,
             .peer = [](const void* kept) { return *static_cast<const Address*>(kept); },
             .peer_context = &peer,
             .connection = parts.connection,
             .is_secure = parts.is_secure,
             .is_path_as_sent = parts.is_path_as_sent,
             .upgrade = upgrade};
    if (parts.origins != nullptr)
      keep_origin(parts.origins->origin_of(*parts.head, parts.peer_context));
    if (matched == nullptr) return;
    captures.route = matched->route;
    captures.count = matched->count;
    // Captures are views of the path, or empty.
    for (std::uint32_t i = 0; i < matched->count; ++i) {
      const std::string_view value = (*matched)[i];
      const bool is_inside = value.data() >= parts.path.data() &&
                             value.data() <= parts.path.data() + parts.path.size();
      captures.texts[i] = {is_inside ? path.data() + (value.data() - parts.path.data()) : "",
                           is_inside ? value.size() : 0};
    }
    http::RequestAccess::bind(request, &captures);
  }

  void keep_origin(const http::Origin& known_origin) {
    origin = known_origin;
    origin_host = origin.host;
    origin.host = origin_host;
    known.origins = this;
  }
  // The connection may be gone when it is asked for.
  [[nodiscard]] http::Origin origin_of(const http::Head&, const void*) const override {
    return origin;
  }

  std::string text;
  std::vector<http::FieldLine> lines;
  std::string path;
  std::string query;
  std::string host;
  std::string upgrade;
  Address peer;
  http::Origin origin{};
  std::string origin_host{};
  http::Head head;
  http::RequestParts known;
  http::Captures captures;
  Request request{known};
};

}  // namespace

std::shared_ptr<Request> detail::keep_request(const Request& request) {
  auto kept = std::make_shared<KeptRequest>(http::RequestAccess::parts(request),
                                            http::RequestAccess::captures(request));
  return {kept, &kept->request};
}

}  // namespace skua
