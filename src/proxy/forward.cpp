// SPDX-License-Identifier: MIT
// In: a request. Out: the response of an upstream server. Both contents are streamed, each at the
// speed of its slower side; whichever side leaves, the other learns of it.
#include "proxy/forward.hpp"

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/ascii.hpp"
#include "client/fetch.hpp"
#include "client/request_spec.hpp"
#include "client/wire/incoming_response.hpp"
#include "http/message/request_parts.hpp"
#include "http/message/response_parts.hpp"
#include "http/uri/target_path.hpp"
#include "proxy/content.hpp"
#include "proxy/fields.hpp"
#include "proxy/grpc.hpp"
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

// The request -------------------------------------------------------------------------------------

// Returns the PROXY header that connections for this request begin with.
std::string header_of(Request& request, ProxyProtocol version) {
  if (version == ProxyProtocol::Off) return {};
  const Address client = request.client_address();
  const Address& server = request.connection().local_address();
  return version == ProxyProtocol::V1
             ? sockets::text_proxy_header(client, server)
             : sockets::binary_proxy_header(client, server, request.scheme() == "https");
}

// RFC 9110 §15.2: interim responses are passed on. 100 is not: it is the server's own when it reads
// the content, which it does when the upstream server has asked for it.
void inform(const http::RequestParts& parts, const Head& head) {
  if (parts.source == nullptr) return;
  FieldLines lines;
  add_end_to_end(lines, head);
  parts.source->inform(static_cast<Status>(head.status), lines);
}

std::string target_of(const Upstream& upstream, const Request& request, std::string_view rest) {
  const std::string_view replaced = request.path().substr(0, request.path().size() - rest.size());
  const auto segments = static_cast<std::size_t>(std::count(replaced.begin(), replaced.end(), '/'));
  return upstream_target(request.target(), upstream.base(),
                         replaced.ends_with('/') ? segments - 1 : segments);
}

RequestSpec make_spec(const Upstream& upstream, Request& request, UpstreamRequest&& made,
                      bool offers_upgrade, std::shared_ptr<const bool>& has_begun) {
  const http::RequestParts& parts = http::RequestAccess::parts(request);
  RequestSpec spec;
  spec.method = request.method();
  if (spec.method == Method::Other) spec.other_method = request.method_name();
  spec.forwarding =
      client::Forwarding{.target = std::move(made.target),
                         .offers_upgrade = offers_upgrade,
                         .preface = header_of(request, upstream.options().proxy_protocol),
                         .on_interim = [&parts](const Head& head) { inform(parts, head); }};
  spec.fields = std::move(made.fields);
  spec.timeout = no_time_limit;
  spec.decompress = false;
  if (parts.may_have_more_content) {
    has_begun = pass_content_on(request, spec);
    // RFC 9110 §10.1.1: HTTP/1.0 has no expectations.
    spec.expects_continue =
        parts.head->has(FieldName::Expect) && request.version() != Version::Http10;
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

// Requests that end here --------------------------------------------------------------------------

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

std::optional<Response> answer_here(const Upstream& upstream, const Request& request) {
  const http::RequestParts& parts = http::RequestAccess::parts(request);
  if (has_passed(*parts.head, upstream.pseudonym())) throw HttpError(Status::LoopDetected);
  // RFC 9110 §9.3.8
  if (request.method() == Method::Trace && parts.may_have_more_content) {
    return Response(Status::BadRequest);
  }
  return answer_last_hop(request);
}

// Hooks -------------------------------------------------------------------------------------------

[[noreturn]] void refuse_change(std::string_view what, std::string_view why) {
  throw std::invalid_argument(
      std::string("ReverseProxyOptions::on_request: ").append(what).append(why));
}

// Checks and normalises a target as that of a request. An encoded slash may be there if the request
// that is passed on may have one.
std::string check_target(const std::string& target, bool is_as_sent) {
  if (target == "*") return target;
  unsigned allowed = ascii::PathTarget;
  for (const char c : target) {
    if (!ascii::is(c, allowed)) refuse_change(target, " is not a path and a query");
    if (c == '?') allowed |= ascii::QueryTarget;
  }
  const http::TargetParts parts = http::split_target(target);
  std::vector<char> scratch(parts.path.size());
  const bool is_path = http::canonical_path(parts.path, scratch) ||
                       (is_as_sent && http::may_stay_as_sent(parts.path));
  if (!target.starts_with('/') || !is_path) {
    refuse_change(target, " is not a path and a query");
  }
  return upstream_target(target, std::nullopt, 0);
}

std::optional<Response> call_hook(const Upstream& upstream, const Request& request,
                                  UpstreamRequest& made) {
  const auto& hook = upstream.options().on_request;
  if (!hook) return std::nullopt;
  if (std::optional<Response> answer = hook(request, made)) return answer;
  made.target = check_target(made.target, http::RequestAccess::parts(request).is_path_as_sent);
  for (const FieldLines::Line line : made.fields) {
    if (is_of_connection(line)) refuse_change(line.name, " is about the connection");
  }
  if (made.fields.find("Host", 1)) refuse_change("Host", " is there twice");
  return std::nullopt;
}

// The response ------------------------------------------------------------------------------------

Response head_of(const Head& head) {
  Response response;
  response.status(static_cast<Status>(head.status));
  add_end_to_end(http::ResponseAccess::lines(response), head);
  http::ResponseAccess::mark_evaluated(response);
  return response;
}

[[noreturn]] void fail(const Problem& problem) {
  const Status status = problem.code() == Errc::TimedOut           ? Status::GatewayTimeout
                        : problem.code() == Errc::TooManyOpenFiles ? Status::ServiceUnavailable
                                                                   : Status::BadGateway;
  throw HttpError(status, {}, problem.text);
}

// RFC 6455 §4.1: a server that does not prove that it has read the key may not know WebSockets. RFC
// 8441 §5: over HTTP/2 there is nothing to prove.
void check_accept(IncomingResponse& incoming, const Response& response, const std::string& key) {
  if (incoming.status() != Status::SwitchingProtocols) return;
  if (response.header("Sec-WebSocket-Accept") == ws::accept_key(key)) return;
  throw HttpError(Status::BadGateway, {}, incoming.step() + ": Sec-WebSocket-Accept is wrong");
}

Response open_tunnel(const Upstream& upstream, IncomingResponse& incoming, const Request& request,
                     const std::string& key) {
  Response response = head_of(incoming.head());
  check_accept(incoming, response, key);
  FieldLines& lines = http::ResponseAccess::lines(response);
  lines.remove("Sec-WebSocket-Accept");
  const bool is_http2 = request.version() == Version::Http2;
  const Status opened = is_http2 ? Status::Ok : Status::SwitchingProtocols;
  response.status(opened);
  if (const auto& hook = upstream.options().on_response) hook(request, response);
  if (response.status() != opened) return response;
  if (!is_http2) {
    lines.set("Sec-WebSocket-Accept", ws::accept_key(key));
    lines.set("Upgrade", "websocket");
    lines.set("Connection", "Upgrade");
  }
  Result<client::SwitchedStream, Problem> stream = incoming.switch_protocol();
  if (!stream) fail(stream.error());
  response.content() =
      tunnel_to(*std::move(stream), client_of(incoming), upstream.options().timeouts.tunnel,
                upstream.options().tunnels_outlast_drains);
  return response;
}

/// A call that has to end in time.
struct Call {
  explicit Call(const Head& head)
      : is_grpc(head.version() == Version::Http2 && proxy::is_grpc(head)) {
    const http::FieldLine* const line = is_grpc ? head.find("grpc-timeout") : nullptr;
    if (line != nullptr) timeout = parse_grpc_timeout(head.value(*line));
  }

  bool is_grpc;
  std::optional<Duration> timeout{};
  loop::Instant began = loop::Loop::current().now();

  [[nodiscard]] bool is_over() const noexcept {
    return timeout && loop::Loop::current().now() >= later(began, *timeout);
  }
};

// Content that arrives while other content is sent is a conversation, which has a pace of its own.
void allow_pauses(const http::RequestParts& parts, const Upstream& upstream) {
  if (parts.source == nullptr || !parts.may_have_more_content) return;
  parts.source->allow_pauses(upstream.options().timeouts.idle);
}

// Reads what has arrived. If that is all, nothing is left to stream.
Body rest_of(IncomingResponsePointer incoming, const Request& request) {
  std::optional<IncomingResponse::Read> first = incoming->read_now();
  if (first && !*first) fail(first->error());
  const bool is_over = first && !**first;
  if (!is_over || !incoming->trailers().fields.empty()) {
    const std::optional<Bytes> piece = first ? **first : std::nullopt;
    return content_of(std::move(incoming), piece);
  }
  // HTTP/2 tells an empty response from one whose length is not known: gRPC depends on that.
  return request.version() == Version::Http2 ? no_content() : Body();
}

Task<Response> pass_back(const Upstream& upstream, Request& request,
                         IncomingResponsePointer incoming) {
  Response response = head_of(incoming->head());
  if (const auto& hook = upstream.options().on_response) hook(request, response);
  if (response.content().kind() != Body::Kind::None) co_return response;
  const bool has_content = request.method() != Method::Head && !is_bodiless(incoming->status());
  const std::optional<std::uint64_t> length = length_to_declare(*incoming);
  const bool is_short = length.value_or(whole_bytes + 1) <= whole_bytes;
  if (!has_content) {
    co_await incoming->discard();  // nothing, so that the connection is free
    response.content() = content_of(std::move(incoming), std::nullopt);
  } else if (is_short && incoming->is_request_sent()) {
    Result<std::string, Problem> text = co_await client::read_text(*incoming, whole_bytes);
    if (!text) fail(text.error());
    response.content() = Body(*std::move(text));
  } else if (length) {
    response.content() = content_of(std::move(incoming), std::nullopt);
  } else {
    response.content() = rest_of(std::move(incoming), request);
  }
  co_return response;
}

}  // namespace

Task<Response> forward(const Upstream& upstream, Request& request, std::string_view rest) {
  if (std::optional<Response> answer = answer_here(upstream, request)) co_return *std::move(answer);
  const http::RequestParts& parts = http::RequestAccess::parts(request);
  UpstreamRequest made{
      .target = target_of(upstream, request, rest),
      .fields = upstream_fields(request, upstream.options(), upstream.pseudonym())};
  count_hop(made.fields, request.method());
  if (std::optional<Response> answer = call_hook(upstream, request, made)) {
    co_return *std::move(answer);
  }
  remove_ambiguous(made.fields);
  add_connection_fields(made.fields, *parts.head);
  const bool offers_upgrade = opens_websocket(parts);
  std::shared_ptr<const bool> has_begun;  // to send content; null if there is none
  RequestSpec spec = make_spec(upstream, request, std::move(made), offers_upgrade, has_begun);
  std::string key;
  if (offers_upgrade) key = offer_upgrade(spec, request);
  const Call call(*parts.head);
  if (call.timeout) spec.timeout = *call.timeout;
  // A response may begin with its first message, whenever that comes. Servers that may speak
  // HTTP/1.1, with a connection for each request, are spared such patience.
  if (std::optional<client::Forwarding>& passed_on = spec.forwarding;
      passed_on && call.is_grpc && upstream.is_http2()) {
    passed_on->head_timeout = upstream.options().timeouts.idle;
    allow_pauses(parts, upstream);
  }
  Result<IncomingResponsePointer, Problem> incoming = co_await upstream.fetch(request, spec);
  if (!incoming && call.is_over() && request.version() == Version::Http2) {
    co_return deadline_exceeded();
  }
  if (!incoming) fail(incoming.error());
  (*incoming)->hand_over();
  if ((*incoming)->switches_protocol()) co_return open_tunnel(upstream, **incoming, request, key);
  if (has_begun && !*has_begun && parts.source != nullptr) parts.source->decline();
  if (!(*incoming)->is_request_sent()) allow_pauses(parts, upstream);
  Response response = co_await pass_back(upstream, request, *std::move(incoming));
  co_return response;
}

}  // namespace skua::proxy
