// SPDX-License-Identifier: MIT
// In: a name. Out: its numbers, and a process that belongs to that user only.
#include "serve/sandbox/user.hpp"

#include <grp.h>
#include <pwd.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

namespace skua::cli {
namespace {

std::optional<unsigned> id_in(std::string_view text) noexcept {
  unsigned value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  // The largest one means "unchanged" to setuid() and its kin.
  if (failure != std::errc() || end != text.data() + text.size() || value == ~0U) return {};
  return value;
}

Problem no_such(const char* kind, const std::string& name) {
  return {Error(Errc::NotFound, "--user"),
          std::string("--user: there is no ") + kind + " \"" + name + "\""};
}

// Reports whether this process belongs to the user already.
bool is_already(const User& user) noexcept {
  return ::getuid() == user.id && ::geteuid() == user.id && ::getgid() == user.group &&
         ::getegid() == user.group;
}

Problem cannot_become(const User& user, int why) {
  std::string text =
      "cannot become user \"" + user.name + "\": " + std::generic_category().message(why);
  if (::geteuid() != 0) text += "; --user needs root";
  return {Error(Errc::PermissionDenied, "--user", why), std::move(text)};
}

}  // namespace

// Runs before threads start, so that the functions without locks may be used.
Result<User, Problem> find_user(const std::string& text) {
  const std::size_t colon = text.find(':');
  User user{.name = text.substr(0, colon)};
  const std::optional<unsigned> id = id_in(user.name);
  const passwd* const entry = id ? ::getpwuid(*id) : ::getpwnam(user.name.c_str());
  if (entry != nullptr) {
    user.id = entry->pw_uid;
  } else if (id) {
    user.id = *id;
  } else {
    return no_such("user", user.name);
  }
  if (colon == std::string::npos) {
    if (entry != nullptr) {
      user.group = entry->pw_gid;
      return user;
    }
    return Problem{Error(Errc::NotFound, "--user"),
                   "--user: user " + user.name +
                       " has no entry, so its group is needed: " + user.name + ":GROUP"};
  }
  const std::string group = text.substr(colon + 1);
  if (const std::optional<unsigned> group_id = id_in(group)) {
    user.group = *group_id;
    return user;
  }
  const ::group* const found = ::getgrnam(group.c_str());
  if (found == nullptr) return no_such("group", group);
  user.group = found->gr_gid;
  return user;
}

Result<void, Problem> become(const User& user) {
  if (is_already(user)) return {};
  const gid_t group = user.group;
  // From root, the last two set the real, the effective and the saved id.
  if (::setgroups(1, &group) != 0 || ::setgid(group) != 0 || ::setuid(user.id) != 0) {
    return cannot_become(user, errno);
  }
  if (!is_already(user) || (user.id != 0 && ::setuid(0) == 0)) return cannot_become(user, EPERM);
  return {};
}

}  // namespace skua::cli
