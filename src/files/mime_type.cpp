// SPDX-License-Identifier: MIT
// In: a file name. Out: its media type, from one sorted table with binary search. Text types claim
// UTF-8, which nearly all files are today. Every response carries `nosniff`, so a wrong type here
// is visible, and cannot turn content into a script.
#include "files/mime_type.hpp"

#include "base/ascii.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace skua::files {
namespace {

struct Row {
  std::string_view extension;
  std::string_view type;
};

// clang-format off
constexpr Row table[] = {
    {"3g2", "video/3gpp2"},
    {"3gp", "video/3gpp"},
    {"7z", "application/x-7z-compressed"},
    {"a", "application/octet-stream"},
    {"aac", "audio/aac"},
    {"adoc", "text/plain; charset=utf-8"},
    {"aif", "audio/aiff"},
    {"aiff", "audio/aiff"},
    {"apk", "application/vnd.android.package-archive"},
    {"apng", "image/apng"},
    {"appcache", "text/cache-manifest; charset=utf-8"},
    {"asc", "application/pgp-signature"},
    {"atom", "application/atom+xml"},
    {"avi", "video/x-msvideo"},
    {"avif", "image/avif"},
    {"bash", "text/x-shellscript; charset=utf-8"},
    {"bin", "application/octet-stream"},
    {"bmp", "image/bmp"},
    {"br", "application/x-brotli"},
    {"bz2", "application/x-bzip2"},
    {"c", "text/plain; charset=utf-8"},
    {"cc", "text/plain; charset=utf-8"},
    {"cfg", "text/plain; charset=utf-8"},
    {"cjs", "text/javascript; charset=utf-8"},
    {"class", "application/java-vm"},
    {"cmake", "text/plain; charset=utf-8"},
    {"conf", "text/plain; charset=utf-8"},
    {"cpp", "text/plain; charset=utf-8"},
    {"crt", "application/x-x509-ca-cert"},
    {"cs", "text/plain; charset=utf-8"},
    {"css", "text/css; charset=utf-8"},
    {"csv", "text/csv; charset=utf-8"},
    {"cur", "image/vnd.microsoft.icon"},
    {"cxx", "text/plain; charset=utf-8"},
    {"db", "application/octet-stream"},
    {"deb", "application/vnd.debian.binary-package"},
    {"der", "application/x-x509-ca-cert"},
    {"diff", "text/x-diff; charset=utf-8"},
    {"djvu", "image/vnd.djvu"},
    {"dll", "application/vnd.microsoft.portable-executable"},
    {"dmg", "application/x-apple-diskimage"},
    {"doc", "application/msword"},
    {"docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
    {"dtd", "application/xml-dtd"},
    {"eot", "application/vnd.ms-fontobject"},
    {"eps", "application/postscript"},
    {"epub", "application/epub+zip"},
    {"exe", "application/vnd.microsoft.portable-executable"},
    {"flac", "audio/flac"},
    {"flv", "video/x-flv"},
    {"geojson", "application/geo+json"},
    {"gif", "image/gif"},
    {"glb", "model/gltf-binary"},
    {"gltf", "model/gltf+json"},
    {"go", "text/plain; charset=utf-8"},
    {"gpx", "application/gpx+xml"},
    {"gz", "application/gzip"},
    {"h", "text/plain; charset=utf-8"},
    {"har", "application/json"},
    {"heic", "image/heic"},
    {"heif", "image/heif"},
    {"hh", "text/plain; charset=utf-8"},
    {"hpp", "text/plain; charset=utf-8"},
    {"htm", "text/html; charset=utf-8"},
    {"html", "text/html; charset=utf-8"},
    {"hxx", "text/plain; charset=utf-8"},
    {"ico", "image/vnd.microsoft.icon"},
    {"ics", "text/calendar; charset=utf-8"},
    {"img", "application/octet-stream"},
    {"ini", "text/plain; charset=utf-8"},
    {"ipa", "application/octet-stream"},
    {"ipynb", "application/x-ipynb+json"},
    {"iso", "application/x-iso9660-image"},
    {"jar", "application/java-archive"},
    {"java", "text/plain; charset=utf-8"},
    {"jfif", "image/jpeg"},
    {"jpeg", "image/jpeg"},
    {"jpg", "image/jpeg"},
    {"js", "text/javascript; charset=utf-8"},
    {"json", "application/json"},
    {"json5", "application/json5"},
    {"jsonl", "application/x-ndjson"},
    {"jsonld", "application/ld+json"},
    {"jsx", "text/javascript; charset=utf-8"},
    {"jxl", "image/jxl"},
    {"kml", "application/vnd.google-earth.kml+xml"},
    {"kmz", "application/vnd.google-earth.kmz"},
    {"kt", "text/plain; charset=utf-8"},
    {"less", "text/plain; charset=utf-8"},
    {"log", "text/plain; charset=utf-8"},
    {"lua", "text/plain; charset=utf-8"},
    {"lz4", "application/x-lz4"},
    {"m2ts", "video/mp2t"},
    {"m3u", "audio/x-mpegurl"},
    {"m3u8", "application/vnd.apple.mpegurl"},
    {"m4a", "audio/mp4"},
    {"m4s", "video/iso.segment"},
    {"m4v", "video/mp4"},
    {"manifest", "text/cache-manifest; charset=utf-8"},
    {"map", "application/json"},
    {"markdown", "text/markdown; charset=utf-8"},
    {"mathml", "application/mathml+xml"},
    {"md", "text/markdown; charset=utf-8"},
    {"mid", "audio/midi"},
    {"midi", "audio/midi"},
    {"mjs", "text/javascript; charset=utf-8"},
    {"mkv", "video/matroska"},
    {"mobi", "application/x-mobipocket-ebook"},
    {"mov", "video/quicktime"},
    {"mp3", "audio/mpeg"},
    {"mp4", "video/mp4"},
    {"mpd", "application/dash+xml"},
    {"mpeg", "video/mpeg"},
    {"mpg", "video/mpeg"},
    {"msi", "application/x-msi"},
    {"n3", "text/n3; charset=utf-8"},
    {"ndjson", "application/x-ndjson"},
    {"o", "application/octet-stream"},
    {"obj", "model/obj"},
    {"odg", "application/vnd.oasis.opendocument.graphics"},
    {"odp", "application/vnd.oasis.opendocument.presentation"},
    {"ods", "application/vnd.oasis.opendocument.spreadsheet"},
    {"odt", "application/vnd.oasis.opendocument.text"},
    {"oga", "audio/ogg"},
    {"ogg", "audio/ogg"},
    {"ogv", "video/ogg"},
    {"opml", "text/x-opml; charset=utf-8"},
    {"opus", "audio/ogg"},
    {"org", "text/plain; charset=utf-8"},
    {"otf", "font/otf"},
    {"p12", "application/x-pkcs12"},
    {"parquet", "application/vnd.apache.parquet"},
    {"patch", "text/x-diff; charset=utf-8"},
    {"pdf", "application/pdf"},
    {"pem", "application/x-pem-file"},
    {"pfx", "application/x-pkcs12"},
    {"pl", "text/plain; charset=utf-8"},
    {"png", "image/png"},
    {"ppt", "application/vnd.ms-powerpoint"},
    {"pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"},
    {"ps", "application/postscript"},
    {"psd", "image/vnd.adobe.photoshop"},
    {"py", "text/x-python; charset=utf-8"},
    {"qt", "video/quicktime"},
    {"rar", "application/vnd.rar"},
    {"rb", "text/plain; charset=utf-8"},
    {"rdf", "application/rdf+xml"},
    {"rpm", "application/x-rpm"},
    {"rs", "text/plain; charset=utf-8"},
    {"rss", "application/rss+xml"},
    {"rst", "text/plain; charset=utf-8"},
    {"rtf", "application/rtf"},
    {"sass", "text/plain; charset=utf-8"},
    {"scss", "text/plain; charset=utf-8"},
    {"sh", "text/x-shellscript; charset=utf-8"},
    {"shtml", "text/html; charset=utf-8"},
    {"sig", "application/pgp-signature"},
    {"so", "application/octet-stream"},
    {"sql", "text/plain; charset=utf-8"},
    {"sqlite", "application/vnd.sqlite3"},
    {"sqlite3", "application/vnd.sqlite3"},
    {"srt", "text/plain; charset=utf-8"},
    {"stl", "model/stl"},
    {"svg", "image/svg+xml"},
    {"svgz", "image/svg+xml"},
    {"swf", "application/x-shockwave-flash"},
    {"swift", "text/plain; charset=utf-8"},
    {"tar", "application/x-tar"},
    {"tex", "text/x-tex; charset=utf-8"},
    {"text", "text/plain; charset=utf-8"},
    {"tgz", "application/gzip"},
    {"tif", "image/tiff"},
    {"tiff", "image/tiff"},
    {"toml", "application/toml"},
    {"topojson", "application/json"},
    {"torrent", "application/x-bittorrent"},
    {"ts", "video/mp2t"},
    {"tsv", "text/tab-separated-values; charset=utf-8"},
    {"tsx", "text/plain; charset=utf-8"},
    {"ttc", "font/collection"},
    {"ttf", "font/ttf"},
    {"ttl", "text/turtle; charset=utf-8"},
    {"txt", "text/plain; charset=utf-8"},
    {"usdz", "model/vnd.usdz+zip"},
    {"vcf", "text/vcard; charset=utf-8"},
    {"vtt", "text/vtt; charset=utf-8"},
    {"vue", "text/plain; charset=utf-8"},
    {"war", "application/java-archive"},
    {"wasm", "application/wasm"},
    {"wav", "audio/wav"},
    {"weba", "audio/webm"},
    {"webm", "video/webm"},
    {"webmanifest", "application/manifest+json"},
    {"webp", "image/webp"},
    {"wmv", "video/x-ms-wmv"},
    {"woff", "font/woff"},
    {"woff2", "font/woff2"},
    {"xhtml", "application/xhtml+xml"},
    {"xls", "application/vnd.ms-excel"},
    {"xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
    {"xml", "application/xml"},
    {"xsd", "application/xml"},
    {"xsl", "application/xslt+xml"},
    {"xslt", "application/xslt+xml"},
    {"xz", "application/x-xz"},
    {"yaml", "application/yaml"},
    {"yml", "application/yaml"},
    {"zip", "application/zip"},
    {"zst", "application/zstd"},
};
// clang-format on

constexpr bool is_in_order() {
  for (std::size_t i = 1; i < std::size(table); ++i) {
    if (!(table[i - 1].extension < table[i].extension)) return false;
  }
  return true;
}
static_assert(is_in_order(), "the table must be sorted for the binary search");

constexpr std::size_t longest_extension() {
  std::size_t longest = 0;
  for (const Row& row : table) longest = std::max(longest, row.extension.size());
  return longest;
}

// Well-known text files without an extension.
constexpr std::string_view plain_names[] = {
    "authors",    "changelog", "changes", "codeowners", "contributing", "copying",
    "dockerfile", "gemfile",   "install", "license",    "makefile",     "news",
    "notice",     "procfile",  "readme",  "todo",       "vagrantfile"};

constexpr std::string_view plain_text = "text/plain; charset=utf-8";
constexpr std::string_view unknown = "application/octet-stream";

}  // namespace

std::string_view mime_type(std::string_view file_name) noexcept {
  file_name.remove_prefix(file_name.rfind('/') + 1);  // npos + 1 is 0
  const std::size_t dot = file_name.rfind('.');
  if (dot == std::string_view::npos || dot == 0) {
    for (const std::string_view name : plain_names) {
      if (ascii::equals_ignoring_case(file_name, name)) return plain_text;
    }
    return unknown;
  }
  const std::string_view extension = file_name.substr(dot + 1);
  std::array<char, longest_extension()> lower{};
  if (extension.size() > lower.size()) return unknown;
  std::transform(extension.begin(), extension.end(), lower.begin(), ascii::to_lower);
  const std::string_view key(lower.data(), extension.size());
  const Row* row =
      std::lower_bound(std::begin(table), std::end(table), key,
                       [](const Row& a, std::string_view b) { return a.extension < b; });
  return row != std::end(table) && row->extension == key ? row->type : unknown;
}

// In: a Content-Type. Out: whether it is worth compressing. Types missing from the table are not:
// most unknown types are compressed already, and trying costs time.

namespace {

constexpr std::array types = {
    std::string_view("application/ecmascript"),
    std::string_view("application/graphql"),
    std::string_view("application/javascript"),
    std::string_view("application/json"),
    std::string_view("application/jsonl"),
    std::string_view("application/ndjson"),
    std::string_view("application/rtf"),
    std::string_view("application/sql"),
    std::string_view("application/toml"),
    std::string_view("application/vnd.ms-fontobject"),
    std::string_view("application/wasm"),
    std::string_view("application/x-javascript"),
    std::string_view("application/x-ndjson"),
    std::string_view("application/x-sh"),
    std::string_view("application/xml"),
    std::string_view("application/yaml"),
    std::string_view("font/collection"),
    std::string_view("font/otf"),
    std::string_view("font/ttf"),
    std::string_view("image/bmp"),
    std::string_view("image/vnd.microsoft.icon"),
    std::string_view("image/x-icon"),
};

constexpr bool ends_with(std::string_view text, std::string_view end) noexcept {
  return text.size() >= end.size() &&
         ascii::equals_ignoring_case(text.substr(text.size() - end.size()), end);
}

}  // namespace

bool is_compressible(std::string_view content_type) noexcept {
  const std::string_view type = ascii::trim_ows(content_type.substr(0, content_type.find(';')));
  if (ascii::equals_ignoring_case(type.substr(0, 5), "text/")) return true;
  // RFC 6839 §3.1, RFC 7303 §4.2: structured syntax suffixes
  if (ends_with(type, "+json") || ends_with(type, "+xml") || ends_with(type, "+yaml")) return true;
  return std::any_of(types.begin(), types.end(), [type](std::string_view known) {
    return ascii::equals_ignoring_case(type, known);
  });
}

}  // namespace skua::files
