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

/// What the words behind a URL say, each kind in its order:
///
/// ```
/// Name:value      a field of the request; without a value: one that is not sent
/// name==value     a parameter of the query
/// name=value      a string of the JSON object, or a field of the form
/// name:=json      any JSON
/// name=@file      either of them, read from a file: name:=@file
/// name@file       a file of the form; name@file;type=media/type
/// ```
/// A backslash takes the meaning of the `:`, `=`, `@` or backslash behind it away, in the name.
struct RequestItems {
  struct Field {
    std::string name{};
    std::optional<std::string> value{};  ///< nothing: not to be sent
  };
  struct Datum {
    std::string name{};
    std::string value{};   ///< the text, the JSON, or the path of the file that holds it
    bool is_json = false;  ///< as it is, not a string
    bool is_path = false;
  };
  struct File {
    std::string name{};
    std::string path{};
    std::string type{};  ///< empty: what the name of the file says
  };

  std::vector<Field> fields{};
  std::vector<std::pair<std::string, std::string>> query{};
  std::vector<Datum> data{};
  std::vector<File> files{};

  [[nodiscard]] bool has_content() const noexcept { return !data.empty() || !files.empty(); }
};

/// Adds what one word says.
///
/// Ends with: MalformedForm, and a text that quotes the word and says what is wrong.
Result<void, Problem> add_item(RequestItems& items, std::string_view word);

/// `Name: value`, or `Name:` for one that is not sent, as of a word and of `--header`.
///
/// Ends with: MalformedField, with a text.
Result<RequestItems::Field, Problem> parse_field(std::string_view line);

/// The JSON object of the data.
///
/// Ends with: MalformedForm for a name that is there twice and a text that is not UTF-8; what the
///            file system says of files.
Result<std::string, Problem> json_object(std::span<const RequestItems::Datum> data);

/// The fields of a form of the data.
///
/// Ends with: MalformedForm where one of them is JSON; what the file system says of files.
Result<std::vector<std::pair<std::string, std::string>>, Problem> form_fields(
    std::span<const RequestItems::Datum> data);

/// A whole file, of at most 64 MiB. It blocks.
///
/// Ends with: BodyTooLong, what the file system says.
Result<std::string, Problem> read_file(const std::string& path);

}  // namespace skua::cli
