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

/// Reads Sec-WebSocket-Extensions; several lines of it are joined by commas before.
///
/// Ends with: MalformedField.
/// RFC:       6455 §9.1
Result<std::vector<Extension>> parse_extensions(std::string_view field SKUA_LIFETIMEBOUND);

/// What we want of permessage-deflate. The context of one direction costs memory for as long as the
/// connection lives, and makes small messages much smaller.
struct DeflateOptions {
  bool keeps_context = false;          ///< between messages that we send
  bool peer_keeps_context = false;     ///< between messages that the peer sends
  std::uint8_t window_bits = 15;       ///< of what we send: 8 to 15
  std::uint8_t peer_window_bits = 15;  ///< of what the peer sends, where it can do with less
};

/// What both ends have agreed on.
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

/// A server's answer: to the first offer of permessage-deflate that can be kept; nothing where
/// there is none, or no zlib. Unknown, repeated and invalid parameters decline their offer.
///
/// RFC:       7692 §5.1, §7.1
std::optional<AcceptedDeflate> accept_deflate(std::span<const Extension> offers,
                                              const DeflateOptions& options);

/// A client's offer: the value of Sec-WebSocket-Extensions; empty where there is no zlib.
std::string offer_deflate(const DeflateOptions& options);

/// What the server made of the offer with these options; nothing where it declined.
///
/// Ends with: MalformedField for what was not offered, and what breaks the offer. The connection
///            has to be failed.
/// RFC:       6455 §4.1; 7692 §5.1, §7.1
Result<std::optional<DeflateParameters>> check_deflate_response(std::string_view field,
                                                                const DeflateOptions& options);

}  // namespace skua::ws
