// SPDX-License-Identifier: MIT
// In: a sorted listing. Out: the page, or the same as JSON.
// A page has no script and loads nothing, so its policy can forbid both; every name goes through
// escape.hpp.
#include "files/directory_index.hpp"
#include "files/escape.hpp"

#include <array>
#include <charconv>
#include <chrono>

namespace skua::files {
namespace {

constexpr std::string_view style =
    ":root{color-scheme:light dark;--link:#0b6e85;--quiet:#69777e}"
    "@media(prefers-color-scheme:dark){:root{--link:#5cc6df;--quiet:#93a7b1}}"
    "body{font:16px/1.5 system-ui,sans-serif;max-width:56rem;margin:2rem auto;padding:0 1rem}"
    "h1{font-size:1.4rem;font-weight:600;overflow-wrap:anywhere}"
    "table{border-collapse:collapse;width:100%}"
    "th,td{text-align:left;padding:.35rem .6rem;border-bottom:1px solid #8883}"
    "th{font-size:.85rem;color:var(--quiet)}th a{color:inherit}"
    "td:first-child{width:100%;overflow-wrap:anywhere}"
    "td+td,th+th{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}"
    "td+td{color:var(--quiet);font-size:.9rem}tr:hover td{background:#8881}"
    "a{color:var(--link);text-decoration:none}a:hover,a:focus{text-decoration:underline}"
    "p{color:var(--quiet)}";

void append_number(std::string& out, std::uint64_t value, std::size_t min_digits = 1) {
  char digits[20];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  const auto size = static_cast<std::size_t>(end - digits);
  if (size < min_digits) out.append(min_digits - size, '0');
  out.append(digits, size);
}

// `2023-11-14 22:13:20` with these two characters between and behind; UTC.
void append_time(std::string& out, std::int64_t modified_ns, char between,
                 std::string_view behind) {
  using namespace std::chrono;
  const auto time = floor<seconds>(sys_time<nanoseconds>{nanoseconds(modified_ns)});
  const auto day = floor<days>(time);
  const year_month_day date(day);
  const hh_mm_ss clock(time - day);
  const auto append = [&out](auto value, std::size_t digits) {
    append_number(out, static_cast<std::uint64_t>(value), digits);
  };
  append(static_cast<int>(date.year()), 4);  // nanoseconds reach from 1677 to 2262
  out += '-';
  append(static_cast<unsigned>(date.month()), 2);
  out += '-';
  append(static_cast<unsigned>(date.day()), 2);
  out += between;
  append(clock.hours().count(), 2);
  out += ':';
  append(clock.minutes().count(), 2);
  out += ':';
  append(clock.seconds().count(), 2);
  out += behind;
}

// A column's title; where the page is sorted by it, the link turns the order round.
void append_column(std::string& out, std::string_view title, std::string_view key, bool is_current,
                   bool descending) {
  out.append("<th><a href=\"?sort=");
  if (is_current && !descending) out += '-';
  out.append(key).append("\">").append(title).append("</a>");
  if (is_current) out.append(descending ? " \u2193" : " \u2191");
  out.append("</th>");
}

void append_row(std::string& out, const DirectoryEntry& entry) {
  // "./" keeps a name with a colon from being read as a scheme.
  out.append("<tr><td><a href=\"./");
  append_path(out, entry.name);
  if (entry.is_directory) out += '/';
  out.append("\">");
  append_html(out, entry.name);
  if (entry.is_directory) out += '/';
  out.append("</a></td><td>");
  out.append(entry.is_directory ? "" : human_size(entry.size_bytes)).append("</td><td>");
  append_time(out, entry.modified_ns, ' ', "");
  out.append("</td></tr>\n");
}

}  // namespace

std::string human_size(std::uint64_t size_bytes) {
  constexpr std::array<std::string_view, 7> units = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::size_t unit = 0;
  std::uint64_t tenths = size_bytes > ~std::uint64_t{0} / 10 ? 0 : size_bytes * 10;
  if (tenths == 0 && size_bytes != 0) {
    tenths = size_bytes / 1024 * 10;
    unit = 1;
  }
  for (; tenths >= 10'240 && unit + 1 < units.size(); ++unit) tenths /= 1024;
  std::string out;
  append_number(out, tenths / 10);
  if (unit > 0 && tenths < 100) {
    out += '.';
    append_number(out, tenths % 10);
  }
  return out.append(" ").append(units[unit]);
}

std::string listing_html(const DirectoryListing& listing, std::string_view path, ListingSort sort) {
  std::string out;
  out.reserve(1024 + listing.entries.size() * 160);
  out.append(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>");
  append_html(out, path);
  out.append("</title><style>").append(style).append("</style></head><body><h1>");
  append_html(out, path);
  out.append("</h1>\n<table><thead><tr>");
  append_column(out, "Name", "name", sort.order == ListingOrder::Name, sort.descending);
  append_column(out, "Size", "size", sort.order == ListingOrder::Size, sort.descending);
  append_column(out, "Modified (UTC)", "time", sort.order == ListingOrder::Time, sort.descending);
  out.append("</tr></thead><tbody>\n");
  if (path != "/") out.append("<tr><td><a href=\"../\">../</a></td><td></td><td></td></tr>\n");
  for (const DirectoryEntry& entry : listing.entries) append_row(out, entry);
  out.append("</tbody></table>\n");
  if (listing.is_truncated) {
    out.append("<p>Only the first ");
    append_number(out, listing.entries.size());
    out.append(" entries are shown; there are more.</p>\n");
  } else if (listing.entries.empty()) {
    out.append("<p>This folder is empty.</p>\n");
  }
  return out.append("</body></html>\n");
}

std::string listing_json(const DirectoryListing& listing, std::string_view path) {
  std::string out;
  out.reserve(128 + listing.entries.size() * 120);
  out.append("{\"path\":");
  append_json(out, path);
  out.append(listing.is_truncated ? ",\"truncated\":true" : ",\"truncated\":false");
  out.append(",\"entries\":[");
  for (const DirectoryEntry& entry : listing.entries) {
    if (&entry != listing.entries.data()) out += ',';
    out.append("\n{\"name\":");
    append_json(out, entry.name);
    out.append(entry.is_directory ? ",\"type\":\"directory\"" : ",\"type\":\"file\",\"size\":");
    if (!entry.is_directory) append_number(out, entry.size_bytes);
    out.append(",\"modified\":\"");
    append_time(out, entry.modified_ns, 'T', "Z");
    out.append("\"}");
  }
  return out.append("\n]}\n");
}

}  // namespace skua::files
