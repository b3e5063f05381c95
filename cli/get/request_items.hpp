// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "skua/error.hpp"

namespace skua::cli {

/// The items after a URL, each kind in command-line order:
///
/// ```
/// Name:value      a field of the request; without a value, the field is not sent
/// name==value     a query parameter
/// name=value      a string in the JSON object, or a form field
/// name:=json      any JSON
/// name=@file      a string read from a file; name:=@file reads JSON
/// name@file       a file to upload with a form; name@file;type=media/type
/// ```
/// In a name, a backslash escapes the `:`, `=`, `@` or backslash after it.
struct RequestItems {
  struct Field {
    std::string name{};
    std::optional<std::string> value{};  ///< nullopt: not sent
  };
  struct Datum {
    std::string name{};
    std::string value{};   ///< the text, the JSON, or the path of the file that holds it
    bool is_json = false;  ///< inserted as is, not as a string
    bool is_path = false;
  };
  struct File {
    std::string name{};
    std::string path{};
    std::string type{};      ///< empty: guessed from the file name
    std::string filename{};  ///< the name to send; empty: the last part of the path
  };

  std::vector<Field> fields{};
  std::vector<std::pair<std::string, std::string>> query{};
  std::vector<Datum> data{};
  std::vector<File> files{};

  [[nodiscard]] bool has_content() const noexcept { return !data.empty() || !files.empty(); }
};

/// Parses a word and adds its item.
///
/// Ends with: MalformedForm or MalformedField, with a text that quotes the word.
Result<void, Problem> add_item(RequestItems& items, std::string_view word);

/// Parses a `--header` line: `Name: value`, or `Name:` for a field that is not sent.
///
/// Ends with: MalformedField, with a text.
Result<RequestItems::Field, Problem> parse_field(std::string_view line);

/// Builds the JSON object of the data.
///
/// Ends with: MalformedForm for a repeated name, text that is not UTF-8 or a file that is not JSON;
///            file system errors.
Result<std::string, Problem> json_object(std::span<const RequestItems::Datum> data);

/// Builds the form fields of the data.
///
/// Ends with: MalformedForm if one of them is JSON; file system errors.
Result<std::vector<std::pair<std::string, std::string>>, Problem> form_fields(
    std::span<const RequestItems::Datum> data);

/// Returns the error of a file that cannot be read, with a text for the user.
Problem unreadable(const std::string& path, Error error);

/// Reads a whole file, of at most 64 MiB. Blocks.
///
/// Ends with: BodyTooLong; file system errors.
Result<std::string, Problem> read_file(const std::string& path);

/// Reads all of standard input, likewise.
Result<std::string, Problem> read_standard_input();

}  // namespace skua::cli
