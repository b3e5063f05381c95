// SPDX-License-Identifier: MIT
// In: what nodes of a cluster say about slots. Out: ranges, and redirections.
#include "redis/slot_map.hpp"

#include <charconv>
#include <string>
#include <utility>

#include "resp/command_rules.hpp"
#include "resp/number.hpp"

namespace skua::redis {
namespace {

std::string_view take_word(std::string_view& text) noexcept {
  const std::size_t space = text.find(' ');
  const std::string_view word = text.substr(0, space);
  text.remove_prefix(space == std::string_view::npos ? text.size() : space + 1);
  return word;
}

std::optional<std::uint16_t> slot_from(std::optional<std::int64_t> number) noexcept {
  if (!number || *number < 0 || *number >= resp::slot_count) return std::nullopt;
  return static_cast<std::uint16_t>(*number);
}

// An empty host, or a null, is the host that was asked; `?` is not known.
std::optional<Endpoint> place_of(std::string_view host, std::optional<std::int64_t> port,
                                 const Endpoint& asked) {
  if (host == "?" || !port || *port <= 0 || *port > 65535) return std::nullopt;
  return Endpoint{.host = host.empty() ? asked.host : std::string(host),
                  .port = static_cast<std::uint16_t>(*port)};
}

}  // namespace

std::vector<SlotRange> read_slots(const Reply& reply, const Endpoint& asked) {
  std::vector<SlotRange> ranges;
  for (const Reply& one : reply.elements()) {
    // first, last, the master: [host, port, id, ...], replicas
    const auto first = slot_from(one[0].integer());
    const auto last = slot_from(one[1].integer());
    auto place = place_of(one[2][0].text(), one[2][1].integer(), asked);
    if (!first || !last || *first > *last || !place) continue;
    ranges.push_back({.first = *first, .last = *last, .master = *std::move(place)});
  }
  return ranges;
}

Redirection read_redirection(std::string_view error, const Endpoint& asked) {
  using Kind = Redirection::Kind;
  const std::string_view code = take_word(error);
  if (code == "TRYAGAIN" || code == "CLUSTERDOWN" || code == "LOADING" || code == "MASTERDOWN") {
    return {.kind = Kind::Later};
  }
  if (code != "MOVED" && code != "ASK") return {};
  const auto slot = slot_from(resp::parse_integer(take_word(error)));
  const std::size_t colon = error.rfind(':');
  if (!slot || colon == std::string_view::npos) return {};
  auto place =
      place_of(error.substr(0, colon), resp::parse_integer(error.substr(colon + 1)), asked);
  if (!place) return {.kind = Kind::Later};
  return {
      .kind = code == "ASK" ? Kind::Ask : Kind::Moved, .slot = *slot, .place = *std::move(place)};
}

}  // namespace skua::redis
