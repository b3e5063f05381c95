// SPDX-License-Identifier: MIT
// In: a request. Out: the response of an upstream server. Both contents are streamed, each at the
// speed of its slower side; whichever side leaves, the other learns of it.
#include "proxy/forward.hpp"

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <utility>

#include "base/ascii.hpp"
#include "client/fetch.hpp"
#include "client/request_spec.hpp"
#include "client/wire/incoming_response.hpp"
#include "http/message/request_parts.hpp"
#include "http/message/response_parts.hpp"
#include "http/message/trailers.hpp"
#include "proxy/fields.hpp"
#include "proxy/target.hpp"
#include "proxy/tunnel.hpp"
#include "skua/http_error.hpp"
#include "sockets/proxy_header.hpp"
#include "ws/handshake_key.hpp"

namespace skua::proxy {
namespace {

using client::IncomingResponse;
using client::IncomingResponsePointer;
using client::RequestSpec;
using http::FieldName;
using http::Head;

// Content up to this size is passed on in one piece with its head, which saves a stream.
constexpr std::uint64_t whole_bytes = 16 * 1024;

void add_trailers(BodyWriter& out, const Head& trailers) {
  for (const http::FieldLine& line : trailers.fields) {
    const std::string_view name = trailers.name(line);
    if (http::is_allowed_in_trailers(line.name, name)) out.trailer(name, trailers.value(line));
  }
}

// The request -------------------------------------------------------------------------------------

Task<> send_content(Request& request, BodyWriter& out) {
  while (true) {
    const std::optional<Bytes> piece = co_await request.read();
    if (!piece) break;
    co_await out.write(*piece);
  }
  add_trailers(out, http::RequestAccess::parts(request).source->trailers());
}

Body content_of(Request& request) {
  auto stream = std::make_shared<BodyStream>();
  stream->produce = [&request](BodyWriter& out) { return send_content(request, out); };
  stream->length_bytes = http::RequestAccess::parts(request).length_bytes;
  return Body(std::shared_ptr<const BodyStream>(std::move(stream)));
}

// Returns the PROXY header that connections for this request begin with.
std::string header_of(Request& request, ProxyProtocol version) {
  if (version == ProxyProtocol::Off) return {};
  const Address client = request.client_address();
  const Address& server = request.connection().local_address();
  return version == ProxyProtocol::V1
             ? sockets::text_proxy_header(client, server)
             : sockets::binary_proxy_header(client, server, request.scheme() == "https");
}

std::unique_ptr<RequestSpec> make_spec(const Upstream& upstream, Request& request,
                                       std::string_view rest, bool offers_upgrade) {
  const http::RequestParts& parts = http::RequestAccess::parts(request);
  const std::string_view replaced = request.path().substr(0, request.path().size() - rest.size());
  const auto segments = static_cast<std::size_t>(std::count(replaced.begin(), replaced.end(), '/'));
  auto spec = std::make_unique<RequestSpec>();
  spec->method = request.method();
  const bool ends_in_slash = replaced.ends_with('/');
  spec->forwarding =
      client::Forwarding{.target = upstream_target(request.target(), upstream.base(),
                                                   ends_in_slash ? segments - 1 : segments),
                         .offers_upgrade = offers_upgrade,
                         .preface = header_of(request, upstream.options().proxy_protocol)};
  spec->fields = upstream_fields(request, upstream.options(), upstream.pseudonym());
  spec->timeout = no_time_limit;
  spec->decompress = false;
  spec->is_content_given = parts.may_have_more_content;
  if (spec->is_content_given) {
    spec->content = content_of(request);
    spec->expects_continue = parts.head->has(FieldName::Expect);
  }
  return spec;
}

// WebSockets --------------------------------------------------------------------------------------

bool opens_websocket(const http::RequestParts& parts) noexcept {
  if (parts.may_have_more_content) return false;
  if (parts.head->method != Method::Get && parts.head->method != Method::Connect) return false;
  std::string_view protocols = parts.upgrade;
  while (!protocols.empty()) {
    const std::string_view protocol = ascii::take_list_element(protocols);
    if (ascii::equals_ignoring_case(protocol, "websocket")) return true;
  }
  return false;
}

// HTTP/2 has no key. RFC 8441 §5
std::string offer_upgrade(RequestSpec& spec, const Request& request) {
  std::string key(request.header("Sec-WebSocket-Key").value_or(""));
  if (request.method() == Method::Connect) {
    key = ws::make_key().value();
    spec.fields.set("Sec-WebSocket-Key", key);
  }
  spec.method = Method::Get;
  spec.fields.add("Connection", "Upgrade");
  spec.fields.add("Upgrade", "websocket");
  return key;
}

// Answers a request that has passed enough proxies. RFC 9110 §7.6.2
std::optional<Response> answer_last_hop(const Request& request) {
  if (request.method() != Method::Options && request.method() != Method::Trace) return std::nullopt;
  if (request.header("Max-Forwards") != "0") return std::nullopt;
  if (request.method() == Method::Options) return Response(Status::NoContent);
  return Response(Status::MethodNotAllowed).header("Allow", "OPTIONS");
}

// Counts this hop. RFC 9110 §7.6.2
void count_hop(FieldLines& fields, Method method) {
  if (method != Method::Options && method != Method::Trace) return;
  const std::optional<std::string_view> text = fields.find("Max-Forwards");
  std::uint32_t left = 0;
  if (!text || std::from_chars(text->data(), text->data() + text->size(), left).ec != std::errc()) {
    return;
  }
  if (left != 0) fields.set("Max-Forwards", std::to_string(left - 1));
}

// The response ------------------------------------------------------------------------------------

Task<> send_content(IncomingResponse& incoming, BodyWriter& out) {
  while (true) {
    Result<std::optional<Bytes>, Problem> read = co_await incoming.read();
    const std::optional<Bytes> piece = std::move(read).value();
    if (!piece) break;
    co_await out.write(*piece);
  }
  add_trailers(out, incoming.trailers());
}

bool has_events(const Head& head) noexcept {
  const http::FieldLine* const type = head.find(FieldName::ContentType);
  return type != nullptr && head.value(*type).starts_with("text/event-stream");
}

Body content_of(IncomingResponsePointer incoming) {
  const std::shared_ptr<IncomingResponse> shared(std::move(incoming));
  auto stream = std::make_shared<BodyStream>();
  stream->length_bytes = shared->length_bytes();
  stream->is_endless = has_events(shared->head());
  stream->produce = [shared](BodyWriter& out) { return send_content(*shared, out); };
  return Body(std::shared_ptr<const BodyStream>(std::move(stream)));
}

Response head_of(const Head& head) {
  Response response;
  response.status(static_cast<Status>(head.status));
  add_end_to_end(http::ResponseAccess::lines(response), head);
  http::ResponseAccess::mark_evaluated(response);
  return response;
}

[[noreturn]] void fail(const Problem& problem) {
  const bool is_late = problem.code() == Errc::TimedOut;
  throw HttpError(is_late ? Status::GatewayTimeout : Status::BadGateway, {}, problem.text);
}

// RFC 6455 §4.1: a server that does not prove that it has read the key may not know WebSockets.
Response open_tunnel(const Upstream& upstream, IncomingResponse& incoming, const Request& request,
                     const std::string& key) {
  const Head& head = incoming.head();
  Response response = head_of(head);
  const std::optional<std::string_view> accepted = response.header("Sec-WebSocket-Accept");
  if (accepted != ws::accept_key(key)) {
    throw HttpError(Status::BadGateway, {}, incoming.step() + ": Sec-WebSocket-Accept is wrong");
  }
  FieldLines& lines = http::ResponseAccess::lines(response);
  if (request.version() == Version::Http2) {
    response.status(Status::Ok);
    lines.remove("Sec-WebSocket-Accept");
  } else {
    lines.add("Upgrade", "websocket");
    lines.add("Connection", "Upgrade");
  }
  Result<client::SwitchedStream, Problem> stream = incoming.switch_protocol();
  if (!stream) fail(stream.error());
  response.content() =
      tunnel_to(*std::move(stream), client_of(incoming), upstream.options().timeouts.tunnel);
  return response;
}

}  // namespace

Task<Response> forward(const Upstream& upstream, Request& request, std::string_view rest) {
  const Head& head = *http::RequestAccess::parts(request).head;
  if (has_passed(head, upstream.pseudonym())) throw HttpError(Status::LoopDetected);
  if (std::optional<Response> answer = answer_last_hop(request)) co_return *std::move(answer);
  const bool offers_upgrade = opens_websocket(http::RequestAccess::parts(request));
  std::unique_ptr<RequestSpec> spec = make_spec(upstream, request, rest, offers_upgrade);
  count_hop(spec->fields, request.method());
  std::string key;
  if (offers_upgrade) key = offer_upgrade(*spec, request);
  Result<IncomingResponsePointer, Problem> incoming =
      co_await upstream.fetch(request, std::move(spec));
  if (!incoming) fail(incoming.error());
  (*incoming)->hand_over();
  if ((*incoming)->status() == Status::SwitchingProtocols) {
    co_return open_tunnel(upstream, **incoming, request, key);
  }
  Response response = head_of((*incoming)->head());
  const bool has_content = request.method() != Method::Head && !is_bodiless(response.status());
  const std::uint64_t length = (*incoming)->length_bytes().value_or(whole_bytes + 1);
  if (has_content && length <= whole_bytes) {
    Result<std::string, Problem> text = co_await client::read_text(**incoming, whole_bytes);
    if (!text) fail(text.error());
    response.content() = Body(*std::move(text));
    co_return response;
  }
  if (!has_content) co_await (*incoming)->discard();  // nothing, so that the connection is free
  response.content() = content_of(*std::move(incoming));
  co_return response;
}

}  // namespace skua::proxy
