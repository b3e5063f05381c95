// SPDX-License-Identifier: MIT
// In: the options of curl that describe content. Out: the content of a request.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/ascii.hpp"
#include "base/percent.hpp"
#include "get/curl/line.hpp"

namespace skua::cli::curl {
namespace {

constexpr std::string_view form_type = "application/x-www-form-urlencoded";
constexpr std::string_view json_type = "application/json";

std::string content_of(const std::string& path) {
  Result<std::string, Problem> text = path == "-" ? read_standard_input() : read_file(path);
  if (!text) refuse(text.error().text);
  return *std::move(text);
}

std::string encoded(std::string_view text) {
  std::string out;
  percent::append(out, text, [](char c) { return percent::is(c, percent::Unreserved); });
  return out;
}

// curl sends a file of --data without line ends and NUL bytes.
std::string without_line_ends(std::string text) {
  std::erase_if(text, [](char c) { return c == '\r' || c == '\n' || c == '\0'; });
  return text;
}

std::string text_of(const Data& data) {
  if (data.kind == Data::Kind::Encoded) return encoded_data(data.value);
  if (data.kind == Data::Kind::Raw || !data.value.starts_with('@')) return data.value;
  std::string text = content_of(data.value.substr(1));
  return data.kind == Data::Kind::Text ? without_line_ends(std::move(text)) : text;
}

bool is_file(const Data& data) {
  return data.value.starts_with('@') &&
         (data.kind == Data::Kind::Binary || data.kind == Data::Kind::Json);
}

bool is_json(const Line& line) {
  return std::ranges::any_of(line.data,
                             [](const Data& data) { return data.kind == Data::Kind::Json; });
}

std::string joined(const std::vector<Data>& data) {
  std::string text;
  for (const Data& one : data) {
    if (&one != &data.front() && one.kind != Data::Kind::Json) text += '&';
    text += text_of(one);
  }
  return text;
}

void add_data(Line& line) {
  GetOptions& options = line.options;
  options.type = is_json(line) ? json_type : form_type;
  if (is_json(line)) set_default(line, {"Accept", std::string(json_type)});
  if (line.data.size() == 1 && is_file(line.data.front())) {  // sent as it is read
    options.data = line.data.front().value;
  } else {
    options.data = joined(line.data);
    options.is_data_literal = true;
  }
}

void add_upload(Line& line) {
  GetOptions& options = line.options;
  if (line.uploads.size() != 1) refuse("--upload-file: skua sends one file; use --next for more");
  const std::string& upload = line.uploads.front();
  options.data = upload == "-" || upload == "." ? "-" : "@" + upload;
  set_default(line, {"Content-Type", std::nullopt});
  if (line.urls.size() != 1) refuse("--upload-file takes one URL");
  std::string& url = line.urls.front();
  if (url.ends_with('/') && *options.data != "-") {
    url += encoded(upload.substr(upload.find_last_of("/\\") + 1));
  }
}

// Reads a value up to `;`; one in quotes may contain it. Advances behind the `;`.
std::string take_value(std::string_view& text) {
  std::string value;
  std::size_t at = 0;
  if (text.starts_with('"')) {
    for (at = 1; at < text.size() && text[at] != '"'; ++at) {
      const bool hides =
          text[at] == '\\' && at + 1 < text.size() && (text[at + 1] == '"' || text[at + 1] == '\\');
      if (hides) ++at;
      value += text[at];
    }
    at = std::min(text.find(';', at), text.size());
  } else {
    at = std::min(text.find(';'), text.size());
    value = text.substr(0, at);
  }
  text.remove_prefix(std::min(text.size(), at + 1));
  return value;
}

void take_file(RequestItems& items, std::string name, std::string_view rest) {
  RequestItems::File file{.name = std::move(name), .path = take_value(rest)};
  while (!rest.empty()) {
    rest = ascii::trim_ows(rest);
    const std::string_view key = rest.substr(0, std::min(rest.find('='), rest.size()));
    rest.remove_prefix(std::min(rest.size(), key.size() + 1));
    if (key == "type") {
      file.type = take_value(rest);
    } else if (key == "filename") {
      file.filename = take_value(rest);
    } else {
      refuse("--form: skua does not know ';" + std::string(key) + "='");
    }
  }
  if (file.path.empty()) refuse("--form: '" + file.name + "' has no file name after the @");
  if (file.path == "-") refuse("--form: skua cannot send standard input as a file of a form");
  items.files.push_back(std::move(file));
}

}  // namespace

std::string encoded_data(const std::string& value) {
  const std::size_t mark = value.find_first_of("=@");
  if (mark == value.npos) return encoded(value);
  const std::string name = value.substr(0, mark);
  const std::string rest = value.substr(mark + 1);
  const std::string text = encoded(value[mark] == '@' ? content_of(rest) : rest);
  return name.empty() ? text : name + "=" + text;
}

void take_part(RequestItems& items, const Part& part) {
  const std::size_t mark = part.value.find('=');
  if (mark == part.value.npos || mark == 0) {
    refuse("--form: '" + part.value + "' is not NAME=TEXT or NAME=@FILE");
  }
  std::string name = part.value.substr(0, mark);
  const std::string text = part.value.substr(mark + 1);
  if (!part.is_text && text.starts_with('@')) {
    return take_file(items, std::move(name), std::string_view(text).substr(1));
  }
  if (!part.is_text && text.starts_with('<')) {
    items.data.push_back({std::move(name), content_of(text.substr(1))});
    return;
  }
  if (!part.is_text && text.find(";type=") != text.npos) {
    refuse("--form: skua sends no type with a text; use --form-string if it is part of it");
  }
  items.data.push_back({std::move(name), text});
}

std::string take_content(Line& line) {
  GetOptions& options = line.options;
  const int kinds = int{!line.data.empty()} + int{!line.parts.empty()} + int{!line.uploads.empty()};
  if (kinds > 1) refuse("--data, --form and --upload-file cannot be used together");
  if (line.in_query) {
    if (!line.parts.empty() || !line.uploads.empty()) refuse("--get needs --data");
    return joined(line.data);
  }
  if (!line.data.empty()) add_data(line);
  for (const Part& part : line.parts) take_part(options.items, part);
  options.form = options.multipart = !line.parts.empty();
  if (!line.uploads.empty()) add_upload(line);
  return {};
}

}  // namespace skua::cli::curl
