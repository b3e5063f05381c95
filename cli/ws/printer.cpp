// SPDX-License-Identifier: MIT
// In: events. Out: lines. On a terminal, control characters from the server are escaped.
#include "ws/printer.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <stdexcept>
#include <system_error>

#include "base/base_encoding.hpp"
#include "files/listing/escape.hpp"
#include "system.hpp"
#include "terminal.hpp"
#include "ws/utf8.hpp"

namespace skua::cli {
namespace {

using namespace colours;

constexpr std::size_t shown_bytes = 64;

// `binary, 3 bytes: 00 01 ff`
std::string hexadecimal(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out = "binary, " + std::to_string(bytes.size()) + " bytes:";
  for (const char c : bytes.substr(0, shown_bytes)) {
    const auto octet = static_cast<unsigned char>(c);
    out.append(1, ' ').append(1, digits[octet >> 4U]).append(1, digits[octet & 15U]);
  }
  return bytes.size() > shown_bytes ? out + " ..." : out;
}

std::string_view name_of(WebSocketControl control) noexcept {
  return control == WebSocketControl::Ping ? "ping" : "pong";
}

std::string json_string(std::string_view text) {
  std::string out;
  files::append_json(out, text);
  return out;
}

// 1005 and 1006 are never sent, so they are shown as words.
std::string code_text(CloseCode code) {
  if (code == CloseCode::NoStatus) return "without a code";
  if (code == CloseCode::Abnormal) return "connection lost";
  return std::to_string(static_cast<unsigned>(code));
}

// Formats a payload as JSON text if it is UTF-8, else in base64.
std::string json_content(std::string_view content) {
  if (ws::is_utf8(content)) return R"(,"text":)" + json_string(content);
  return R"(,"base64":)" + json_string(base64::encode(content));
}

}  // namespace

WsPrinter::WsPrinter(const WsOptions& options, bool is_interactive)
    : url_(options.url),
      is_json_(options.json),
      is_quiet_(options.quiet),
      is_interactive_(is_interactive),
      is_terminal_(is_terminal(standard_output)),
      has_colour_(wants_colour(options.colour, standard_output)) {}

void WsPrinter::opened(const WebSocket& socket) {
  const std::string subprotocol(socket.subprotocol());
  if (is_json_) {
    return write(R"({"event":"open","subprotocol":)" + json_string(subprotocol) +
                 R"(,"compressed":)" + (socket.is_compressed() ? "true" : "false") + "}\n");
  }
  if (!is_interactive_) return;
  std::string text = "connected";
  if (!subprotocol.empty()) text.append(", subprotocol ").append(harmless(subprotocol));
  if (socket.is_compressed()) text.append(", compressed");
  note(text + "; /help lists commands, Ctrl-D closes");
}

void WsPrinter::received(const Message& message) {
  const bool is_text = message.type == MessageType::Text;
  if (is_json_) {
    const std::string content = is_text
                                    ? R"(,"text":)" + json_string(message.text)
                                    : R"(,"base64":)" + json_string(base64::encode(message.text));
    return write(R"({"event":"message","type":")" + std::string(is_text ? "text" : "binary") +
                 "\"" + content + "}\n");
  }
  if (!is_terminal_) return write(std::string(message.text).append("\n"));
  const std::string shown = is_text ? harmless(message.text) : hexadecimal(message.text);
  write(coloured("< ", green) + shown + "\n");
}

void WsPrinter::received(WebSocketControl control, std::string_view payload) {
  if (is_json_) {
    return write(R"({"event":")" + std::string(name_of(control)) + "\"" + json_content(payload) +
                 "}\n");
  }
  if (!is_interactive_) return;
  std::string text(name_of(control));
  if (!payload.empty()) text.append(": ").append(harmless(payload));
  note(text);
}

void WsPrinter::closed(const CloseReason& reason) {
  const auto code = static_cast<unsigned>(reason.code);
  if (is_json_) {
    return write(R"({"event":"close","code":)" + std::to_string(code) + R"(,"reason":)" +
                 json_string(reason.text) + "}\n");
  }
  const bool is_orderly = reason.code == CloseCode::Normal || reason.code == CloseCode::GoingAway ||
                          reason.code == CloseCode::NoStatus;
  if (is_orderly && !is_interactive_) return;
  std::string why = reason.text.empty() ? "" : ": " + harmless(reason.text);
  std::replace(why.begin(), why.end(), '\n', ' ');
  if (is_orderly) return note("closed " + code_text(reason.code) + why);
  std::fprintf(stderr, "skua: %s was closed: %s%s\n", harmless(url_).c_str(),
               code_text(reason.code).c_str(), why.c_str());
}

void WsPrinter::note(std::string_view text) {
  if (is_quiet_) return;
  std::fprintf(stderr, "%s\n", coloured(text, grey).c_str());
}

void WsPrinter::write(std::string_view text) {
  const std::size_t written = std::fwrite(text.data(), 1, text.size(), stdout);
  if (written == text.size() && std::fflush(stdout) == 0) return;
  throw std::system_error(errno, std::generic_category(), "cannot write to standard output");
}

std::string WsPrinter::coloured(std::string_view text, std::string_view colour) const {
  if (!has_colour_) return std::string(text);
  return std::string(colour).append(text).append(colours::plain);
}

}  // namespace skua::cli
