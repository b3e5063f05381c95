// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "crypto/keyed_hash.hpp"
#include "skua/error.hpp"

namespace skua::cli {

/// The users of an htpasswd file, a line `USER:HASH` each. Blank lines and those that start with
/// `#` are skipped. Any thread may use the const members.
class PasswordFile {
 public:
  /// Parses the text of a file.
  ///
  /// Ends with: a text that names the line and the user, never the hash (it may be a password), if
  ///            a line is malformed, a hash unusable, a user there twice, or if there is none.
  static Result<PasswordFile, Problem> parse(std::string_view text);

  /// Reports whether verify() returned true for this login. Takes no time to speak of.
  [[nodiscard]] bool is_verified(std::string_view user, std::string_view password) const;
  /// Hashes the password, and reports whether it is the user's; true is remembered. An unknown user
  /// takes as long as one of the known ones.
  [[nodiscard]] bool verify(std::string_view user, std::string_view password) const;

  /// Remembers what `before` does of the users whose hashes are the same.
  void take_over(const PasswordFile& before);

 private:
  /// Identifies a login without revealing it: two hashes with secret keys.
  using Tag = std::array<std::uint64_t, 2>;

  // The login that was verified last. A user has one password, so there is one; a reader that sees
  // halves of two sees a tag that no login has.
  struct Verified {
    std::array<std::atomic<std::uint64_t>, 2> tag{};
  };
  struct User {
    std::string hash;
    std::unique_ptr<Verified> verified;
  };

  PasswordFile() = default;
  [[nodiscard]] Tag tag_of(std::string_view user, std::string_view password) const;
  [[nodiscard]] const User* find(std::string_view name) const;
  [[nodiscard]] const std::string& hash_for_unknown(std::string_view name) const;

  std::array<crypto::KeyedHash, 2> keyed_;
  std::unordered_map<std::string, std::size_t> index_;  // of users_
  std::vector<User> users_;
};

}  // namespace skua::cli
