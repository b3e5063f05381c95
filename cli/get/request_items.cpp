// SPDX-License-Identifier: MIT
// In: words of a command line. Out: fields, parameters and the content of a request. A word is
// split at its first unescaped separator; if several begin there, at the longest.
#include "get/request_items.hpp"

#include <array>
#include <cerrno>
#include <set>
#include <stdexcept>

#include "base/ascii.hpp"
#include "base/disk.hpp"
#include "client/problem.hpp"
#include "files/listing/escape.hpp"
#include "get/json_printer.hpp"
#include "http/message/media_type.hpp"
#include "skua/bytes.hpp"
#include "skua/field_lines.hpp"
#include "system.hpp"
#include "ws/utf8.hpp"

namespace skua::cli {
namespace {

constexpr std::size_t max_file_bytes = 64_MiB;
constexpr std::string_view special = ":=@\\";
// Longest first.
constexpr std::array<std::string_view, 7> separators = {":=@", ":=", "=@", "==", "=", ":", "@"};

struct Cut {
  std::string name;
  std::string_view separator;
  std::string_view value;
};

std::optional<Cut> cut(std::string_view word) {
  std::string name;
  for (std::size_t i = 0; i < word.size(); ++i) {
    const bool hides =
        word[i] == '\\' && i + 1 < word.size() && special.find(word[i + 1]) != special.npos;
    if (hides) {
      name.push_back(word[++i]);
      continue;
    }
    const std::string_view rest = word.substr(i);
    for (const std::string_view separator : separators) {
      if (!rest.starts_with(separator)) continue;
      return Cut{std::move(name), separator, rest.substr(separator.size())};
    }
    name.push_back(word[i]);
  }
  return std::nullopt;
}

std::string in_quotes(std::string_view text) { return "'" + std::string(text) + "'"; }

Problem wrong(std::string_view what, const std::string& why) {
  return {.error = Errc::MalformedForm, .text = in_quotes(what) + " " + why};
}

Result<RequestItems::Field, Problem> make_field(std::string name, std::string_view text,
                                                std::string_view whole) {
  const std::string_view value = ascii::trim_ows(text);
  RequestItems::Field field{.name = std::move(name)};
  if (!value.empty()) field.value = std::string(value);
  try {
    FieldLines().add(field.name, value);
  } catch (const std::invalid_argument& error) {
    return Problem{.error = Errc::MalformedField,
                   .text = in_quotes(whole) + " is not a header: " + error.what()};
  }
  return field;
}

Result<RequestItems::File, Problem> make_file(std::string name, std::string_view text,
                                              std::string_view whole) {
  constexpr std::string_view mark = ";type=";
  RequestItems::File file{.name = std::move(name)};
  if (const std::size_t at = text.rfind(mark); at != text.npos) {
    file.type = text.substr(at + mark.size());
    text = text.substr(0, at);
    if (!http::parse_media_type(file.type)) {
      return wrong(whole,
                   "has an invalid media type " + in_quotes(file.type) + ": expected type/subtype");
    }
  }
  if (text.empty()) return wrong(whole, "has no file name after the @");
  file.path = text;
  return file;
}

// Returns the JSON or text of a datum, or the content of the file that it names.
Result<std::string, Problem> content_of(const RequestItems::Datum& datum) {
  if (!datum.is_path) return datum.value;
  return read_file(datum.value);
}

Result<std::string, Problem> read_all(int file, const std::string& path) {
  std::string content;
  std::array<char, 16384> buffer;
  while (true) {
    const auto count = disk::read(file, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return unreadable(path, Error::from_system(errno, "read"));
    if (count == 0) break;
    content.append(buffer.data(), static_cast<std::size_t>(count));
    if (content.size() > max_file_bytes) return unreadable(path, Errc::BodyTooLong);
  }
  return content;
}

}  // namespace

Problem unreadable(const std::string& path, Error error) {
  return {.error = error, .text = "cannot read " + path + ": " + client::reason_of(error)};
}

Result<RequestItems::Field, Problem> parse_field(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == line.npos || colon == 0) {
    return Problem{.error = Errc::MalformedField,
                   .text = in_quotes(line) + " does not start with a name and a colon"};
  }
  return make_field(std::string(line.substr(0, colon)), line.substr(colon + 1), line);
}

Result<void, Problem> add_item(RequestItems& items, std::string_view word) {
  std::optional<Cut> parts = cut(word);
  if (!parts) {
    return wrong(word, "is not Name:value, name==value, name=value, name:=json or name@FILE");
  }
  auto& [name, separator, value] = *parts;
  if (name.empty()) {
    const bool is_file = separator == "@";
    return wrong(word, "has no name before the " + in_quotes(separator) +
                           (is_file ? "; use --data @FILE to send a file as is" : ""));
  }
  if (separator == ":") {
    Result<RequestItems::Field, Problem> field = make_field(std::move(name), value, word);
    if (!field) return std::move(field).error();
    items.fields.push_back(*std::move(field));
  } else if (separator == "==") {
    items.query.emplace_back(std::move(name), value);
  } else if (separator == "@") {
    Result<RequestItems::File, Problem> file = make_file(std::move(name), value, word);
    if (!file) return std::move(file).error();
    items.files.push_back(*std::move(file));
  } else {
    const bool is_json = separator.starts_with(':');
    const bool is_path = separator.ends_with('@');
    if (is_path && value.empty()) return wrong(word, "has no file name after the @");
    if (is_json && !is_path && !cli::is_json(value)) {
      return wrong(word, "has no valid JSON after ':='; use name=value for a string");
    }
    items.data.push_back({std::move(name), std::string(value), is_json, is_path});
  }
  return {};
}

Result<std::string, Problem> json_object(std::span<const RequestItems::Datum> data) {
  std::set<std::string_view> names;
  std::string object = "{";
  for (const RequestItems::Datum& datum : data) {
    if (!ws::is_utf8(datum.name)) return wrong(datum.name, "is not a UTF-8 name");
    if (!names.insert(datum.name).second) {
      return wrong(datum.name, "is given twice; for a list, use " + datum.name + ":='[1, 2]'");
    }
    Result<std::string, Problem> content = content_of(datum);
    if (!content) return content;
    if (object.size() > 1) object += ',';
    files::append_json(object, datum.name);
    object += ':';
    const std::string where = datum.is_path ? "from " + datum.value : "given";
    if (datum.is_json && !is_json(*content)) return wrong(datum.name, where + " is not JSON");
    if (!datum.is_json && !ws::is_utf8(*content)) {
      return wrong(datum.name, "cannot be a JSON string: the text " + where + " is not UTF-8");
    }
    if (datum.is_json) {
      object += *content;
    } else {
      files::append_json(object, *content);
    }
  }
  return object + "}";
}

Result<std::vector<std::pair<std::string, std::string>>, Problem> form_fields(
    std::span<const RequestItems::Datum> data) {
  std::vector<std::pair<std::string, std::string>> fields;
  for (const RequestItems::Datum& datum : data) {
    if (datum.is_json) return wrong(datum.name, "is JSON, which a form cannot contain");
    Result<std::string, Problem> content = content_of(datum);
    if (!content) return std::move(content).error();
    fields.emplace_back(datum.name, *std::move(content));
  }
  return fields;
}

Result<std::string, Problem> read_file(const std::string& path) {
  const disk::Descriptor file(disk::open(path.c_str(), O_RDONLY | disk::close_on_exec));
  if (!file) return unreadable(path, Error::from_system(errno, "open"));
  return read_all(file.number(), path);
}

Result<std::string, Problem> read_standard_input() {
  return read_all(standard_input, "standard input");
}

}  // namespace skua::cli
