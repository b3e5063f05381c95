// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "get/options.hpp"
#include "get/request_items.hpp"
#include "skua/cookie_jar.hpp"
#include "skua/error.hpp"

namespace skua::cli {

/// Reports whether a text can be the name of a session, and so of a file.
bool is_session_name(std::string_view name) noexcept;

/// Cookies and headers that are kept between commands, for one name and one origin: scheme, host
/// and port. The file is a `cookies.txt` with a comment `#header Name: value` for each header. Only
/// its owner can read it. Its calls block.
class Session final {
 public:
  /// Reads the session of the options, if it exists.
  ///
  /// Ends with: Unsupported for URLs of several origins, or without a folder for settings; file
  ///            system errors. All with a text.
  static Result<Session, Problem> open(const GetOptions& options);

  /// Takes over the headers of the command line, and gives it those that it lacks.
  void exchange_headers(GetOptions& options);
  /// Adds the kept cookies to a jar.
  void fill(CookieJar& jar, std::chrono::sys_seconds now) const;
  /// Writes the session with the cookies of a jar, atomically.
  Result<void, Problem> save(const CookieJar& jar, std::chrono::sys_seconds now) const;

  /// The number of lines of the file that are not valid headers.
  [[nodiscard]] std::size_t dropped() const noexcept { return dropped_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  void read(std::string_view text);

  std::string folder_;
  std::string path_;
  std::string text_;  // as read
  std::vector<RequestItems::Field> headers_;
  std::size_t dropped_ = 0;
};

}  // namespace skua::cli
