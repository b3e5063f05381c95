// SPDX-License-Identifier: MIT
// In: a file's path and state. Out: the fields that describe it, and the 200 and 304 responses. The
// entity tag comes from the state: no content is read, whatever the size of the file.
#include "files/file_head.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <utility>

#include "base/http_date.hpp"
#include "files/mime_type.hpp"
#include "loop/clock.hpp"

namespace skua::files {
namespace {

// FAT has a resolution of two seconds; no file system in use is coarser.
constexpr std::chrono::seconds coarsest_clock{2};

// One round of mixing: every input bit flips about half of the output bits.
constexpr std::uint64_t mix(std::uint64_t state, std::uint64_t value) noexcept {
  state = (state ^ value) * 0x9E3779B97F4A7C15U;
  state = (state ^ (state >> 32U)) * 0xD6E8FEB86659FD93U;
  return state ^ (state >> 32U);
}

void append_hex(std::string& out, std::uint64_t value) {
  char digits[16];
  const auto end = std::to_chars(digits, digits + sizeof digits, value, 16);
  out.append(digits, end.ptr);
}

}  // namespace

bool is_just_modified(const FileStat& stat, WallTime now) noexcept {
  const WallTime modified{std::chrono::nanoseconds(stat.modified_ns)};
  return modified > now - coarsest_clock &&
         modified <= later(now, WallTime::duration(coarsest_clock));
}

bool has_recent_timestamps(FileStat stat, WallTime now) noexcept {
  if (is_just_modified(stat, now)) return true;
  stat.modified_ns = stat.changed_ns;
  return is_just_modified(stat, now);
}

std::string make_etag(const FileStat& stat, WallTime now) {
  std::uint64_t digest = mix(0, static_cast<std::uint64_t>(stat.modified_ns));
  digest = mix(digest, stat.inode);
  digest = mix(digest, stat.size_bytes);
  const bool is_strong = !is_just_modified(stat, now) || is_written_here(stat);
  std::string tag = is_strong ? "\"" : "W/\"";
  append_hex(tag, stat.size_bytes);
  tag += '-';
  append_hex(tag, digest);
  if (!is_strong) tag += "-new";
  tag += '"';
  return tag;
}

bool FileFields::vary(std::string_view type) const noexcept {
  return siblings || (made && is_compressible(type));
}

std::string_view sibling_suffix(coding::Coding coding) noexcept {
  switch (coding) {
    case coding::Coding::Brotli: return ".br";
    case coding::Coding::Gzip: return ".gz";
    case coding::Coding::Zstd: return ".zst";
    case coding::Coding::Deflate: break;
  }
  return {};
}

FileHead describe(std::string_view path, const FileStat& stat, WallTime now,
                  const FileFields& fields, std::optional<coding::Coding> coding,
                  std::optional<std::string_view> text) {
  const WallTime modified{std::chrono::nanoseconds(stat.modified_ns)};
  FileHead head;
  if (fields.tags == nullptr) {
    head.etag = make_etag(stat, now);
  } else if (text) {
    head.etag = ContentTags::of(*text);
  } else if (!has_recent_timestamps(stat, now)) {
    std::string name(path);
    if (coding) name += sibling_suffix(*coding);
    head.etag = fields.tags->find(name, stat);
  }
  head.type = fields.fixed_type.empty() ? mime_type(path) : std::string_view(fields.fixed_type);
  head.varies = fields.vary(head.type);
  if (coding) head.coding = coding::name(*coding);
  // Rounded down, so that a client that sends this second back gets 304.
  head.modified = std::chrono::floor<std::chrono::seconds>(std::min(modified, now));
  char date[http_date_bytes];
  format_http_date(head.modified, date);
  head.last_modified.assign(date, http_date_bytes);
  return head;
}

FileHead coded_head(const FileHead& plain, coding::Coding coding) {
  FileHead head = plain;
  head.coding = coding::name(coding);
  if (plain.etag.empty()) return head;
  std::string_view tag = plain.etag;
  if (tag.starts_with("W/")) tag.remove_prefix(2);
  tag.remove_suffix(1);  // the quote
  head.etag = "W/";
  head.etag.append(tag).append("-").append(head.coding).append("\"");
  return head;
}

bool names_file_version(http::EntityTag tag, http::EntityTag own) noexcept {
  if (http::names_version(tag, own)) return true;
  if (own.weak || !tag.weak || !tag.opaque.starts_with(own.opaque)) return false;
  const std::string_view rest = tag.opaque.substr(own.opaque.size());
  return rest.starts_with('-') && coding::find_coding(rest.substr(1)).has_value();
}

std::string cache_control(std::chrono::seconds max_age) {
  if (max_age.count() < 0) return {};
  if (max_age.count() == 0) return "no-cache";
  return "max-age=" + std::to_string(max_age.count());
}

void add_validators(Response& response, const FileHead& head, std::string_view cache_control) {
  if (!head.etag.empty()) response.header("ETag", head.etag);
  if (!head.last_modified.empty()) response.header("Last-Modified", head.last_modified);
  if (!cache_control.empty()) response.header("Cache-Control", cache_control);
  if (head.varies) response.vary("Accept-Encoding");
}

Response whole_response(const FileHead& head, Body body, std::string_view cache_control) {
  Response response(Status::Ok, std::move(body), head.type);
  if (!head.coding.empty()) response.header("Content-Encoding", head.coding);
  add_validators(response, head, cache_control);
  response.header("Accept-Ranges", "bytes");
  response.header("X-Content-Type-Options", "nosniff");
  return response;
}

Response unchanged_response(const FileHead& head, std::string_view cache_control) {
  Response response(Status::NotModified);
  add_validators(response, head, cache_control);
  return response;
}

}  // namespace skua::files
