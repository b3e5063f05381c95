// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "skua/error.hpp"
#include "skua/options.hpp"

namespace skua::operations {

/// The time of a line, in UTC.
using LogTime = std::chrono::sys_time<std::chrono::milliseconds>;

/// The longest part of a text that lines keep.
inline constexpr std::size_t max_logged_bytes = 2048;

// Each function below formats one line, with its line feed. Whatever a peer sends is escaped and
// truncated to max_logged_bytes, so that no request can forge a line, fill the disk with one, or
// send control sequences to a terminal. Lines are printable ASCII.

/// Formats a line in the combined format.
///
/// `192.0.2.1 - ada [14/Nov/2023:22:13:20 +0000] "GET / HTTP/1.1" 200 512 "-" "curl/8.0"`
///
/// The line ends with ` cut` if the response was not sent completely. Bytes are escaped as `\x1B`,
/// quotes as `\"`.
std::string combined_line(const RequestRecord& record, LogTime now);

/// Formats a line as a JSON object. Empty texts are left out, and `cut` unless it is true.
///
/// `{"time":"2023-11-14T22:13:20.000Z","address":"192.0.2.1","method":"GET","target":"/",...}`
///
/// `peer`, the connection's, is left out unless its address is another one.
/// Characters beyond ASCII are escaped; bytes that are not UTF-8 become U+FFFD.
///
/// RFC:       8259, 3339
std::string json_line(const RequestRecord& record, LogTime now);

/// A format of its user: a text with words such as `$status`, which lines replace by values.
class LogPattern final {
 public:
  /// Parses a pattern. `$$` stands for a dollar sign.
  ///
  /// Words of nginx's log formats are known, too, if their values are.
  ///
  /// Ends with: MalformedText for an unknown word, no word at all, or control characters other
  ///            than tabs; the text lists the words.
  static Result<LogPattern, Problem> parse(std::string_view text);

  /// Formats a line. A missing value is `-`; bytes are escaped as in combined_line().
  [[nodiscard]] std::string line(const RequestRecord& record, LogTime now) const;

 private:
  /// A text, followed by the value of a word.
  struct Part {
    std::string before{};
    std::size_t word = 0;  // its place in the table
  };

  std::vector<Part> parts_;
  std::string after_;
};

// The parts of lines, for log_line_*.cpp.

/// Appends a text with escapes such as `\x1B` and `\"`.
void append_escaped(std::string& out, std::string_view text);
/// Appends a number with leading zeros.
void append_number(std::string& out, std::uint64_t value, std::size_t min_digits = 1);
/// Appends `2023-11-14T22:13:20.000Z`.
void append_timestamp(std::string& out, LogTime now);
/// Appends `14/Nov/2023:22:13:20 +0000`.
void append_log_time(std::string& out, LogTime now);
/// Appends seconds with microseconds: `0.001234`.
void append_seconds(std::string& out, Duration time);
/// Strips the port from `192.0.2.1:4711`, and also the brackets from `[2001:db8::1]:4711`.
std::string_view address_of(std::string_view peer) noexcept;
/// Returns the client's address; that of the connection if it is not known.
std::string_view client_of(const RequestRecord& record) noexcept;
/// Returns the method as sent, also for records made without it.
std::string_view method_name_of(const RequestRecord& record) noexcept;
/// Returns why a response is cut: `peer left`; empty if it is complete.
std::string_view end_text(ResponseEnd end) noexcept;
/// Returns `TLSv1.3`.
std::string_view version_name(TlsVersion version) noexcept;
/// Returns `HTTP/1.1`.
std::string_view version_name(Version version) noexcept;

}  // namespace skua::operations
