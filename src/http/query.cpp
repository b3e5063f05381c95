// SPDX-License-Identifier: MIT
// In: a raw query string. Out: its pairs, one at a time and still encoded, and the decoding of a
// text. Lookups copy nothing: names are compared while they are decoded.
#include "http/query.hpp"

#include "base/percent.hpp"

namespace skua::http {
namespace {

struct Octet {
  char value;
  std::size_t size;  // of its encoded form
};

Octet first_octet(std::string_view encoded) noexcept {
  const char c = encoded.front();
  if (c == '+') return {' ', 1};
  if (percent::has_triplet(encoded)) {
    return {percent::triplet_octet(encoded), percent::triplet_bytes};
  }
  return {c, 1};
}

}  // namespace

std::optional<QueryPair> take_pair(std::string_view& query) noexcept {
  while (!query.empty()) {
    const std::size_t end = query.find('&');
    const std::string_view pair = query.substr(0, end);
    query = end == query.npos ? std::string_view{} : query.substr(end + 1);
    if (pair.empty()) continue;
    const std::size_t equals = pair.find('=');
    if (equals == pair.npos) return QueryPair{pair, {}};
    return QueryPair{pair.substr(0, equals), pair.substr(equals + 1)};
  }
  return std::nullopt;
}

bool is_encoded(std::string_view text) noexcept { return text.find_first_of("%+") != text.npos; }

std::size_t decode_form(std::string_view encoded, char* out) noexcept {
  std::size_t size = 0;
  while (!encoded.empty()) {
    const Octet octet = first_octet(encoded);
    out[size++] = octet.value;
    encoded.remove_prefix(octet.size);
  }
  return size;
}

bool decodes_to(std::string_view encoded, std::string_view text) noexcept {
  if (encoded.size() < text.size()) return false;
  while (!encoded.empty()) {
    const Octet octet = first_octet(encoded);
    if (text.empty() || text.front() != octet.value) return false;
    text.remove_prefix(1);
    encoded.remove_prefix(octet.size);
  }
  return text.empty();
}

}  // namespace skua::http
