// SPDX-License-Identifier: MIT
// In: `traceparent` and `tracestate`. Out: the identifiers, and their fields for the next server.
// https://www.w3.org/TR/trace-context/
#include "skua/trace_context.hpp"

#include <algorithm>
#include <cstring>
#include <span>

#include "base/ascii.hpp"
#include "base/base_encoding.hpp"
#include "crypto/random.hpp"
#include "skua/bytes.hpp"

namespace skua {
namespace {

constexpr std::size_t field_bytes = 55;  // of version 00
constexpr std::size_t max_state_bytes = 512;
constexpr std::size_t max_state_members = 32;
constexpr std::size_t max_key_bytes = 256;
constexpr std::size_t max_value_bytes = 256;

void fill_randomly(std::span<std::uint8_t> bytes) {
  for (std::size_t i = 0; i < bytes.size(); i += sizeof(std::uint64_t)) {
    const std::uint64_t word = crypto::random_word() | 1U;  // zeros alone are no identifier
    std::memcpy(&bytes[i], &word, sizeof word);
  }
}

// Parses two digits a byte. §3.2.2: lower case only.
bool parse_hex(std::string_view text, std::span<std::uint8_t> into) noexcept {
  if (!hex::is_lower_text(text, 2 * into.size())) return false;
  for (std::size_t i = 0; i < into.size(); ++i) {
    into[i] = static_cast<std::uint8_t>(ascii::hex_value(text[2 * i]) << 4U |
                                        ascii::hex_value(text[2 * i + 1]));
  }
  return true;
}

template <class Id>
bool parse_id(std::string_view text, Id& into) noexcept {
  return parse_hex(text, into) && into != Id{};
}

std::string hex_text(std::span<const std::uint8_t> bytes) {
  return hex::encode(text(std::as_bytes(bytes)));
}

// §3.3.1.3.1 of level 2, which leaves to vendors what an `@` means.
bool is_state_key(std::string_view key) noexcept {
  const auto is_allowed = [](char c) {
    return ascii::is_digit(c) || (c >= 'a' && c <= 'z') ||
           std::string_view("_-*/@").find(c) != std::string_view::npos;
  };
  const bool begins_well = !key.empty() && (ascii::is_digit(key[0]) || ascii::is_alpha(key[0]));
  return begins_well && key.size() <= max_key_bytes && std::ranges::all_of(key, is_allowed);
}

// §3.3.1.3.2
bool is_state_value(std::string_view value) noexcept {
  return !value.empty() && value.size() <= max_value_bytes && value.back() != ' ' &&
         std::ranges::all_of(value,
                             [](char c) { return c >= ' ' && c <= '~' && c != ',' && c != '='; });
}

bool is_state(std::string_view text) noexcept {
  if (text.size() > max_state_bytes) return false;
  std::size_t members = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    const std::string_view member = ascii::trim_ows(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (member.empty()) continue;
    const std::size_t equals = member.find('=');
    if (equals == member.npos || ++members > max_state_members ||
        !is_state_key(member.substr(0, equals)) || !is_state_value(member.substr(equals + 1))) {
      return false;
    }
  }
  return true;
}

}  // namespace

TraceContext TraceContext::start(bool is_sampled) {
  TraceContext made;
  fill_randomly(made.trace_);
  fill_randomly(made.span_);
  made.is_sampled_ = is_sampled;
  return made;
}

std::optional<TraceContext> TraceContext::parse(std::string_view traceparent,
                                                std::string_view tracestate) {
  if (traceparent.size() < field_bytes || traceparent[2] != '-' || traceparent[35] != '-' ||
      traceparent[52] != '-') {
    return std::nullopt;
  }
  std::array<std::uint8_t, 1> version{};
  std::array<std::uint8_t, 1> flags{};
  TraceContext parsed;
  if (!parse_hex(traceparent.substr(0, 2), version) || version[0] == 0xFF) return std::nullopt;
  // §3.2.4: a later version may have more, after a dash.
  const bool has_more = traceparent.size() > field_bytes;
  if (has_more && (version[0] == 0 || traceparent[field_bytes] != '-')) return std::nullopt;
  if (!parse_id(traceparent.substr(3, 32), parsed.trace_) ||
      !parse_id(traceparent.substr(36, 16), parsed.span_) ||
      !parse_hex(traceparent.substr(53, 2), flags)) {
    return std::nullopt;
  }
  parsed.is_sampled_ = (flags[0] & 1U) != 0;
  if (is_state(tracestate)) parsed.state_ = tracestate;
  return parsed;
}

TraceContext TraceContext::child() const {
  TraceContext next = *this;
  fill_randomly(next.span_);
  return next;
}

std::string TraceContext::traceparent() const {
  return "00-" + trace_id() + "-" + span_id() + (is_sampled_ ? "-01" : "-00");
}

std::string TraceContext::trace_id() const { return hex_text(trace_); }

std::string TraceContext::span_id() const { return hex_text(span_); }

}  // namespace skua
