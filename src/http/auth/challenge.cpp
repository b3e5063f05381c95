// SPDX-License-Identifier: MIT
// In: a field with challenges, credentials or parameters. Out: values.
// Commas separate parameters as well as challenges (RFC 9110 §11.6.1), so the text after a word
// decides: `word =` is a parameter of the previous challenge, any other word starts a new one.
#include "http/auth/challenge.hpp"

#include <algorithm>

#include "base/ascii.hpp"

namespace skua {
namespace http {
namespace {

constexpr Error malformed_challenge{Errc::MalformedChallenge};

constexpr bool is_token68_letter(char c) noexcept {
  return ascii::is_alpha(c) || ascii::is_digit(c) ||
         std::string_view("-._~+/").find(c) != std::string_view::npos;
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), ascii::to_lower);
  return out;
}

// A scanner from left to right that inspects every byte at most twice.
class Reader {
 public:
  explicit Reader(std::string_view text) noexcept : rest_(text) {}

  [[nodiscard]] bool is_at_end() const noexcept { return rest_.empty(); }
  [[nodiscard]] bool is_at(char c) const noexcept { return !rest_.empty() && rest_.front() == c; }
  [[nodiscard]] bool ends_element() const noexcept { return is_at_end() || is_at(','); }
  void skip(std::size_t count) noexcept { rest_.remove_prefix(count); }
  void skip_space() noexcept {
    while (!rest_.empty() && ascii::is_ows(rest_.front())) skip(1);
  }
  // RFC 9110 §5.6.1.2: empty elements are ignored.
  void skip_separators() noexcept {
    while (!rest_.empty() && (ascii::is_ows(rest_.front()) || rest_.front() == ',')) skip(1);
  }
  std::string_view token() noexcept { return take(ascii::is_token); }

  // Takes a token68 if it fills the element; otherwise takes nothing.
  std::string_view token68() noexcept {
    const std::size_t size = std::min(rest_.find_first_of(", \t"), rest_.size());
    const std::string_view text = rest_.substr(0, size);
    Reader after(rest_.substr(size));
    after.skip_space();
    if (!is_token68(text) || !after.ends_element()) return {};
    *this = after;
    return text;
  }

  // Takes a token or a quoted string.
  Result<std::string> value() {
    if (!is_at('"')) {
      const std::string_view plain = token();
      if (plain.empty()) return malformed_challenge;
      return std::string(plain);
    }
    std::string out;
    for (std::size_t i = 1; i < rest_.size(); ++i) {
      if (rest_[i] == '"') {
        skip(i + 1);
        return out;
      }
      if (rest_[i] == '\\') ++i;
      if (i == rest_.size() || !ascii::is_field_value(rest_[i])) break;
      out += rest_[i];
    }
    return malformed_challenge;
  }

 private:
  template <class Predicate>
  std::string_view take(Predicate is_wanted) noexcept {
    std::size_t size = 0;
    while (size < rest_.size() && is_wanted(rest_[size])) ++size;
    const std::string_view taken = rest_.substr(0, size);
    skip(size);
    return taken;
  }

  std::string_view rest_;
};

// Reads the rest of a parameter after `name BWS`; the reader is at the '='.
Result<void> read_parameter(Reader& reader, std::string_view name, Challenge& challenge) {
  std::string key = lower(name);
  // RFC 9110 §11.2: each name occurs once.
  if (challenge.find(key) != nullptr || !challenge.token.empty()) return malformed_challenge;
  if (challenge.parameters.size() == max_challenge_parameters) return malformed_challenge;
  reader.skip(1);
  reader.skip_space();
  auto value = reader.value();
  if (!value) return value.error();
  reader.skip_space();
  if (!reader.ends_element()) return malformed_challenge;
  challenge.parameters.push_back({std::move(key), *std::move(value)});
  return {};
}

// Reads one element: a parameter of the last challenge, or a scheme and its first value, if any.
Result<void> read_element(Reader& reader, std::vector<Challenge>& challenges) {
  const std::string_view word = reader.token();
  if (word.empty()) return malformed_challenge;
  const bool has_space = reader.is_at(' ');
  reader.skip_space();
  if (reader.is_at('=')) {
    if (challenges.empty()) return malformed_challenge;
    return read_parameter(reader, word, challenges.back());
  }
  if (challenges.size() == max_challenges) return malformed_challenge;
  challenges.push_back({std::string(word), {}, {}});
  if (reader.ends_element()) return {};
  if (!has_space) return malformed_challenge;
  Challenge& challenge = challenges.back();
  challenge.token = reader.token68();
  if (!challenge.token.empty()) return {};
  const std::string_view first = reader.token();
  reader.skip_space();
  if (first.empty() || !reader.is_at('=')) return malformed_challenge;
  return read_parameter(reader, first, challenge);
}

Result<void> read_elements(std::string_view field, std::vector<Challenge>& challenges) {
  if (field.size() > max_challenge_bytes) return malformed_challenge;
  Reader reader(field);
  for (reader.skip_separators(); !reader.is_at_end(); reader.skip_separators()) {
    if (const auto read = read_element(reader, challenges); !read) return read;
  }
  return {};
}

}  // namespace

bool is_token68(std::string_view text) noexcept {
  while (text.ends_with('=')) text.remove_suffix(1);
  return !text.empty() && std::all_of(text.begin(), text.end(), is_token68_letter);
}

std::optional<std::string_view> after_scheme(std::string_view field,
                                             std::string_view scheme) noexcept {
  field = ascii::trim_ows(field);
  if (!ascii::equals_ignoring_case(field.substr(0, scheme.size()), scheme)) return std::nullopt;
  field.remove_prefix(scheme.size());
  if (field.empty()) return field;
  if (field.front() != ' ') return std::nullopt;
  return ascii::trim_ows(field);
}

void append_quoted(std::string& out, std::string_view name, std::string_view value) {
  append_token(out, name, "\"");
  for (const char c : value) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  out += '"';
}

void append_token(std::string& out, std::string_view name, std::string_view value) {
  if (!out.ends_with(' ')) out += ", ";
  out.append(name).append("=").append(value);
}

Result<Challenge> parse_auth_parameters(std::string_view field) {
  std::vector<Challenge> read(1);
  const auto done = read_elements(field, read);
  if (!done) return done.error();
  if (read.size() != 1) return malformed_challenge;
  return std::move(read.front());
}

}  // namespace http

bool Challenge::is(std::string_view name) const noexcept {
  return ascii::equals_ignoring_case(scheme, name);
}

const std::string* Challenge::find(std::string_view name) const noexcept {
  for (const AuthParameter& parameter : parameters) {
    if (parameter.name == name) return &parameter.value;
  }
  return nullptr;
}

Result<std::vector<Challenge>> parse_challenges(std::string_view field) {
  std::vector<Challenge> challenges;
  const auto read = http::read_elements(field, challenges);
  if (!read) return read.error();
  if (challenges.empty()) return http::malformed_challenge;
  return challenges;
}

Result<Challenge> parse_credentials(std::string_view field) {
  auto all = parse_challenges(field);
  if (!all) return all.error();
  if (all->size() != 1) return http::malformed_challenge;
  return std::move(all->front());
}

}  // namespace skua
