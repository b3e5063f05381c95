// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// A second reading of HTTP/1.1 that shares no code with skua: whatever is not exactly as RFC 9112
/// has a sender write it is an error, so that no reader can take it for anything else.
namespace skua::testing::strict {

using Fields = std::vector<std::pair<std::string, std::string>>;

struct Message {
  std::string method{};  ///< of a request
  std::string target{};  ///< of a request
  int status = 0;        ///< of a response
  Fields fields{};
  std::string body{};
  Fields trailers{};
  bool is_chunked = false;

  [[nodiscard]] std::optional<std::string> find(std::string_view name) const;
  [[nodiscard]] std::size_t count(std::string_view name) const;
};

enum class Kind : unsigned char {
  Request,
  Response,
  HeadResponse,  ///< to HEAD: it has no content
};
enum class Outcome : unsigned char { Whole, More, Bad };

inline std::string lower(std::string_view text) {
  std::string made(text);
  std::ranges::transform(made, made.begin(), [](unsigned char c) {
    return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  });
  return made;
}

inline std::optional<std::string> Message::find(std::string_view name) const {
  for (const auto& [known, value] : fields) {
    if (lower(known) == lower(name)) return value;
  }
  return std::nullopt;
}
inline std::size_t Message::count(std::string_view name) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      fields, [&](const auto& field) { return lower(field.first) == lower(name); }));
}

/// Reads one message from the front of some bytes.
class Reader {
 public:
  Reader(std::string_view bytes, Kind kind) : bytes_(bytes), kind_(kind) { outcome_ = read(); }

  [[nodiscard]] Outcome outcome() const noexcept { return outcome_; }
  /// Why it is Bad.
  [[nodiscard]] const std::string& why() const noexcept { return why_; }
  [[nodiscard]] const Message& message() const noexcept { return message_; }
  [[nodiscard]] std::size_t used_bytes() const noexcept { return at_; }

 private:
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  static bool is_token(std::string_view text) {
    constexpr std::string_view marks = "!#$%&'*+-.^_`|~";
    return !text.empty() && std::ranges::all_of(text, [&](char c) {
      return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
             marks.find(c) != marks.npos;
    });
  }
  Outcome bad(std::string why) {
    why_ = std::move(why);
    return Outcome::Bad;
  }
  /// Takes a line that ends in CRLF and has no other control character than HTAB.
  Outcome line(std::string_view& text) {
    const std::size_t end = bytes_.find("\r\n", at_);
    text = bytes_.substr(at_, end == bytes_.npos ? bytes_.npos : end - at_);
    if (end == bytes_.npos && text.ends_with('\r')) text.remove_suffix(1);
    for (const char c : text) {
      if ((static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f) {
        return bad("a control character in a line");
      }
    }
    if (end == bytes_.npos) return Outcome::More;
    at_ = end + 2;
    return Outcome::Whole;
  }
  Outcome request_line(std::string_view text) {
    const std::size_t first = text.find(' ');
    const std::size_t last = text.rfind(' ');
    if (first == text.npos || first == last) return bad("a request line without three parts");
    message_.method = text.substr(0, first);
    message_.target = text.substr(first + 1, last - first - 1);
    if (!is_token(message_.method)) return bad("a method that is not a token");
    const bool is_path = message_.target.starts_with('/') || message_.target == "*";
    const bool is_plain = std::ranges::all_of(
        message_.target, [](char c) { return c > 0x20 && c < 0x7f && c != '#' && c != '"'; });
    if (!is_path || !is_plain) return bad("a target that is not a path and a query");
    return text.substr(last + 1) == "HTTP/1.1" ? Outcome::Whole : bad("another version");
  }
  Outcome status_line(std::string_view text) {
    const bool is_fine = text.starts_with("HTTP/1.1 ") && text.size() >= 13 && is_digit(text[9]) &&
                         is_digit(text[10]) && is_digit(text[11]) && text[12] == ' ';
    if (!is_fine) return bad("a malformed status line");
    std::from_chars(text.data() + 9, text.data() + 12, message_.status);
    return Outcome::Whole;
  }
  Outcome lines(Fields& fields) {
    while (true) {
      std::string_view text;
      const Outcome got = line(text);
      if (got != Outcome::Whole) return got;
      if (text.empty()) return Outcome::Whole;
      const std::size_t colon = text.find(": ");
      if (colon == text.npos || !is_token(text.substr(0, colon))) return bad("a malformed field");
      const std::string_view value = text.substr(colon + 2);
      const bool has_space = value.starts_with(' ') || value.starts_with('\t') ||
                             value.ends_with(' ') || value.ends_with('\t');
      if (has_space) return bad("white space around a value");
      fields.emplace_back(text.substr(0, colon), value);
    }
  }
  Outcome check_fields() {
    if (kind_ == Kind::Request) {
      if (message_.count("Host") != 1) return bad("not exactly one Host");
      const std::string host = message_.find("Host").value_or("");
      if (host.empty() || host.find_first_of(" \t,/@?#") != host.npos) return bad("a bad Host");
    }
    for (const auto& [name, value] : message_.fields) {
      const std::string small = lower(name);
      if (small == "keep-alive" || small.starts_with("proxy-")) return bad("a field of a hop");
      if (small.find('_') == small.npos) continue;
      std::string folded = small;
      std::ranges::replace(folded, '_', '-');
      if (message_.find(folded)) return bad("two names that differ in _ and - only: " + name);
      for (const char* const known : {"content-length", "transfer-encoding", "connection"}) {
        if (folded == known) return bad("a name that looks like another: " + name);
      }
    }
    return Outcome::Whole;
  }
  Outcome read() {
    std::string_view text;
    Outcome got = line(text);
    if (got != Outcome::Whole) return got;
    got = kind_ == Kind::Request ? request_line(text) : status_line(text);
    if (got == Outcome::Whole) got = lines(message_.fields);
    if (got == Outcome::Whole) got = check_fields();
    if (got != Outcome::Whole) return got;
    const std::size_t lengths = message_.count("Content-Length");
    const std::size_t codings = message_.count("Transfer-Encoding");
    if (lengths + codings > 1) return bad("more than one framing");
    const bool is_request = kind_ == Kind::Request;
    const bool has_none = !is_request && (kind_ == Kind::HeadResponse || message_.status < 200 ||
                                          message_.status == 204 || message_.status == 304);
    if (!is_request && (message_.status < 200 || message_.status == 204) &&
        lengths + codings != 0) {
      return bad("a framing of nothing");
    }
    if (has_none) return Outcome::Whole;
    if (codings == 1) return chunks();
    if (lengths == 1) return content();
    return is_request ? Outcome::Whole : bad("content without a framing");
  }
  Outcome content() {
    const std::string text = message_.find("Content-Length").value_or("");
    std::size_t size = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
    if (error != std::errc() || end != text.data() + text.size()) return bad("a bad length");
    if (bytes_.size() - at_ < size) return Outcome::More;
    message_.body = bytes_.substr(at_, size);
    at_ += size;
    return Outcome::Whole;
  }
  Outcome chunks() {
    if (message_.find("Transfer-Encoding") != "chunked") return bad("another transfer coding");
    message_.is_chunked = true;
    while (true) {
      std::string_view text;
      const Outcome got = line(text);
      if (got != Outcome::Whole) return got;
      std::size_t size = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size, 16);
      if (error != std::errc() || end != text.data() + text.size()) return bad("a bad chunk size");
      if (size == 0) return lines(message_.trailers);
      if (bytes_.size() - at_ < size + 2) return Outcome::More;
      message_.body.append(bytes_.substr(at_, size));
      if (bytes_.substr(at_ + size, 2) != "\r\n") return bad("a chunk without an end");
      at_ += size + 2;
    }
  }

  std::string_view bytes_;
  Kind kind_;
  std::size_t at_ = 0;
  Message message_;
  std::string why_;
  Outcome outcome_;
};

}  // namespace skua::testing::strict
