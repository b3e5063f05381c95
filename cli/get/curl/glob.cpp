// SPDX-License-Identifier: MIT
// In: a URL with patterns. Out: the URLs that it stands for, the last pattern changing fastest.
#include "get/curl/glob.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "base/ascii.hpp"
#include "get/curl/line.hpp"

namespace skua::cli::curl {
namespace {

constexpr std::size_t max_urls = 10'000;

/// A run of characters, or a pattern with its alternatives.
struct Segment {
  std::vector<std::string> texts{};
  bool is_pattern = false;
};

[[noreturn]] void refuse_pattern(std::string_view pattern, const char* why) {
  refuse("'" + std::string(pattern) + "' " + why + "; -g takes URLs as they are");
}

std::optional<std::uint64_t> number_in(std::string_view text) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, code] = std::from_chars(text.data(), end, number);
  return code == std::errc() && rest == end ? std::optional(number) : std::nullopt;
}

// `[::1]` and `[fe80::1%25eth0]`.
bool is_address(std::string_view text) {
  return std::ranges::count(text, ':') > 1 && text.find('-') == text.npos;
}

std::vector<std::string> alternatives(std::string_view text) {
  std::vector<std::string> texts(1);
  for (const char c : text) {
    if (c == ',') {
      texts.emplace_back();
    } else {
      texts.back() += c;
    }
  }
  return texts;
}

std::vector<std::string> range(std::string_view text) {
  const std::string shown = "[" + std::string(text) + "]";
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::size_t dash = text.find('-');
  if (dash == text.npos || dash > colon) refuse_pattern(shown, "is not a range such as [1-9]");
  const std::string_view first = text.substr(0, dash);
  const std::string_view last = text.substr(dash + 1, colon - dash - 1);
  const auto step =
      colon == text.size() ? std::optional<std::uint64_t>(1) : number_in(text.substr(colon + 1));
  const bool is_letters = first.size() == 1 && last.size() == 1 && !ascii::is_digit(first.front());
  const auto from = is_letters ? static_cast<unsigned char>(first.front()) : number_in(first);
  const auto to = is_letters ? static_cast<unsigned char>(last.front()) : number_in(last);
  if (!from || !to || !step || *step == 0 || *from > *to) {
    refuse_pattern(shown, "is not a range such as [1-9], [01-20:2] or [a-z]");
  }
  if ((*to - *from) / *step >= max_urls) refuse_pattern(shown, "stands for too many URLs");
  std::vector<std::string> texts;
  for (std::uint64_t i = *from; i <= *to; i += *step) {
    std::string one = is_letters ? std::string(1, static_cast<char>(i)) : std::to_string(i);
    if (first.starts_with('0') && one.size() < first.size()) {
      one.insert(0, first.size() - one.size(), '0');
    }
    texts.push_back(std::move(one));
    if (*to - i < *step) break;  // or the sum could overflow
  }
  return texts;
}

std::vector<Segment> segments_of(const std::string& pattern) {
  std::vector<Segment> segments;
  const auto add_text = [&segments](std::string_view text) {
    if (segments.empty() || segments.back().is_pattern) segments.push_back({.texts = {""}});
    segments.back().texts.front() += text;
  };
  const std::string_view whole = pattern;
  for (std::size_t at = 0; at < whole.size();) {
    const char c = whole[at];
    const bool is_escape = c == '\\' && at + 1 < whole.size() &&
                           std::string_view("{}[]").find(whole[at + 1]) != std::string_view::npos;
    if (is_escape) {
      add_text(whole.substr(at + 1, 1));
      at += 2;
      continue;
    }
    if (c != '{' && c != '[') {
      if (c == '}' || c == ']') refuse_pattern(whole.substr(at), "closes nothing");
      add_text(whole.substr(at++, 1));
      continue;
    }
    const std::size_t end = whole.find(c == '{' ? '}' : ']', at);
    if (end == whole.npos) refuse_pattern(whole.substr(at), "is not closed");
    const std::string_view inside = whole.substr(at + 1, end - at - 1);
    if (c == '[' && (inside.empty() || is_address(inside))) {
      add_text(whole.substr(at, end - at + 1));
    } else {
      segments.push_back(
          {.texts = c == '{' ? alternatives(inside) : range(inside), .is_pattern = true});
    }
    at = end + 1;
  }
  return segments;
}

}  // namespace

std::vector<GlobbedUrl> expand_glob(const std::string& pattern) {
  std::vector<GlobbedUrl> urls(1);
  for (const Segment& segment : segments_of(pattern)) {
    if (urls.size() * segment.texts.size() > max_urls) {
      refuse_pattern(pattern, "stands for too many URLs");
    }
    std::vector<GlobbedUrl> longer;
    for (const GlobbedUrl& before : urls) {
      for (const std::string& text : segment.texts) {
        GlobbedUrl& one = longer.emplace_back(before);
        one.url += text;
        if (segment.is_pattern) one.values.push_back(text);
      }
    }
    urls = std::move(longer);
  }
  return urls;
}

std::string fill_name(const std::string& name, const std::vector<std::string>& values) {
  std::string filled;
  for (std::size_t at = 0; at < name.size();) {
    std::size_t end = at + 1;
    while (name[at] == '#' && end < name.size() && ascii::is_digit(name[end])) ++end;
    const auto number = number_in(std::string_view(name).substr(at + 1, end - at - 1));
    const bool is_known = number && *number >= 1 && *number <= values.size();
    filled += is_known ? values[*number - 1] : name.substr(at, end - at);
    at = end;
  }
  return filled;
}

}  // namespace skua::cli::curl
