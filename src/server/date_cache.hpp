// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <chrono>
#include <string>
#include <string_view>

#include "base/http_date.hpp"
#include "base/later.hpp"
#include "loop/clock.hpp"
#include "skua/response.hpp"

namespace skua::server {

/// The field lines that stand in every response, Date and Server, ready to be sent; made once a
/// second.
///
/// RFC:       9110 §6.6.1, §10.2.4
class DateCache {
 public:
  /// The Date line comes first and is this long; the rest is the Server line.
  static constexpr std::size_t date_line_bytes = 6 + http_date_bytes + 2;

  /// An empty name leaves Server out.
  explicit DateCache(std::string_view server_name) : lines_(date_line_bytes, ' ') {
    lines_.replace(0, 6, "Date: ").replace(date_line_bytes - 2, 2, "\r\n");
    if (!server_name.empty()) lines_.append("Server: ").append(server_name).append("\r\n");
  }

  /// Brings everything up to a loop's `now`; the wall clock is read only when a second has passed.
  void update(loop::Instant now) {
    if (now >= renew_at_) renew(now);
  }

  /// Date and Server.
  [[nodiscard]] std::string_view lines() const noexcept { return lines_; }
  /// Their values.
  [[nodiscard]] std::string_view date() const noexcept {
    return std::string_view(lines_).substr(6, http_date_bytes);
  }
  [[nodiscard]] std::string_view server() const noexcept {
    if (lines_.size() == date_line_bytes) return {};
    std::string_view line = std::string_view(lines_).substr(date_line_bytes + 8);
    line.remove_suffix(2);
    return line;
  }
  /// From `HTTP/1.1 200 OK` to `Content-Length: `; empty for a type that is not one of Response's
  /// constants.
  [[nodiscard]] std::string_view start_of_ok(std::string_view static_type) const noexcept {
    for (std::size_t i = 0; i < usual_types.size(); ++i) {
      if (static_type.data() == usual_types[i].data()) return starts_[i];
    }
    return {};
  }

 private:
  static constexpr std::array usual_types{Response::plain_text, Response::html_text,
                                          Response::json_text};

  void renew(loop::Instant now) {
    const auto wall = std::chrono::system_clock::now();
    const auto second = std::chrono::floor<std::chrono::seconds>(wall);
    format_http_date(second, std::span<char, http_date_bytes>(lines_.data() + 6, http_date_bytes));
    renew_at_ = later(now, Duration(second + std::chrono::seconds(1) - wall));
    for (std::size_t i = 0; i < usual_types.size(); ++i) {
      starts_[i].assign("HTTP/1.1 200 OK\r\n").append(lines_).append("Content-Type: ");
      starts_[i].append(usual_types[i]).append("\r\nContent-Length: ");
    }
  }

  loop::Instant renew_at_ = loop::Instant::min();
  std::string lines_;
  std::array<std::string, usual_types.size()> starts_;
};

}  // namespace skua::server
