// SPDX-License-Identifier: MIT
// In: a `.netrc`, or the words of a command line, one per line. Checked: logins survive being
// written and parsed, and errors show none of them; a shell reads a quoted word as the same; and
// the curl command of a request is read as that request.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "get/curl/command.hpp"
#include "get/curl_text.hpp"
#include "get/netrc.hpp"
#include "get/options.hpp"
#include "get/request_content.hpp"
#include "get/request_items.hpp"
#include "get/session.hpp"

namespace {

namespace cli = skua::cli;

using Words = std::vector<std::string>;

void check(bool holds) {
  if (!holds) std::abort();
}

Words lines_of(std::string_view text) {
  Words lines;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    lines.emplace_back(line);
  }
  return lines;
}

std::string netrc_word(std::string_view value) {
  std::string word = "\"";
  for (const char c : value) {
    if (c == '\n') {
      word += "\\n";
    } else {
      if (c == '"' || c == '\\') word += '\\';
      word += c;
    }
  }
  return word + '"';
}

void check_netrc_error(std::string_view text, std::string_view error) {
  constexpr std::string_view known[] = {
      "a word is not machine, default, login, password, account or macdef; values with spaces need "
      "quotes",
      "a value is missing at the end", "a login comes before the first machine",
      "quotes are not closed"};
  constexpr std::string_view begin = "line ";
  check(error.starts_with(begin));
  const std::size_t colon = error.find(": ");
  const auto number = std::stoul(std::string(error.substr(begin.size(), colon - begin.size())));
  check(number >= 1 && number <= 1 + static_cast<std::size_t>(std::ranges::count(text, '\n')));
  check(std::ranges::find(known, error.substr(colon + 2)) != std::end(known));
}

void read_netrc(const std::string& text) {
  const auto read = cli::Netrc::parse(text);
  if (!read) return check_netrc_error(text, read.error().text);
  const auto* const anyone = read->find("example.com");
  if (anyone != nullptr && text.find_first_of("\"\\") == text.npos) {
    check(text.find(anyone->user) != text.npos && text.find(anyone->password) != text.npos);
  }
  check(anyone == nullptr || anyone->password.empty() || read->has_passwords());
  if (anyone != nullptr && !anyone->user.empty()) {
    check(read->find("EXAMPLE.com", anyone->user) == anyone);
  }
}

void write_netrc(const Words& lines) {
  std::string text;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    text.append("machine ").append(netrc_word("host" + std::to_string(i)));
    text.append(i % 2 == 0 ? "\n login " : " login ").append(netrc_word(lines[i]));
    text.append(" password ").append(netrc_word(lines[lines.size() - 1 - i]));
    text += i % 3 == 0 ? " # a comment\n" : "\n";
  }
  const auto read = cli::Netrc::parse(text);
  check(read.has_value());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto* const login = read->find("Host" + std::to_string(i));
    check(login != nullptr && login->user == lines[i]);
    check(login->password == lines[lines.size() - 1 - i]);
  }
}

// Appends what follows a backslash in `$'...'`.
void unescape(std::string_view& text, std::string& word) {
  const auto is_octal = [&](std::size_t at) {
    return at < text.size() && text[at] >= '0' && text[at] <= '7';
  };
  if (!is_octal(0)) {
    word += text.at(0);
    text.remove_prefix(1);
    return;
  }
  unsigned value = 0;
  for (int i = 0; i < 3 && is_octal(0); ++i) {
    value = value * 8 + static_cast<unsigned>(text.front() - '0');
    text.remove_prefix(1);
  }
  word += static_cast<char>(value);
}

/// Splits a command as a POSIX shell does, with `$'...'`. Aborts at what it would expand.
Words split_as_shell(std::string_view text) {
  Words words;
  while (!text.empty()) {
    if (text.front() == ' ') {
      text.remove_prefix(1);
      continue;
    }
    std::string word;
    while (!text.empty() && text.front() != ' ') {
      const bool has_escapes = text.starts_with("$'");
      if (!has_escapes && text.front() != '\'') {
        if (text.front() == '\\')
          text.remove_prefix(1);
        else
          check(std::string_view("$`\"*?[]#~&|;<>(){}!\n\t").find(text.front()) == text.npos);
        word += text.at(0);
        text.remove_prefix(1);
        continue;
      }
      text.remove_prefix(has_escapes ? 2 : 1);
      while (text.at(0) != '\'') {
        const bool is_escape = has_escapes && text.front() == '\\';
        if (!is_escape) word += text.front();
        text.remove_prefix(1);
        if (is_escape) unescape(text, word);
      }
      text.remove_prefix(1);
    }
    words.push_back(std::move(word));
  }
  return words;
}

/// A request of `skua curl`.
struct Line {
  explicit Line(Words words) {
    cli::curl::declare(parser, requests);
    std::ranges::reverse(words);
    parser.parse(std::move(words));  // from the last to the first
    if (requests.all.size() == 1) options = requests.all.front();
  }

  CLI::App parser{"skua curl", "curl"};
  cli::curl::CurlRequests requests{};
  cli::GetOptions options{};
};

// Returns nullopt for requests that need files.
std::optional<std::string> command_of(const Line& line) {
  const cli::GetOptions& options = line.options;
  if (options.urls.empty()) return std::nullopt;  // there are several requests
  if (!options.items.files.empty() || options.netrc.is_wanted) return std::nullopt;
  if (cli::data_file(options) || cli::is_input(options)) return std::nullopt;
  const auto prepared = cli::PreparedRequest::prepare(options);
  if (!prepared) return std::nullopt;
  return cli::curl_text(options, *prepared);
}

Words sorted(Words words) {
  std::ranges::sort(words);
  return words;
}

void read_command(Words words) {
  // Values that begin so name files, which a fuzzer must not choose.
  const bool names_files = std::ranges::any_of(words, [](const std::string& word) {
    return word.find_first_of("@<") != word.npos && !word.starts_with("http");
  });
  if (names_files || words.size() > 30) return;
  words.insert(words.begin(), "-s");
  std::optional<std::string> command;
  try {
    command = command_of(Line(words));
  } catch (const CLI::Error&) {
    return;
  }
  if (!command) return;
  Words again = split_as_shell(*command);
  check(!again.empty() && again.front() == "curl");
  again.front() = "-s";
  const auto same = command_of(Line(again));
  check(same.has_value());
  // A Content-Type that was made is one that is given now, which is at another place.
  check(sorted(split_as_shell(*same)) == sorted(split_as_shell(*command)));
}

std::string escaped(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if (std::string_view(":=@\\").find(c) != std::string_view::npos) text += '\\';
    text += c;
  }
  return text;
}

void read_words(const Words& words) {
  for (const std::string& word : words) {
    const std::string quoted = cli::shell_word(word);
    check(std::ranges::all_of(quoted, [](char c) { return c != '\n' && c != '\x1b'; }));
    check(split_as_shell(quoted) == Words{word});
    check(!cli::is_session_name(word) ||
          (word.find_first_of("/\\:") == word.npos && !word.starts_with('.')));
    if (const auto field = cli::parse_field(word)) {
      const auto again = cli::parse_field(field->name + ": " + field->value.value_or(""));
      check(again && again->name == field->name && again->value == field->value);
    }
    cli::RequestItems items;
    static_cast<void>(cli::add_item(items, word));
    if (word.empty()) continue;
    items = {};
    check(cli::add_item(items, escaped(word) + "==" + word).has_value());
    check(items.query.size() == 1 && items.query[0] == std::pair(word, word));
    check(cli::add_item(items, escaped(word) + "=" + "x" + word).has_value());
    check(items.data.size() == 1 && items.data[0].name == word &&
          items.data[0].value == "x" + word);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 4096) return 0;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const Words words = lines_of(text);
  read_netrc(text);
  write_netrc(words);
  read_words(words);
  if (text.find('\0') == text.npos) read_command(words);
  return 0;
}
