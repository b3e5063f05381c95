// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "skua/error.hpp"

namespace skua::cli {

/// The logins of a `.netrc` file, as ftp(1) and curl know it.
///
/// ```
/// machine example.com login ada password "two words"   # words in any lines
/// default login anonymous password x                    for all other hosts
/// macdef init                                           skipped, to the next empty line
/// ```
class Netrc final {
 public:
  struct Login {
    std::string user{};
    std::string password{};

    friend bool operator==(const Login&, const Login&) = default;
  };

  /// Parses the text of a file. In quotes, a backslash keeps the next character as it is, except
  /// for `\n`, `\r` and `\t`.
  ///
  /// Ends with: MalformedForm; the text has the number of the line, but no word of it.
  static Result<Netrc, Problem> parse(std::string_view text);

  /// Returns the first login of a host, or else the default; with a user, the first of that user.
  /// Null if there is none.
  [[nodiscard]] const Login* find(std::string_view host, std::string_view user = {}) const noexcept;
  /// Reports whether any entry has a password.
  [[nodiscard]] bool has_passwords() const noexcept;

 private:
  struct Entry {
    std::string host{};
    Login login{};
    bool is_default = false;
    bool has_user = false;
  };
  class Reader;

  std::vector<Entry> entries_;
};

/// Which `.netrc` is used, if any.
struct NetrcOptions {
  bool is_wanted = false;
  std::string path{};  ///< empty: $NETRC, or .netrc in the home folder, which may be missing
};

/// Reads the file that the options name; nullopt if none is wanted, or the user has none. Warns on
/// stderr if other users can read its passwords.
///
/// Ends with: the errors of read_file() and Netrc::parse(), with the path.
Result<std::optional<Netrc>, Problem> read_netrc(const NetrcOptions& options);

}  // namespace skua::cli
