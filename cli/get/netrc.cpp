// SPDX-License-Identifier: MIT
// In: the text of a .netrc file. Out: its logins. Nothing of the file is ever shown, as any word
// may be a password.
#include "get/netrc.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/ascii.hpp"
#include "file_access.hpp"
#include "get/report.hpp"
#include "get/request_items.hpp"

namespace skua::cli {
namespace {

constexpr std::string_view blanks = " \t\r\n\f\v";

}  // namespace

/// Splits the text into words.
class Netrc::Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  /// Returns the next word; nullopt at the end, or after an error.
  std::optional<std::string> word() {
    skip_blanks();
    if (rest_.empty()) return std::nullopt;
    if (rest_.front() == '"') return quoted();
    const std::string_view word = rest_.substr(0, rest_.find_first_of(blanks));
    advance(word.size());
    return std::string(word);
  }
  /// Like word(), but skips comments: a value may begin with the same character.
  std::optional<std::string> keyword() {
    for (skip_blanks(); rest_.starts_with('#'); skip_blanks()) advance(rest_.find('\n'));
    return word();
  }
  /// Skips to the next empty line.
  void skip_macro() {
    advance(rest_.find('\n'));
    while (!rest_.empty()) {
      advance(1);
      const std::string_view line = rest_.substr(0, rest_.find('\n'));
      if (line.find_first_not_of(blanks) == line.npos) return;
      advance(line.size());
    }
  }
  [[nodiscard]] Problem wrong(const std::string& what) const {
    return {.error = Errc::MalformedForm, .text = "line " + std::to_string(line_) + ": " + what};
  }
  [[nodiscard]] bool has_open_quotes() const noexcept { return has_open_quotes_; }

 private:
  void advance(std::size_t count) {
    const std::string_view passed = rest_.substr(0, count);
    line_ += static_cast<std::size_t>(std::ranges::count(passed, '\n'));
    rest_.remove_prefix(passed.size());
  }
  void skip_blanks() { advance(std::min(rest_.find_first_not_of(blanks), rest_.size())); }

  // Quotes have to be closed in the same line, so that an error does not swallow the rest.
  std::optional<std::string> quoted() {
    std::string word;
    for (std::size_t at = 1; at < rest_.size() && rest_[at] != '\n'; ++at) {
      if (rest_[at] == '"') {
        advance(at + 1);
        return word;
      }
      const bool is_escape = rest_[at] == '\\' && at + 1 < rest_.size() && rest_[at + 1] != '\n';
      if (is_escape) ++at;
      word.push_back(is_escape ? unescaped(rest_[at]) : rest_[at]);
    }
    has_open_quotes_ = true;
    return std::nullopt;
  }
  static char unescaped(char c) noexcept {
    return c == 'n' ? '\n' : c == 'r' ? '\r' : c == 't' ? '\t' : c;
  }

  std::string_view rest_;
  std::size_t line_ = 1;
  bool has_open_quotes_ = false;
};

Result<Netrc, Problem> Netrc::parse(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  Reader reader(text);
  Netrc made;
  while (const std::optional<std::string> key = reader.keyword()) {
    if (*key == "default") {
      made.entries_.emplace_back().is_default = true;
      continue;
    }
    const bool is_known = *key == "machine" || *key == "login" || *key == "password" ||
                          *key == "account" || *key == "macdef";
    if (!is_known) {
      return reader.wrong(
          "a word is not machine, default, login, password, account or macdef; values with spaces "
          "need quotes");
    }
    std::optional<std::string> value = reader.word();
    if (!value && reader.has_open_quotes()) break;
    if (!value) return reader.wrong("a value is missing at the end");
    if (*key == "macdef") {
      reader.skip_macro();
    } else if (*key == "machine") {
      made.entries_.emplace_back().host = *std::move(value);
    } else if (made.entries_.empty()) {
      return reader.wrong("a login comes before the first machine");
    } else if (*key == "login") {
      made.entries_.back().login.user = *std::move(value);
      made.entries_.back().has_user = true;
    } else if (*key == "password") {
      made.entries_.back().login.password = *std::move(value);
    }
  }
  if (reader.has_open_quotes()) return reader.wrong("quotes are not closed");
  return made;
}

const Netrc::Login* Netrc::find(std::string_view host, std::string_view user) const noexcept {
  const auto fits = [user](const Entry& entry) {
    return entry.has_user && (user.empty() || entry.login.user == user);
  };
  auto found = std::ranges::find_if(entries_, [&](const Entry& entry) {
    return !entry.is_default && ascii::equals_ignoring_case(entry.host, host) && fits(entry);
  });
  if (found == entries_.end()) {
    found = std::ranges::find_if(
        entries_, [&](const Entry& entry) { return entry.is_default && fits(entry); });
  }
  return found == entries_.end() ? nullptr : &found->login;
}

bool Netrc::has_passwords() const noexcept {
  return std::ranges::any_of(entries_,
                             [](const Entry& entry) { return !entry.login.password.empty(); });
}

namespace {

// The variable counts as the user's own file: it has to exist.
std::string own_path() {
  for (const char* const name : {"HOME", "USERPROFILE"}) {
    const char* const home = std::getenv(name);
    if (home == nullptr || *home == '\0') continue;
    const std::filesystem::path path = std::filesystem::path(home) / ".netrc";
    std::error_code ignored;
    if (std::filesystem::exists(path, ignored)) return path.string();
  }
  return {};
}

}  // namespace

Result<std::optional<Netrc>, Problem> read_netrc(const NetrcOptions& options) {
  if (!options.is_wanted) return std::optional<Netrc>();
  std::string path = options.path;
  const char* const variable = std::getenv("NETRC");
  if (path.empty() && variable != nullptr) path = variable;
  if (path.empty()) path = own_path();
  if (path.empty()) return std::optional<Netrc>();
  const Result<std::string, Problem> text = read_file(path);
  if (!text) return text.error();
  Result<Netrc, Problem> read = Netrc::parse(*text);
  if (!read) {
    Problem problem = read.error();
    problem.text.insert(0, path + ", ");
    return problem;
  }
  if (read->has_passwords() && is_readable_by_others(path)) {
    const std::string warning =
        complaint("WARNING: other users can read the passwords in " + path + ": chmod 600 it");
    std::fwrite(warning.data(), 1, warning.size(), stderr);
  }
  return std::optional<Netrc>(*std::move(read));
}

}  // namespace skua::cli
