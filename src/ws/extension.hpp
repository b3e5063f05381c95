// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "skua/config.hpp"
#include "skua/error.hpp"

namespace skua::ws {

/// One member of Sec-WebSocket-Extensions; its names are views into the field.
struct Extension {
  struct Parameter {
    std::string_view name{};
    std::optional<std::string> value{};  ///< without quotes
  };

  std::string_view name{};
  std::vector<Parameter> parameters{};
};

/// Parses Sec-WebSocket-Extensions. Multiple field lines must be joined by commas first.
///
/// Ends with: MalformedField.
/// RFC:       6455 §9.1
Result<std::vector<Extension>> parse_extensions(std::string_view field SKUA_LIFETIMEBOUND);

/// Our options for permessage-deflate. A context makes small messages much smaller, but each
/// direction's costs memory as long as the connection lives.
struct DeflateOptions {
  bool keeps_context = false;          ///< between messages that we send
  bool peer_keeps_context = false;     ///< between messages that the peer sends
  std::uint8_t window_bits = 15;       ///< for messages that we send: 8 to 15
  std::uint8_t peer_window_bits = 15;  ///< for the peer's, if it supports less than 15
};

/// The negotiated parameters.
///
/// RFC:       7692 §7.1
struct DeflateParameters {
  bool server_no_context_takeover = false;
  bool client_no_context_takeover = false;
  std::uint8_t server_max_window_bits = 15;
  std::uint8_t client_max_window_bits = 15;
};

struct AcceptedDeflate {
  DeflateParameters parameters{};
  std::string response{};  ///< the value of Sec-WebSocket-Extensions
};

/// Returns a server's answer to the first acceptable offer of permessage-deflate; nullopt without
/// such an offer or zlib. Offers with unknown, repeated or invalid parameters are declined.
///
/// RFC:       7692 §5.1, §7.1
std::optional<AcceptedDeflate> accept_deflate(std::span<const Extension> offers,
                                              const DeflateOptions& options);

/// Returns a client's offer, the value of Sec-WebSocket-Extensions; empty if there is no zlib.
std::string offer_deflate(const DeflateOptions& options);

/// Returns the parameters that the server chose for our offer; nullopt if it declined.
///
/// Ends with: MalformedField if the response does not fit the offer. The caller must fail the
///            connection.
/// RFC:       6455 §4.1; 7692 §5.1, §7.1
Result<std::optional<DeflateParameters>> check_deflate_response(std::string_view field,
                                                                const DeflateOptions& options);

}  // namespace skua::ws
