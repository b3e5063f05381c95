// SPDX-License-Identifier: MIT
// In: the Content-Disposition of a part. Out: the names in it; and the other way round. Names are
// decoded to what the sender's user saw. safe_filename() turns one into a name for a file, without
// anything that has a meaning to a file system.
#include "http/form/content_disposition.hpp"

#include <algorithm>
#include <cstddef>

#include "base/ascii.hpp"
#include "base/percent.hpp"
#include "http/message/media_type.hpp"

namespace skua::http {
namespace {

// NAME_MAX is 255, and a file has a longer name while it is written.
constexpr std::size_t longest_filename_bytes = 200;

// HTML, "multipart/form-data encoding algorithm": a quote is written as %22. Line ends are written
// as %0D%0A, but those stay encoded: a name with a line end would break any line that it is written
// to. Nothing else is encoded: `50%25` is a literal name.
std::string decode_value(const Parameter& parameter) {
  std::string text(parameter.value);
  if (!parameter.is_quoted) return text;
  text.resize(unescape_quoted(text, text.data()));
  constexpr std::string_view quote = "%22";
  for (std::size_t at = text.find(quote); at != text.npos; at = text.find(quote, at + 1)) {
    text.replace(at, quote.size(), 1, '"');
  }
  return text;
}

// Decodes `UTF-8'language'percent-encoded`; returns nullopt for anything else and for control
// characters. RFC 8187 §3.2.1
std::optional<std::string> decode_extended(std::string_view value) {
  constexpr std::string_view charset = "UTF-8'";
  if (!ascii::equals_ignoring_case(value.substr(0, charset.size()), charset)) return std::nullopt;
  const std::size_t quote = value.find('\'', charset.size());
  if (quote == value.npos) return std::nullopt;
  std::string out;
  for (std::string_view rest = value.substr(quote + 1); !rest.empty();) {
    const bool is_encoded = percent::has_triplet(rest);
    if (!is_encoded && (rest.front() == '%' || !ascii::is_token(rest.front()))) return std::nullopt;
    const char octet = is_encoded ? percent::triplet_octet(rest) : rest.front();
    if (ascii::is_control(octet)) return std::nullopt;
    out += octet;
    rest.remove_prefix(is_encoded ? percent::triplet_bytes : 1);
  }
  return out;
}

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (ascii::is_control(text[i]) || text[i] == '"') {
      percent::append_triplet(out, text[i]);
      continue;
    }
    out += text[i];
    // Browsers do not escape backslashes; only one that could be read as an escape is escaped.
    const bool is_ambiguous = i + 1 == text.size() || text[i + 1] == '\\';
    if (text[i] == '\\' && is_ambiguous) out += '\\';
  }
  out += '"';
}

// Reports whether Windows takes a name for a device: CON, PRN, AUX, NUL, COM1, ..., any extension.
bool is_device(std::string_view name) noexcept {
  const std::string_view stem = ascii::trim_ows(name.substr(0, name.find('.')));
  for (const std::string_view device : {"con", "prn", "aux", "nul", "conin$", "conout$"}) {
    if (ascii::equals_ignoring_case(stem, device)) return true;
  }
  if (stem.size() < 4) return false;
  const std::string_view number = stem.substr(3);
  const bool is_port = ascii::equals_ignoring_case(stem.substr(0, 3), "com") ||
                       ascii::equals_ignoring_case(stem.substr(0, 3), "lpt");
  // Windows counts superscript one, two and three as digits.
  return is_port && ((number.size() == 1 && ascii::is_digit(number[0])) || number == "\xc2\xb9" ||
                     number == "\xc2\xb2" || number == "\xc2\xb3");
}

constexpr bool is_dot_or_space(char c) noexcept { return c == '.' || c == ' '; }

std::string_view trim_dots(std::string_view name) noexcept {
  while (!name.empty() && is_dot_or_space(name.front())) name.remove_prefix(1);
  while (!name.empty() && is_dot_or_space(name.back())) name.remove_suffix(1);
  return name;
}

// Cuts a text to at most `bytes`, never within a UTF-8 character.
std::string_view shorten(std::string_view text, std::size_t bytes) noexcept {
  if (text.size() <= bytes) return text;
  while (bytes != 0 && (static_cast<unsigned char>(text[bytes]) & 0xc0U) == 0x80) --bytes;
  return text.substr(0, bytes);
}

// Replaces bidi controls, which make `a<RLO>gpj.exe` look like `aexe.jpg`. Unicode UAX #9 §2
void replace_reordering(std::string& name) {
  for (std::size_t at = 0; at + 3 <= name.size(); ++at) {
    const auto last = static_cast<unsigned char>(name[at + 2]);
    const bool is_embedding = name.compare(at, 2, "\xe2\x80") == 0 && last >= 0xaa && last <= 0xae;
    const bool is_isolate = name.compare(at, 2, "\xe2\x81") == 0 && last >= 0xa6 && last <= 0xa9;
    if (is_embedding || is_isolate) name.replace(at, 3, "_");
  }
}

}  // namespace

Result<ContentDisposition> parse_content_disposition(std::string_view field) {
  constexpr Error malformed(Errc::MalformedMultipart, "Content-Disposition");
  field = ascii::trim_ows(field);
  const std::size_t end = std::min(field.find_first_of("; \t"), field.size());
  if (!ascii::is_token_text(field.substr(0, end))) return malformed;
  std::optional<Parameter> name;
  std::optional<Parameter> filename;
  std::optional<Parameter> extended;
  Parameters parameters(field.substr(end));
  while (const auto parameter = parameters.next()) {
    std::optional<Parameter>* place = nullptr;
    if (ascii::equals_ignoring_case(parameter->name, "name")) place = &name;
    if (ascii::equals_ignoring_case(parameter->name, "filename")) place = &filename;
    if (ascii::equals_ignoring_case(parameter->name, "filename*")) place = &extended;
    if (place == nullptr) continue;
    if (*place) return malformed;
    *place = parameter;
  }
  if (parameters.is_malformed()) return malformed;
  ContentDisposition out;
  out.type = field.substr(0, end);
  std::transform(out.type.begin(), out.type.end(), out.type.begin(), ascii::to_lower);
  if (name) out.name = decode_value(*name);
  if (extended && !extended->is_quoted) out.filename = decode_extended(extended->value);
  if (!out.filename && filename) out.filename = decode_value(*filename);
  return out;
}

std::string form_data_disposition(std::string_view name, std::optional<std::string_view> filename) {
  std::string out = "form-data; name=";
  append_quoted(out, name);
  if (filename) {
    out += "; filename=";
    append_quoted(out, *filename);
  }
  return out;
}

std::string safe_filename(std::string_view filename) {
  const std::size_t separator = filename.find_last_of("/\\");
  if (separator != filename.npos) filename.remove_prefix(separator + 1);
  std::string name(trim_dots(filename));
  for (char& c : name) {
    constexpr std::string_view special = "<>:\"|?*";
    if (ascii::is_control(c) || special.find(c) != special.npos) c = '_';
  }
  replace_reordering(name);
  // Programs take a leading '-' for an option; shells expand a leading '~' to a home folder.
  if (name.starts_with('-') || name.starts_with('~')) name.front() = '_';
  if (is_device(name)) name.insert(name.begin(), '_');
  return std::string(trim_dots(shorten(name, longest_filename_bytes)));
}

}  // namespace skua::http
