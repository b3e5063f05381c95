// SPDX-License-Identifier: MIT
// In: a page of a sorted listing. Out: HTML or JSON. The HTML has no scripts and loads nothing, so
// its Content-Security-Policy can forbid both. Every name goes through escape.hpp.
#include "files/listing/directory_index.hpp"
#include "files/listing/escape.hpp"

#include <array>
#include <charconv>
#include <chrono>

namespace skua::files {
namespace {

constexpr std::string_view style =
    ":root{color-scheme:light dark;--link:#0b6e85;--quiet:#5d6b72;--line:#8883}"
    "@media(prefers-color-scheme:dark){:root{--link:#5cc6df;--quiet:#93a7b1}}"
    "body{font:16px/1.5 system-ui,sans-serif;max-width:56rem;margin:2rem auto;padding:0 1rem}"
    "h1{font-size:1.4rem;font-weight:600;overflow-wrap:anywhere}"
    "table{border-collapse:collapse;width:100%}"
    "th,td{text-align:left;padding:.35rem .6rem;border-bottom:1px solid var(--line)}"
    "td:first-child{width:100%;overflow-wrap:anywhere}"
    "td+td,th+th{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}"
    "td+td{color:var(--quiet);font-size:.9rem}tr:hover td{background:#8881}"
    "button{font:600 .85rem system-ui,sans-serif;color:var(--quiet);background:none;border:0;"
    "padding:.2rem 0;cursor:pointer}"
    "a{color:var(--link);text-decoration:none}a:hover,a:focus,button:hover{text-decoration:"
    "underline}p{color:var(--quiet)}p a{margin-right:1rem}"
    "@media(max-width:40rem){body{margin:1rem auto}tr{display:flex;flex-wrap:wrap;column-gap:1rem;"
    "padding:.4rem 0;border-bottom:1px solid var(--line)}th,td{padding:0;border:0}"
    "tr:hover td{background:none}td+td,th+th{text-align:left}td+td{font-size:.8rem}"
    "td:empty{display:none}}";

void append_number(std::string& out, std::uint64_t value, std::size_t min_digits = 1) {
  char digits[20];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  const auto size = static_cast<std::size_t>(end - digits);
  if (size < min_digits) out.append(min_digits - size, '0');
  out.append(digits, size);
}

// `2023-11-14 22:13`, or `2023-11-14T22:13:20Z`.
enum class TimeFormat : std::uint8_t { Minutes, Rfc3339 };

void append_time(std::string& out, std::int64_t modified_ns, TimeFormat format) {
  using namespace std::chrono;
  const auto time = floor<seconds>(sys_time<nanoseconds>{nanoseconds(modified_ns)});
  const auto day = floor<days>(time);
  const year_month_day date(day);
  const hh_mm_ss clock(time - day);
  const auto append = [&out](auto value, std::size_t digits) {
    append_number(out, static_cast<std::uint64_t>(value), digits);
  };
  append(static_cast<int>(date.year()), 4);  // 64-bit nanoseconds span 1677 to 2262
  out += '-';
  append(static_cast<unsigned>(date.month()), 2);
  out += '-';
  append(static_cast<unsigned>(date.day()), 2);
  out += format == TimeFormat::Minutes ? ' ' : 'T';
  append(clock.hours().count(), 2);
  out += ':';
  append(clock.minutes().count(), 2);
  if (format == TimeFormat::Minutes) return;
  out += ':';
  append(clock.seconds().count(), 2);
  out += 'Z';
}

std::string_view name_of(ListingOrder order) noexcept {
  switch (order) {
    case ListingOrder::Name: break;
    case ListingOrder::Size: return "size";
    case ListingOrder::Time: return "time";
  }
  return "name";
}

// Appends a column title as a button, which crawlers do not follow. The button of the column that
// the page is sorted by reverses the order.
void append_column(std::string& out, std::string_view title, ListingOrder order, ListingSort sort) {
  const bool is_current = sort.order == order;
  out.append("<th><button name=\"sort\" value=\"");
  if (is_current && !sort.descending) out += '-';
  out.append(name_of(order)).append("\">").append(title);
  if (is_current) out.append(sort.descending ? " \u2193" : " \u2191");
  out.append("</button></th>");
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
  append_time(out, entry.modified_ns, TimeFormat::Minutes);
  out.append("</td><td>");
  out.append(entry.is_directory ? "-" : human_size(entry.size_bytes)).append("</td></tr>\n");
}

// Returns a relative reference to another page in the same order. The first page in the default
// order has no query, so that it has only one URL.
std::string reference(const ListingPage& page, std::size_t number) {
  const bool is_usual = page.sort.order == ListingOrder::Name && !page.sort.descending;
  std::string query;
  if (!is_usual) {
    query.append("?sort=").append(page.sort.descending ? "-" : "").append(name_of(page.sort.order));
  }
  if (number > 1) query.append(query.empty() ? "?page=" : "&page=").append(std::to_string(number));
  return query.empty() ? "./" : query;
}

void append_neighbour(std::string& out, const ListingPage& page, std::size_t number,
                      std::string_view relation, std::string_view title) {
  out.append("<a rel=\"").append(relation).append("\" href=\"");
  append_html(out, reference(page, number));
  out.append("\">").append(title).append("</a> ");
}

void append_neighbours(std::string& out, const ListingPage& page) {
  const std::size_t first = (page.number - 1) * page_entries;
  out.append("<p>");
  if (page.number > 1) append_neighbour(out, page, page.number - 1, "prev", "Previous");
  if (page.number < page.pages) append_neighbour(out, page, page.number + 1, "next", "Next");
  append_number(out, first + 1);
  out.append("\u2013");
  append_number(out, first + page.entries.size());
  out.append(" of ");
  append_number(out, page.total);
  out.append("</p>\n");
}

}  // namespace

std::string human_size(std::uint64_t size_bytes) {
  constexpr std::array<std::string_view, 7> units = {"", "K", "M", "G", "T", "P", "E"};
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
  return out.append(units[unit]);
}

std::string listing_html(const ListingPage& page, std::string_view path) {
  std::string out;
  out.reserve(2048 + page.entries.size() * 160);
  out.append(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>");
  append_html(out, path);
  out.append("</title><style>").append(style).append("</style></head><body><h1>");
  append_html(out, path);
  out.append("</h1>\n<form><table><thead><tr>");
  append_column(out, "Name", ListingOrder::Name, page.sort);
  append_column(out, "Modified (UTC)", ListingOrder::Time, page.sort);
  append_column(out, "Size", ListingOrder::Size, page.sort);
  out.append("</tr></thead><tbody>\n");
  if (path != "/") out.append("<tr><td><a href=\"../\">../</a></td><td></td><td></td></tr>\n");
  for (const DirectoryEntry& entry : page.entries) append_row(out, entry);
  out.append("</tbody></table></form>\n");
  if (page.pages > 1) append_neighbours(out, page);
  if (page.is_truncated) {
    out.append("<p>This folder has more entries than can be listed.</p>\n");
  } else if (page.entries.empty()) {
    out.append("<p>This folder is empty.</p>\n");
  }
  return out.append("</body></html>\n");
}

std::string listing_json(const ListingPage& page, std::string_view path) {
  std::string out;
  out.reserve(256 + page.entries.size() * 120);
  out.append("{\"path\":");
  append_json(out, path);
  out.append(",\"total\":").append(std::to_string(page.total));
  out.append(",\"page\":").append(std::to_string(page.number));
  out.append(",\"pages\":").append(std::to_string(page.pages));
  out.append(page.is_truncated ? ",\"truncated\":true" : ",\"truncated\":false");
  if (page.number > 1) {
    out.append(",\"previous\":\"").append(reference(page, page.number - 1)).append("\"");
  }
  if (page.number < page.pages) {
    out.append(",\"next\":\"").append(reference(page, page.number + 1)).append("\"");
  }
  out.append(",\"entries\":[");
  for (const DirectoryEntry& entry : page.entries) {
    if (&entry != page.entries.data()) out += ',';
    out.append("\n{\"name\":");
    append_json(out, entry.name);
    out.append(entry.is_directory ? ",\"type\":\"directory\"" : ",\"type\":\"file\",\"size\":");
    if (!entry.is_directory) append_number(out, entry.size_bytes);
    out.append(",\"modified\":\"");
    append_time(out, entry.modified_ns, TimeFormat::Rfc3339);
    out.append("\"}");
  }
  return out.append("\n]}\n");
}

}  // namespace skua::files
