// SPDX-License-Identifier: MIT
// In: the entries of a directory, and a client's wishes. Out: a sorted page of them.
#include "files/listing/directory_index.hpp"

#include "base/ascii.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>

namespace skua::files {
namespace {

// Takes the digits at the front; returns them without leading zeros.
std::string_view take_number(std::string_view& text) noexcept {
  const std::size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
  std::string_view number = text.substr(0, end);
  text.remove_prefix(end);
  number.remove_prefix(std::min(number.find_first_not_of('0'), number.size()));
  return number;
}

// As people count and spell: `a2` before `A10`, octets above ASCII last, whatever char is.
bool less_naturally(std::string_view left, std::string_view right) noexcept {
  std::string_view a = left;
  std::string_view b = right;
  while (!a.empty() && !b.empty()) {
    if (ascii::is_digit(a.front()) && ascii::is_digit(b.front())) {
      const std::string_view x = take_number(a);
      const std::string_view y = take_number(b);
      if (x.size() != y.size()) return x.size() < y.size();
      if (x != y) return x < y;
      continue;
    }
    const auto x = static_cast<unsigned char>(ascii::to_lower(a.front()));
    const auto y = static_cast<unsigned char>(ascii::to_lower(b.front()));
    if (x != y) return x < y;
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
  if (a.empty() != b.empty()) return a.empty();
  return left < right;  // they differ in case, or in leading zeros
}

bool contains(const DirectoryEntry& entry, std::string_view text) noexcept {
  const auto same = [](char a, char b) { return ascii::to_lower(a) == ascii::to_lower(b); };
  return text.empty() || std::ranges::search(entry.name, text, same).begin() != entry.name.end();
}

}  // namespace

ListingSort parse_sort(std::string_view text) noexcept {
  ListingSort sort;
  if (text.starts_with('-')) {
    sort.descending = true;
    text.remove_prefix(1);
  }
  if (text == "size") {
    sort.order = ListingOrder::Size;
  } else if (text == "time") {
    sort.order = ListingOrder::Time;
  } else if (text != "name") {
    sort.descending = false;
  }
  return sort;
}

void sort_entries(std::vector<DirectoryEntry>& entries, ListingSort sort) {
  const auto before = [sort](const DirectoryEntry& a, const DirectoryEntry& b) {
    if (sort.order == ListingOrder::Size && a.size_bytes != b.size_bytes) {
      return a.size_bytes < b.size_bytes;
    }
    if (sort.order == ListingOrder::Time && a.modified_ns != b.modified_ns) {
      return a.modified_ns < b.modified_ns;
    }
    return less_naturally(a.name, b.name);
  };
  std::sort(entries.begin(), entries.end(), [&](const DirectoryEntry& a, const DirectoryEntry& b) {
    if (a.is_directory != b.is_directory) return a.is_directory;
    return sort.descending ? before(b, a) : before(a, b);
  });
}

void filter_entries(std::vector<DirectoryEntry>& entries, std::string_view text) {
  std::erase_if(entries, [&](const DirectoryEntry& entry) { return !contains(entry, text); });
}

std::vector<DirectoryEntry> filtered(std::span<const DirectoryEntry> entries,
                                     std::string_view text) {
  std::vector<DirectoryEntry> found;
  for (const DirectoryEntry& entry : entries) {
    if (contains(entry, text)) found.push_back(entry);
  }
  return found;
}

std::size_t parse_page(std::string_view text) noexcept {
  std::size_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, code] = std::from_chars(text.data(), end, number);
  return code == std::errc() && rest == end ? std::max<std::size_t>(number, 1) : 1;
}

ListingPage make_page(std::span<const DirectoryEntry> sorted, ListingSort sort,
                      std::size_t number) {
  ListingPage page{.sort = sort, .total = sorted.size()};
  page.pages = std::max<std::size_t>((sorted.size() + page_entries - 1) / page_entries, 1);
  page.number = std::clamp<std::size_t>(number, 1, page.pages);
  const std::size_t first = (page.number - 1) * page_entries;
  page.entries = sorted.subspan(first, std::min(page_entries, sorted.size() - first));
  return page;
}

bool prefers_json(std::string_view accept) noexcept {
  // Weights in thousandths; types that are not listed have weight 0.
  int json = 0;
  int html = 0;
  while (!accept.empty()) {
    std::string_view element = ascii::take_list_element(accept);
    const std::size_t semicolon = std::min(element.find(';'), element.size());
    const std::string_view type = ascii::trim_ows(element.substr(0, semicolon));
    element.remove_prefix(semicolon);
    int weight = 1000;
    const std::size_t q = element.find("q=");
    if (q != std::string_view::npos) {
      weight = element.substr(q + 2).starts_with('1') ? 1000 : 0;
      int scale = 100;
      for (std::size_t i = q + 4; i < element.size() && ascii::is_digit(element[i]); ++i) {
        weight += (element[i] - '0') * scale;
        scale /= 10;
      }
    }
    if (ascii::equals_ignoring_case(type, "application/json")) json = weight;
    if (ascii::equals_ignoring_case(type, "text/html")) html = weight;
  }
  return json > html;
}

}  // namespace skua::files
