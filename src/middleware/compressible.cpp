// SPDX-License-Identifier: MIT
// In: a Content-Type. Out: whether it is worth compressing. Types missing from the table are not:
// most unknown types are compressed already, and trying costs time.
#include "middleware/compressible.hpp"

#include <algorithm>
#include <array>

#include "base/ascii.hpp"

namespace skua::middleware {
namespace {

constexpr std::array types = {
    std::string_view("application/ecmascript"),
    std::string_view("application/graphql"),
    std::string_view("application/javascript"),
    std::string_view("application/json"),
    std::string_view("application/jsonl"),
    std::string_view("application/ndjson"),
    std::string_view("application/rtf"),
    std::string_view("application/sql"),
    std::string_view("application/toml"),
    std::string_view("application/vnd.ms-fontobject"),
    std::string_view("application/wasm"),
    std::string_view("application/x-javascript"),
    std::string_view("application/x-ndjson"),
    std::string_view("application/x-sh"),
    std::string_view("application/xml"),
    std::string_view("application/yaml"),
    std::string_view("font/collection"),
    std::string_view("font/otf"),
    std::string_view("font/ttf"),
    std::string_view("image/bmp"),
    std::string_view("image/vnd.microsoft.icon"),
    std::string_view("image/x-icon"),
};

constexpr bool ends_with(std::string_view text, std::string_view end) noexcept {
  return text.size() >= end.size() &&
         ascii::equals_ignoring_case(text.substr(text.size() - end.size()), end);
}

}  // namespace

bool is_compressible(std::string_view content_type) noexcept {
  const std::string_view type = ascii::trim_ows(content_type.substr(0, content_type.find(';')));
  if (ascii::equals_ignoring_case(type.substr(0, 5), "text/")) return true;
  // RFC 6839 §3.1, RFC 7303 §4.2: structured syntax suffixes
  if (ends_with(type, "+json") || ends_with(type, "+xml") || ends_with(type, "+yaml")) return true;
  return std::any_of(types.begin(), types.end(), [type](std::string_view known) {
    return ascii::equals_ignoring_case(type, known);
  });
}

}  // namespace skua::middleware
