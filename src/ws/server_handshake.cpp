// SPDX-License-Identifier: MIT
// The server's side of the opening handshake. In: a request. Out: the response that opens a
// WebSocket, or one that explains what is wrong with the request. RFC 6455 §4.2, RFC 8441 §5
#include "ws/server_handshake.hpp"

#include <string>
#include <utility>

#include "base/ascii.hpp"
#include "http/message/field.hpp"
#include "http/message/request_parts.hpp"
#include "http/message/response_parts.hpp"
#include "http/uri/authority.hpp"
#include "skua/request.hpp"
#include "skua/response.hpp"
#include "ws/extension.hpp"
#include "ws/handshake_key.hpp"
#include "ws/message_coding.hpp"

namespace skua {
namespace {

constexpr std::string_view version = "13";

std::string join_lines(const Request& request, std::string_view name) {
  return http::join_lines(*http::RequestAccess::parts(request).head, name);
}

template <class IsIt>
bool has_element(std::string_view list, const IsIt& is_it) {
  while (!list.empty()) {
    if (is_it(ascii::take_list_element(list))) return true;
  }
  return false;
}

// RFC 9110 §15.5.22: a 426 names the required protocol in Upgrade, which HTTP/2 does not have.
Response upgrade_required(const Request& request, std::string_view why) {
  const bool is_http2 = request.version() == Version::Http2;
  Response response(is_http2 ? Status::BadRequest : Status::UpgradeRequired,
                    std::string(why).append("\n"));
  response.header("Sec-WebSocket-Version", version);
  if (is_http2) return response;
  FieldLines& lines = http::ResponseAccess::lines(response);
  lines.add("Upgrade", "websocket");
  lines.add("Connection", "Upgrade");
  return response;
}

Response refused(Status status, std::string_view why) {
  return {status, Body(std::string(why).append("\n"))};
}

// Returns the only field line with this name; nullopt unless there is exactly one.
std::optional<std::string_view> only_line(const Request& request, std::string_view name) {
  std::optional<std::string_view> found;
  for (const auto [line_name, value] : request.headers()) {
    if (!ascii::equals_ignoring_case(line_name, name)) continue;
    if (found) return std::nullopt;
    found = value;
  }
  return found;
}

// Reports whether pages of this origin may connect. Browsers let any page try. RFC 6455 §10.2
bool is_allowed_origin(const Request& request, const WebSocketOptions& options) {
  const auto origin = request.header("Origin");
  if (!origin) return true;
  for (const std::string& allowed : options.origins) {
    if (allowed == "*" || ascii::equals_ignoring_case(allowed, *origin)) return true;
  }
  const bool is_secure = request.scheme() == "https";
  const std::string_view scheme = is_secure ? "https://" : "http://";
  if (!ascii::equals_ignoring_case(origin->substr(0, scheme.size()), scheme)) return false;
  return http::is_same_authority(origin->substr(scheme.size()), request.requested_host(),
                                 is_secure ? 443 : 80);
}

// Returns our first subprotocol that the client offers, or an empty string.
std::string choose_subprotocol(const Request& request, const WebSocketOptions& options) {
  if (options.subprotocols.empty()) return {};
  const std::string offers = join_lines(request, "Sec-WebSocket-Protocol");
  for (const std::string& ours : options.subprotocols) {
    if (has_element(offers, [&](std::string_view offer) { return offer == ours; })) return ours;
  }
  return {};
}

bool asks_for_websocket(const Request& request) {
  return has_element(http::RequestAccess::parts(request).upgrade, [](std::string_view protocol) {
    return ascii::equals_ignoring_case(protocol, "websocket");
  });
}

// Returns an error response if the handshake is invalid.
std::optional<Response> check(const Request& request, const WebSocketOptions& options) {
  const bool is_http2 = request.version() == Version::Http2;
  if (!asks_for_websocket(request) || (!is_http2 && request.method() != Method::Get)) {
    return upgrade_required(request, "This is a WebSocket: connect with a WebSocket client.");
  }
  const auto asked_version = only_line(request, "Sec-WebSocket-Version");
  if (!asked_version) {
    return refused(Status::BadRequest, "Sec-WebSocket-Version has to be there, once.");
  }
  if (*asked_version != version)
    return upgrade_required(request, "Only version 13 is spoken here.");
  if (!is_http2) {
    const auto key = only_line(request, "Sec-WebSocket-Key");
    if (!key || !ws::is_valid_key(*key)) {
      return refused(Status::BadRequest,
                     "Sec-WebSocket-Key has to be there, once, and to be 16 bytes in base64.");
    }
  }
  if (!is_allowed_origin(request, options)) {
    return refused(Status::Forbidden, "Pages of this origin may not connect.");
  }
  return std::nullopt;
}

}  // namespace

Response ws::answer_handshake(Request& request, detail::Upgrade&& known) {
  const WebSocketOptions& options = *known.options;
  if (std::optional<Response> refusal = check(request, options)) return *std::move(refusal);
  auto upgrade = std::make_shared<detail::Upgrade>(std::move(known));
  std::string extensions;
  if (options.compression != WebSocketCompression::Off) {
    const std::string field = join_lines(request, "Sec-WebSocket-Extensions");
    const auto offers = ws::parse_extensions(field);
    if (!offers) return refused(Status::BadRequest, "Sec-WebSocket-Extensions is malformed.");
    if (auto accepted = ws::accept_deflate(*offers, ws::deflate_options(options))) {
      upgrade->agreement.deflate = accepted->parameters;
      extensions = std::move(accepted->response);
    }
  }
  upgrade->agreement.subprotocol = choose_subprotocol(request, options);

  const bool is_http2 = request.version() == Version::Http2;
  Response response(is_http2 ? Status::Ok : Status::SwitchingProtocols);
  FieldLines& lines = http::ResponseAccess::lines(response);
  if (!is_http2) {
    lines.add("Upgrade", "websocket");
    lines.add("Connection", "Upgrade");
    lines.add("Sec-WebSocket-Accept", ws::accept_key(*request.header("Sec-WebSocket-Key")));
  }
  if (!upgrade->agreement.subprotocol.empty()) {
    lines.add("Sec-WebSocket-Protocol", upgrade->agreement.subprotocol);
  }
  if (!extensions.empty()) lines.add("Sec-WebSocket-Extensions", extensions);
  auto stream = std::make_shared<BodyStream>();
  stream->is_endless = true;
  stream->upgrade = std::move(upgrade);
  response.content() = Body(std::shared_ptr<const BodyStream>(std::move(stream)));
  return response;
}

}  // namespace skua
