// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/http_date.hpp"
#include "http/message/field.hpp"
#include "http/message/response_parts.hpp"
#include "loop/clock.hpp"
#include "skua/response.hpp"

namespace skua::server {

/// The field lines Date and Server of every response, ready to be sent. Renewed once a second.
///
/// RFC:       9110 §6.6.1, §10.2.4
class DateCache {
 public:
  /// The Date line comes first and is this long; the rest is the Server line.
  static constexpr std::size_t date_line_bytes = 6 + http_date_bytes + 2;

  /// An empty name omits Server.
  explicit DateCache(std::string_view server_name) : lines_(date_line_bytes, ' ') {
    lines_.replace(0, 6, "Date: ").replace(date_line_bytes - 2, 2, "\r\n");
    if (!server_name.empty()) lines_.append("Server: ").append(server_name).append("\r\n");
  }

  /// Updates the lines to the loop's `now`. Reads the wall clock only once a second has passed.
  void update(loop::Instant now) {
    if (now >= renew_at_) renew(now);
  }

  /// Returns the lines of Date and Server.
  [[nodiscard]] std::string_view lines() const noexcept { return lines_; }
  /// Returns the value of Date.
  [[nodiscard]] std::string_view date() const noexcept {
    return std::string_view(lines_).substr(6, http_date_bytes);
  }
  /// Returns the value of Server, or an empty view if it is omitted.
  [[nodiscard]] std::string_view server() const noexcept {
    const std::string_view line = std::string_view(lines_).substr(date_line_bytes);
    return line.empty() ? line : line.substr(8, line.size() - 10);
  }
  /// Returns the head from `HTTP/1.1 200 OK` to `Content-Length: ` with one of
  /// http::ResponseAccess::known_types(). Empty for index 0, which stands for other types.
  [[nodiscard]] std::string_view start_of_ok(std::size_t known_type) const noexcept {
    return starts_[known_type];
  }

 private:
  static constexpr std::span<const std::string_view> types = http::ResponseAccess::known_types();

  SKUA_COLD void renew(loop::Instant now) {
    const auto wall = std::chrono::system_clock::now();
    const auto second = std::chrono::floor<std::chrono::seconds>(wall);
    format_http_date(second, std::span<char, http_date_bytes>(lines_.data() + 6, http_date_bytes));
    for (std::size_t i = 1; i < types.size(); ++i) {
      starts_[i].assign("HTTP/1.1 200 OK\r\n").append(lines_).append("Content-Type: ");
      starts_[i].append(types[i]).append("\r\nContent-Length: ");
    }
    // Last: if memory runs out, the next response renews them again.
    renew_at_ = later(now, Duration(second + std::chrono::seconds(1) - wall));
  }

  loop::Instant renew_at_ = loop::Instant::min();
  std::string lines_;
  std::array<std::string, types.size()> starts_;
};

/// Reports whether a set of FieldLines::known() contains a field.
constexpr bool has(std::uint64_t known, http::FieldName field) noexcept {
  return (known >> static_cast<unsigned>(field) & 1U) != 0;
}

/// Returns those lines of Date and Server that the handler has not set itself.
inline std::string_view standard_fields(const Response& response, std::string_view lines) noexcept {
  const std::uint64_t known = response.known_fields();
  if (has(known, http::FieldName::Server)) lines = lines.substr(0, DateCache::date_line_bytes);
  if (has(known, http::FieldName::Date)) lines.remove_prefix(DateCache::date_line_bytes);
  return lines;
}

}  // namespace skua::server
