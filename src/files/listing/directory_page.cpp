// SPDX-License-Identifier: MIT
// In: a page of a sorted listing. Out: HTML or JSON. The HTML is whole without its script, and the
// script gets names from the page only, as text. Every name goes through escape.hpp.
#include "files/archive/archive_response.hpp"
#include "files/listing/directory_index.hpp"
#include "files/listing/escape.hpp"
#include "files/listing/page_assets.hpp"
#include "files/listing/readme.hpp"
#include "files/listing/upload_form.hpp"
#include "files/mime_type.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>

namespace skua::files {
namespace {

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

// Returns the value of the parameter `sort`.
std::string sort_value(ListingOrder order, bool descending) {
  return std::string(descending ? "-" : "").append(name_of(order));
}

// Appends a column title as a button, which crawlers do not follow. The button of the column that
// the page is sorted by reverses the order.
void append_column(std::string& out, std::string_view title, ListingOrder order, ListingSort sort) {
  const bool is_current = sort.order == order;
  out.append("<th scope=\"col\"");
  if (is_current) {
    out.append(" aria-sort=\"").append(sort.descending ? "descending\"" : "ascending\"");
  }
  out.append("><button name=\"sort\" value=\"");
  out.append(sort_value(order, is_current && !sort.descending)).append("\">").append(title);
  if (is_current) out.append(sort.descending ? " \u2193" : " \u2191");
  out.append("</button></th>");
}

// "./" keeps a name with a colon from being read as a scheme.
void append_link(std::string& out, const DirectoryEntry& entry) {
  out.append("./");
  append_path(out, entry.name);
  if (entry.is_directory) out += '/';
}

void append_row(std::string& out, const DirectoryEntry& entry) {
  out.append("<tr><td><a href=\"");
  append_link(out, entry);
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
std::string reference(const ListingPage& page, std::size_t number, bool has_gallery) {
  std::string query;
  const auto add = [&query](std::string_view parameter, std::string_view value) {
    query.append(query.empty() ? "?" : "&").append(parameter);
    append_path(query, value);
  };
  const bool is_usual = page.sort.order == ListingOrder::Name && !page.sort.descending;
  if (!page.filter.empty()) add("q=", page.filter);
  if (!is_usual) add("sort=", sort_value(page.sort.order, page.sort.descending));
  if (has_gallery) add("view=", "gallery");
  if (number > 1) add("page=", std::to_string(number));
  return query.empty() ? "./" : query;
}

void append_neighbour(std::string& out, const ListingPage& page, std::size_t number,
                      std::string_view relation, std::string_view title) {
  out.append("<a rel=\"").append(relation).append("\" href=\"");
  append_html(out, reference(page, number, page.has_gallery));
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

// Appends the path, each of its folders as a link.
void append_heading(std::string& out, std::string_view path) {
  const auto folders = std::ranges::count(path, '/');
  std::size_t begin = 0;
  out.append("<h1>");
  for (auto above = folders - 1; above > 0; --above) {
    const std::size_t end = path.find('/', begin) + 1;
    out.append("<a href=\"");
    for (auto i = above; i > 0; --i) out.append("../");
    out.append(begin == 0 ? "\" aria-label=\"Root\">" : "\">");
    append_html(out, path.substr(begin, end - begin));
    out.append("</a>");
    begin = end;
  }
  append_html(out, path.substr(begin));
  out.append("</h1>\n");
}

// The kind of preview that a gallery has for a file.
enum class Medium : std::uint8_t { None, Picture, Film, Sound };

Medium medium_of(const DirectoryEntry& entry) noexcept {
  if (entry.is_directory) return Medium::None;
  const std::string_view type = mime_type(entry.name);
  if (type.starts_with("image/")) return Medium::Picture;
  if (type.starts_with("video/")) return Medium::Film;
  return type.starts_with("audio/") ? Medium::Sound : Medium::None;
}

bool has_media(const ListingPage& page) noexcept {
  return std::ranges::any_of(
      page.entries, [](const DirectoryEntry& entry) { return medium_of(entry) != Medium::None; });
}

// Loads nothing before it is in view, or played.
void append_preview(std::string& out, const DirectoryEntry& entry, Medium medium) {
  const bool is_picture = medium == Medium::Picture;
  out.append("<li>");
  if (!is_picture) {
    out.append(medium == Medium::Film ? "<video" : "<audio")
        .append(" controls preload=\"none\" src=\"");
    append_link(out, entry);
    out.append(medium == Medium::Film ? "\"></video>" : "\"></audio>");
  }
  out.append("<a href=\"");
  append_link(out, entry);
  out.append("\">");
  if (is_picture) {
    out.append("<img loading=\"lazy\" alt=\"\" src=\"");
    append_link(out, entry);
    out.append("\">");
  }
  append_html(out, entry.name);
  out.append("</a></li>\n");
}

void append_gallery(std::string& out, const ListingPage& page) {
  out.append("<ul class=\"gallery\">\n");
  for (const DirectoryEntry& entry : page.entries) {
    const Medium medium = medium_of(entry);
    if (medium != Medium::None) append_preview(out, entry, medium);
  }
  out.append("</ul>\n");
}

// Appends the field for a name, and the link to the other view.
void append_search(std::string& out, const ListingPage& page) {
  out.append(
      "<div role=\"search\"><input type=\"search\" name=\"q\" aria-label=\"Search\" value=\"");
  append_html(out, page.filter);
  // The first button is that of the Enter key; it keeps the order.
  out.append("\"><button name=\"sort\" value=\"");
  out.append(sort_value(page.sort.order, page.sort.descending)).append("\">Search</button>");
  if (page.has_gallery || has_media(page)) {
    out.append("<a rel=\"nofollow\" href=\"");
    append_html(out, reference(page, page.number, !page.has_gallery));
    out.append(page.has_gallery ? "\">List</a>" : "\">Gallery</a>");
  }
  out.append("</div>\n<p role=\"status\"></p>\n");
  if (page.has_gallery) out.append("<input type=\"hidden\" name=\"view\" value=\"gallery\">");
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
  out.reserve(6144 + page.entries.size() * 160 + page.readme.size());
  out.append(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
      "<link rel=\"icon\" href=\"data:,\"><title>");  // browsers ask for /favicon.ico otherwise
  append_html(out, path);
  out.append("</title><style>").append(listing_style).append("</style>");
  if (!page.readme.empty()) out.append("<style>").append(readme_style).append("</style>");
  out.append("</head><body><main>");
  append_heading(out, path);
  if (page.has_upload_form) out.append(upload_form);  // a phone shows no second screen
  out.append("<form>");
  append_search(out, page);
  out.append("<table><thead><tr>");
  append_column(out, "Name", ListingOrder::Name, page.sort);
  append_column(out, "Modified (UTC)", ListingOrder::Time, page.sort);
  append_column(out, "Size", ListingOrder::Size, page.sort);
  out.append("</tr></thead><tbody>\n");
  if (path != "/") out.append("<tr><td><a href=\"../\">../</a></td><td></td><td></td></tr>\n");
  for (const DirectoryEntry& entry : page.entries) {
    if (!page.has_gallery || medium_of(entry) == Medium::None) append_row(out, entry);
  }
  out.append("</tbody></table></form>\n");
  if (page.has_gallery) append_gallery(out, page);
  if (page.pages > 1) append_neighbours(out, page);
  if (page.is_truncated) {
    out.append("<p>This folder has more entries than can be listed.</p>\n");
  } else if (page.entries.empty()) {
    out.append(page.filter.empty() ? "<p>This folder is empty.</p>\n"
                                   : "<p>No name contains this text.</p>\n");
  }
  if (page.has_archives) out.append(archive_links());
  if (!page.readme.empty()) {
    out.append("<article class=\"readme\">\n").append(page.readme).append("</article>\n");
  }
  out.append("</main><script>").append(listing_script).append("</script>");
  if (page.has_upload_form) out.append("<script>").append(upload_script).append("</script>");
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
    out.append(",\"previous\":\"")
        .append(reference(page, page.number - 1, page.has_gallery))
        .append("\"");
  }
  if (page.number < page.pages) {
    out.append(",\"next\":\"")
        .append(reference(page, page.number + 1, page.has_gallery))
        .append("\"");
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
