// SPDX-License-Identifier: MIT
// In: Sec-WebSocket-Extensions. Out: parameters of permessage-deflate, and the field for the peer.
// An offer holds what a client supports and requests, a response what both sides will use.
#include "ws/extension.hpp"

#include <algorithm>
#include <utility>

#include "base/ascii.hpp"
#include "ws/deflate.hpp"

namespace skua::ws {
namespace {

constexpr std::string_view extension_name = "permessage-deflate";
constexpr std::string_view server_no_context = "server_no_context_takeover";
constexpr std::string_view client_no_context = "client_no_context_takeover";
constexpr std::string_view server_window = "server_max_window_bits";
constexpr std::string_view client_window = "client_max_window_bits";
constexpr std::uint8_t largest_window_bits = 15;

constexpr Error malformed_extension{Errc::MalformedField, "Sec-WebSocket-Extensions"};

class Scanner {
 public:
  explicit Scanner(std::string_view text) noexcept : rest_(text) {}

  // Skips white space, then `c` if it comes next.
  bool skip(char c) noexcept {
    while (!rest_.empty() && ascii::is_ows(rest_.front())) rest_.remove_prefix(1);
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  // Valid only after skip().
  [[nodiscard]] bool is_at_end() const noexcept { return rest_.empty(); }

  // Returns an empty view if there is no token.
  std::string_view token() noexcept {
    skip('\0');
    const auto end = std::find_if_not(rest_.begin(), rest_.end(), ascii::is_token);
    const std::string_view found = rest_.substr(0, static_cast<std::size_t>(end - rest_.begin()));
    rest_.remove_prefix(found.size());
    return found;
  }

  // RFC 6455 §9.1: the value of a quoted string must be a token.
  std::string value() {
    if (!skip('"')) return std::string(token());
    std::string text;
    while (!rest_.empty() && rest_.front() != '"') {
      if (rest_.front() == '\\') rest_.remove_prefix(1);
      if (rest_.empty()) break;
      text += rest_.front();
      rest_.remove_prefix(1);
    }
    if (rest_.empty() || !ascii::is_token_text(text)) return {};
    rest_.remove_prefix(1);
    return text;
  }

 private:
  std::string_view rest_;
};

Result<Extension> take_extension(Scanner& scanner) {
  Extension extension{.name = scanner.token()};
  if (extension.name.empty()) return malformed_extension;
  while (scanner.skip(';')) {
    Extension::Parameter parameter{.name = scanner.token()};
    if (parameter.name.empty()) return malformed_extension;
    if (scanner.skip('=')) {
      parameter.value = scanner.value();
      if (parameter.value->empty()) return malformed_extension;
    }
    extension.parameters.push_back(std::move(parameter));
  }
  return extension;
}

// The parameters of one member.
struct Said {
  bool server_no_context = false;
  bool client_no_context = false;
  std::optional<std::uint8_t> server_bits{};
  std::optional<std::uint8_t> client_bits{};
  bool has_client_window = false;  // possibly without a value
};

// RFC 7692 §7.1.2: 8 to 15, without leading zeros.
std::optional<std::uint8_t> window_bits(const std::optional<std::string>& value) noexcept {
  if (!value) return std::nullopt;
  if (*value == "8") return std::uint8_t{8};
  if (*value == "9") return std::uint8_t{9};
  if (value->size() != 2 || value->front() != '1') return std::nullopt;
  const char digit = value->back();
  if (digit < '0' || digit > '5') return std::nullopt;
  return static_cast<std::uint8_t>(10 + (digit - '0'));
}

// Reports whether a parameter is known, valid and not repeated.
bool read_parameter(const Extension::Parameter& parameter, bool is_offer, Said& said) noexcept {
  if (parameter.name == server_no_context) {
    return !parameter.value && !std::exchange(said.server_no_context, true);
  }
  if (parameter.name == client_no_context) {
    return !parameter.value && !std::exchange(said.client_no_context, true);
  }
  if (parameter.name == server_window) {
    if (said.server_bits) return false;
    said.server_bits = window_bits(parameter.value);
    return said.server_bits.has_value();
  }
  if (parameter.name == client_window) {
    if (std::exchange(said.has_client_window, true)) return false;
    said.client_bits = window_bits(parameter.value);
    return said.client_bits || (is_offer && !parameter.value);
  }
  return false;
}

std::optional<Said> read_parameters(const Extension& extension, bool is_offer) noexcept {
  Said said;
  for (const Extension::Parameter& parameter : extension.parameters) {
    if (!read_parameter(parameter, is_offer, said)) return std::nullopt;
  }
  return said;
}

void append(std::string& out, std::string_view name) { out.append("; ").append(name); }
void append(std::string& out, std::string_view name, unsigned bits) {
  append(out, name);
  out.append("=").append(std::to_string(bits));
}

AcceptedDeflate accept(const Said& offer, const DeflateOptions& options) {
  DeflateParameters parameters;
  parameters.server_no_context_takeover = offer.server_no_context || !options.keeps_context;
  // If the client says that it will not use its context, we need not keep it.
  parameters.client_no_context_takeover = offer.client_no_context || !options.peer_keeps_context;
  parameters.server_max_window_bits =
      std::min(offer.server_bits.value_or(largest_window_bits), options.window_bits);
  // RFC 7692 §7.1.2.2: the client's window can be limited only if its offer names the parameter.
  if (offer.has_client_window) {
    parameters.client_max_window_bits =
        std::min(offer.client_bits.value_or(largest_window_bits), options.peer_window_bits);
  }
  std::string response(extension_name);
  if (parameters.server_no_context_takeover) append(response, server_no_context);
  if (parameters.client_no_context_takeover) append(response, client_no_context);
  if (offer.server_bits || parameters.server_max_window_bits < largest_window_bits) {
    append(response, server_window, parameters.server_max_window_bits);
  }
  if (parameters.client_max_window_bits < largest_window_bits) {
    append(response, client_window, parameters.client_max_window_bits);
  }
  return {.parameters = parameters, .response = std::move(response)};
}

}  // namespace

Result<std::vector<Extension>> parse_extensions(std::string_view field) {
  std::vector<Extension> extensions;
  Scanner scanner(field);
  while (true) {
    while (scanner.skip(',')) {  // RFC 9110 §5.6.1.2: empty members are ignored
    }
    if (scanner.is_at_end()) return extensions;
    auto extension = take_extension(scanner);
    if (!extension) return extension.error();
    extensions.push_back(*std::move(extension));
    if (!scanner.skip(',') && !scanner.is_at_end()) return malformed_extension;
  }
}

std::optional<AcceptedDeflate> accept_deflate(std::span<const Extension> offers,
                                              const DeflateOptions& options) {
  if (!is_deflate_available()) return std::nullopt;
  for (const Extension& extension : offers) {
    if (extension.name != extension_name) continue;
    if (const auto offer = read_parameters(extension, true)) return accept(*offer, options);
  }
  return std::nullopt;
}

std::string offer_deflate(const DeflateOptions& options) {
  std::string offer;
  if (!is_deflate_available()) return offer;
  offer = extension_name;
  if (!options.peer_keeps_context) append(offer, server_no_context);
  if (!options.keeps_context) append(offer, client_no_context);
  if (options.peer_window_bits < largest_window_bits) {
    append(offer, server_window, options.peer_window_bits);
  }
  if (options.window_bits < largest_window_bits) {
    append(offer, client_window, options.window_bits);
  } else {
    append(offer, client_window);
  }
  return offer;
}

Result<std::optional<DeflateParameters>> check_deflate_response(std::string_view field,
                                                                const DeflateOptions& options) {
  using Agreed = std::optional<DeflateParameters>;
  const auto extensions = parse_extensions(field);
  if (!extensions) return extensions.error();
  if (extensions->empty()) return Agreed();
  if (extensions->size() != 1 || extensions->front().name != extension_name ||
      !is_deflate_available()) {
    return malformed_extension;
  }
  const auto said = read_parameters(extensions->front(), false);
  if (!said) return malformed_extension;
  const std::uint8_t server_bits = said->server_bits.value_or(largest_window_bits);
  const std::uint8_t client_bits = said->client_bits.value_or(options.window_bits);
  if (!options.peer_keeps_context && !said->server_no_context) return malformed_extension;
  if (server_bits > options.peer_window_bits || client_bits > options.window_bits)
    return malformed_extension;
  return Agreed(DeflateParameters{
      .server_no_context_takeover = said->server_no_context,
      .client_no_context_takeover = said->client_no_context || !options.keeps_context,
      .server_max_window_bits = server_bits,
      .client_max_window_bits = client_bits});
}

}  // namespace skua::ws
