// SPDX-License-Identifier: MIT
// In: an htpasswd file, and logins. Out: whether a login is right. Hashes are slow to compute, so a
// verified login is remembered, as a value from which it cannot be computed.
#include "serve/auth/password_file.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/ascii.hpp"
#include "serve/auth/password_hash.hpp"

namespace skua::cli {
namespace {

Problem at_line(std::size_t number, const std::string& text) {
  return {Error(Errc::MalformedField, "htpasswd"), "line " + std::to_string(number) + ": " + text};
}

std::string unusable(const std::string& user, const std::string& flaw) {
  std::string text = "the password of " + user;
  text.append(" ").append(flaw).append("\nMake a new line with `htpasswd -nB ").append(user);
  return text.append("`.");
}

// Returns the next line without its end, and removes it from the text.
std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text.remove_prefix(end == text.npos ? text.size() : end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

}  // namespace

Result<PasswordFile, Problem> PasswordFile::parse(std::string_view text) {
  PasswordFile file;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = take_line(text);
    if (line.empty() || line.starts_with('#')) continue;
    const std::size_t colon = line.find(':');
    if (colon == 0 || colon == line.npos) return at_line(number, "it is not USER:HASH");
    const std::string user(line.substr(0, colon));
    if (!std::ranges::all_of(user, ascii::is_field_value)) {
      return at_line(number, "the name contains a control character");
    }
    std::string hash(line.substr(colon + 1));
    const std::string flaw = hash_flaw(hash);
    if (!flaw.empty()) return at_line(number, unusable(user, flaw));
    const bool is_new = file.index_.emplace(user, file.users_.size()).second;
    if (!is_new) return at_line(number, "the user " + user + " is there already");
    file.users_.push_back({std::move(hash), std::make_unique<Verified>()});
  }
  if (file.users_.empty()) {
    return Problem{Error(Errc::MalformedField, "htpasswd"), "it names no user"};
  }
  return file;
}

PasswordFile::Tag PasswordFile::tag_of(std::string_view user, std::string_view password) const {
  const std::string login = std::string(user) + ':' + std::string(password);
  return {keyed_[0](login), keyed_[1](login)};
}

const PasswordFile::User* PasswordFile::find(std::string_view name) const {
  const auto found = index_.find(std::string(name));
  return found == index_.end() ? nullptr : &users_[found->second];
}

// Some files have hashes of several kinds. A name has always the same one, or its changing times
// would tell that it is unknown.
const std::string& PasswordFile::hash_for_unknown(std::string_view name) const {
  return users_[keyed_[0](name) % users_.size()].hash;
}

bool PasswordFile::is_verified(std::string_view user, std::string_view password) const {
  const Tag tag = tag_of(user, password);
  const User* const known = find(user);
  return known != nullptr && known->verified->tag[0] == tag[0] && known->verified->tag[1] == tag[1];
}

bool PasswordFile::verify(std::string_view user, std::string_view password) const {
  if (is_verified(user, password)) return true;  // by now
  const User* const known = find(user);
  const std::string& hash = known != nullptr ? known->hash : hash_for_unknown(user);
  const bool is_right = has_hash(std::string(password), hash);
  if (known == nullptr || !is_right) return false;
  const Tag tag = tag_of(user, password);
  known->verified->tag[0] = tag[0];
  known->verified->tag[1] = tag[1];
  return true;
}

void PasswordFile::take_over(const PasswordFile& before) {
  keyed_ = before.keyed_;
  for (const auto& [name, place] : index_) {
    const User* const old = before.find(name);
    if (old == nullptr || old->hash != users_[place].hash) continue;
    users_[place].verified->tag[0] = old->verified->tag[0].load();
    users_[place].verified->tag[1] = old->verified->tag[1].load();
  }
}

}  // namespace skua::cli
