// SPDX-License-Identifier: MIT
// In: a URL. Out: a request. Then in: the response. Out: what both sides agreed on, or the reason
// that the server did not switch protocols.
#include "ws/client_handshake.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/ascii.hpp"
#include "h1/framing.hpp"
#include "h1/head_parser.hpp"
#include "h1/response_reader.hpp"
#include "http/message/field.hpp"
#include "skua/status.hpp"
#include "ws/extension.hpp"
#include "ws/handshake_key.hpp"
#include "ws/message_coding.hpp"

namespace skua::ws {
namespace {

using http::FieldName;

constexpr std::size_t longest_quote_bytes = 200;

void add_line(std::string& text, std::string_view name, std::string_view value) {
  text.append(name).append(": ").append(value).append("\r\n");
}

// Returns the first line of a text, if printable, for use in an error message.
std::string_view first_line(std::string_view content) noexcept {
  const auto is_printable = [](char c) { return c >= ' ' && c <= '~'; };
  const auto* const end = std::find_if_not(content.begin(), content.end(), is_printable);
  return content.substr(
      0, std::min(longest_quote_bytes, static_cast<std::size_t>(end - content.begin())));
}

std::string describe(const http::Head& head, std::string_view content) {
  std::string status = std::to_string(head.status);
  const std::string_view phrase = first_line(head.target());
  if (!phrase.empty()) status.append(" ").append(phrase);
  std::string text = "the server answered " + status;
  if (const http::FieldLine* const line = head.find(FieldName::Location)) {
    return text.append(", redirecting to ").append(first_line(head.value(*line)));
  }
  const http::FieldLine* const type = head.find(FieldName::ContentType);
  const bool is_text = type != nullptr && head.value(*type).starts_with("text/plain");
  if (const std::string_view why = first_line(content); is_text && !why.empty() && why != status) {
    text.append(": ").append(why);
  }
  return text;
}

}  // namespace

ClientHandshake::ClientHandshake(const Url& url, const FieldLines& fields,
                                 const WebSocketOptions& options, std::string_view key)
    : options_(options), expected_accept_(accept_key(key)) {
  request_.append("GET ").append(url.request_target()).append(" HTTP/1.1\r\n");
  if (!fields.find("Host")) add_line(request_, "Host", url.host_field());
  add_line(request_, "Upgrade", "websocket");
  add_line(request_, "Connection", "Upgrade");
  add_line(request_, "Sec-WebSocket-Key", key);
  add_line(request_, "Sec-WebSocket-Version", "13");
  std::string subprotocols;
  for (const std::string& subprotocol : options.subprotocols) {
    if (!subprotocols.empty()) subprotocols.append(", ");
    subprotocols.append(subprotocol);
  }
  if (!subprotocols.empty()) add_line(request_, "Sec-WebSocket-Protocol", subprotocols);
  if (options.compression != WebSocketCompression::Off) {
    const std::string offer = offer_deflate(deflate_options(options));
    if (!offer.empty()) add_line(request_, "Sec-WebSocket-Extensions", offer);
  }
  request_.append(fields.wire()).append("\r\n");
}

ClientHandshake::Step ClientHandshake::read(std::string& received) {
  constexpr h1::HeadLimits limits;
  std::array<http::FieldLine, limits.fields> lines;
  while (true) {
    h1::HeadParser parser(h1::HeadKind::Response, limits, lines);
    const h1::ParseStatus status = parser.parse(received);
    if (status == h1::ParseStatus::NeedMore) return Step::NeedMore;
    if (status == h1::ParseStatus::Failed) {
      return refuse(parser.error(), std::string(message(parser.error())));
    }
    const http::Head& head = parser.head();
    const bool is_interim = head.status < 200 && head.status != code(Status::SwitchingProtocols);
    const Step step = is_interim
                          ? Step::NeedMore
                          : read_head(head, std::string_view(received).substr(head.size_bytes));
    received.erase(0, head.size_bytes);
    if (!is_interim) return step;
    if (++interim_count_ > h1::ResponseLimits().interim_responses) {
      return refuse(Errc::TooManyInterimResponses,
                    std::string(message(Errc::TooManyInterimResponses)));
    }
  }
}

// RFC 6455 §4.1: the client fails the connection if any of these checks fails.
ClientHandshake::Step ClientHandshake::read_head(const http::Head& head, std::string_view rest) {
  const auto framing = h1::frame_response(head, Method::Get);
  if (!framing) return refuse(framing.error().code(), std::string(framing.error().message()));
  if (head.status != code(Status::SwitchingProtocols)) {
    return refuse(Errc::UpgradeRefused, describe(head, rest));
  }
  if (!ascii::equals_ignoring_case(framing->upgrade, "websocket")) {
    return refuse(Errc::UpgradeRefused, "the server switched to another protocol");
  }
  if (http::join_lines(head, "Sec-WebSocket-Accept") != expected_accept_) {
    return refuse(Errc::UpgradeRefused, "Sec-WebSocket-Accept does not match the key");
  }
  const auto deflate = check_deflate_response(http::join_lines(head, "Sec-WebSocket-Extensions"),
                                              deflate_options(options_));
  const bool is_offered = options_.compression != WebSocketCompression::Off;
  if (!deflate || (*deflate && !is_offered)) {
    return refuse(Errc::UpgradeRefused, "the server uses an extension that was not offered");
  }
  const std::string subprotocol = http::join_lines(head, "Sec-WebSocket-Protocol");
  const auto& ours = options_.subprotocols;
  if (!subprotocol.empty() && std::find(ours.begin(), ours.end(), subprotocol) == ours.end()) {
    return refuse(Errc::UpgradeRefused, "the server chose a subprotocol that was not offered");
  }
  agreement_.deflate = *deflate;
  agreement_.subprotocol = subprotocol;
  return Step::Open;
}

ClientHandshake::Step ClientHandshake::refuse(Errc code, std::string text) {
  problem_ = {Error(code, "WebSocket handshake"), std::move(text)};
  return Step::Refused;
}

}  // namespace skua::ws
