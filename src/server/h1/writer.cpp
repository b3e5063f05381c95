// SPDX-License-Identifier: MIT
// In: a Response. Out: bytes in an output queue. The only place that frames handlers' responses.
#include "server/h1/writer.hpp"

#include <cstring>
#include <string>
#include <utility>

#include "h1/message_writer.hpp"
#include "http/message/response_parts.hpp"
#include "server/date_cache.hpp"
#include "skua/prepared_response.hpp"

namespace skua::server {
namespace {

// Up to this size, a copy is cheaper than a second slice.
constexpr std::size_t copied_body_bytes = 4096;

h1::ConnectionField connection_field(const ResponseFraming& framing) noexcept {
  if (!framing.keep_alive) return h1::ConnectionField::Close;
  // RFC 9112 §9.3: HTTP/1.0 closes unless told otherwise.
  return framing.is_http10 ? h1::ConnectionField::KeepAlive : h1::ConnectionField::Default;
}

void write(net::OutputQueue& output, const h1::ResponseHead& head, std::string_view body) {
  const std::size_t room = h1::head_bytes_at_most(head) + body.size();
  if (room > net::OutputQueue::max_reserve) {  // too long for a block
    std::string text;
    h1::append_head(head, text);
    output.append(text);
    output.append(body);
    return;
  }
  char* const begin = output.reserve(room);
  char* end = h1::write_head(head, begin);
  if (!body.empty()) std::memcpy(end, body.data(), body.size());
  output.commit(static_cast<std::size_t>(end - begin) + body.size());
}

char* put(char* out, std::string_view text) noexcept {
  std::memcpy(out, text.data(), text.size());
  return out + text.size();
}

// Returns the Connection field, if any, and the empty line.
std::string_view end_of_head(h1::ConnectionField connection) noexcept {
  switch (connection) {
    case h1::ConnectionField::Default: break;
    case h1::ConnectionField::Close: return "Connection: close\r\n\r\n";
    case h1::ConnectionField::KeepAlive: return "Connection: keep-alive\r\n\r\n";
  }
  return "\r\n";
}

// Whether the head begins as DateCache::start_of_ok() has it: a 200 with a known type, and with the
// server's own Date and Server.
bool has_cached_start(const Response& response) noexcept {
  constexpr std::uint64_t own = http::set_of(http::FieldName::Date, http::FieldName::Server);
  return response.status() == Status::Ok && response.prepared() == nullptr &&
         http::ResponseAccess::known_type(response) != 0 && (response.lines().known() & own) == 0;
}

// Writes the head and the content in one piece. Returns false if the content is too long to be
// copied.
bool write_at_once(net::OutputQueue& output, const Response& response, std::string_view text,
                   const ResponseFraming& framing) {
  constexpr std::size_t rest_bytes = 64;  // a number and the longest end of a head
  const std::string_view start =
      framing.dated.start_of_ok(http::ResponseAccess::known_type(response));
  const std::string_view fields = response.lines().wire();
  const std::size_t room = start.size() + fields.size() + text.size() + rest_bytes;
  if (text.size() > copied_body_bytes || room > net::OutputQueue::max_reserve) return false;
  char* const begin = output.reserve(room);
  char* end = h1::put_decimal(text.size(), put(begin, start));
  end = put(end, "\r\n");
  if (!fields.empty()) end = put(end, fields);
  const h1::ConnectionField connection = connection_field(framing);
  end = connection == h1::ConnectionField::Default ? put(end, "\r\n")
                                                   : put(end, end_of_head(connection));
  if (!framing.is_head && !text.empty()) end = put(end, text);
  output.commit(static_cast<std::size_t>(end - begin));
  return true;
}

void write_prepared(net::OutputQueue& output, const h1::ResponseHead& head,
                    std::string_view prepared, std::string_view body) {
  output.append(prepared);
  output.append(head.standard_fields);
  output.append(head.fields);
  output.append(end_of_head(head.connection));
  output.append(body);
}

// RFC 9112 §6.1: HTTP/1.0 has no chunks, so the end of the connection is the end of the content.
h1::BodyField body_field(const Response& response, const BodyStream& stream,
                         const ResponseFraming& framing) noexcept {
  if (is_bodiless(response.status())) return h1::BodyField::None;
  if (stream.length_bytes) return h1::BodyField::Length;
  return framing.is_http10 ? h1::BodyField::None : h1::BodyField::Chunked;
}

void write_stream_head(net::OutputQueue& output, const Response& response, const BodyStream& stream,
                       const ResponseFraming& framing) {
  write(output,
        {.status = response.status(),
         .body = body_field(response, stream, framing),
         .connection = connection_field(framing),
         .length_bytes = stream.length_bytes.value_or(0),
         .standard_fields = standard_fields(response, framing.dated.lines()),
         .content_type = response.static_type(),
         .fields = response.lines().wire()},
        {});
}

// Writes any response: content that is a file, a stream or long is not copied.
[[gnu::noinline]] std::uint64_t write_in_pieces(net::OutputQueue& output, Response&& response,
                                                ResponseFraming framing) {
  Body& content = response.content();
  if (content.kind() == Body::Kind::Stream) {
    write_stream_head(output, response, **content.stream(), framing);
    return 0;
  }
  const std::uint64_t size_bytes = content.size_bytes();
  // RFC 9110 §8.6: no Content-Length in 1xx and 204; a 304 would need that of the 200.
  const bool is_bodiless = skua::is_bodiless(response.status());
  const h1::ResponseHead head{.status = response.status(),
                              .body = is_bodiless ? h1::BodyField::None : h1::BodyField::Length,
                              .connection = connection_field(framing),
                              .length_bytes = size_bytes,
                              .standard_fields = standard_fields(response, framing.dated.lines()),
                              .content_type = response.static_type(),
                              .fields = response.lines().wire()};
  // RFC 9110 §9.3.2, §6.4.1: these responses have no content, whatever the handler returned.
  const bool has_content = !framing.is_head && !is_bodiless;
  const bool is_moved =
      has_content && (size_bytes > copied_body_bytes || content.file() != nullptr);
  const std::string_view copied = has_content && !is_moved ? content.text() : std::string_view();
  if (const PreparedResponse* const prepared = response.prepared()) {
    write_prepared(output, head, prepared->head(), copied);
  } else {
    write(output, head, copied);
  }
  if (is_moved) output.append_body(std::move(content));
  return has_content ? size_bytes : 0;
}

}  // namespace

std::uint64_t write_response(net::OutputQueue& output, Response&& response,
                             ResponseFraming framing) {
  if (has_cached_start(response) && response.content().kind() < Body::Kind::File) [[likely]] {
    const std::string_view text = response.content().text();
    if (write_at_once(output, response, text, framing)) return framing.is_head ? 0 : text.size();
  }
  return write_in_pieces(output, std::move(response), framing);
}

}  // namespace skua::server
