// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "get/options.hpp"
#include "get/request_items.hpp"

namespace skua::cli::curl {

/// A piece of content: the value of --data and its relatives.
struct Data {
  enum class Kind : std::uint8_t {
    Text,     ///< --data, --json: `@FILE` is a file, without its line ends for --data
    Raw,      ///< --data-raw: always a text
    Binary,   ///< --data-binary: `@FILE` is a file
    Encoded,  ///< --data-urlencode
    Json,     ///< --json: follows the piece before it without `&`
  };
  Kind kind = Kind::Text;
  std::string value{};
};

/// A part of a form: the value of --form, or of --form-string.
struct Part {
  std::string value{};
  bool is_text = false;  ///< `@`, `<` and `;` mean nothing
};

/// The command line of curl, as far as it is not in GetOptions already.
struct Line {
  explicit Line(GetOptions& asked) : options(asked) {}

  GetOptions& options;
  std::string method{};
  std::vector<std::string> urls{};
  std::vector<Data> data{};
  std::vector<Part> parts{};
  std::string upload{};                         ///< a file, or `-`; empty: none
  std::vector<std::string> headers{};           ///< as given
  std::vector<RequestItems::Field> defaults{};  ///< sent unless `headers` has one of this name
  std::string cookies{};
  std::vector<std::string> notes{};  ///< for the user, about options without effect
  bool in_query = false;             ///< --get
  bool asks_head = false;
  bool follows = false;
};

/// Makes a request of the line, and checks the combinations of its options.
///
/// Ends with: CLI::ValidationError
void finish(Line& line);

// The steps of finish().

/// Adds the content: data, a form or an upload. Returns the query of --get.
std::string take_content(Line& line);
/// Parses a part of a form: `name=text`, `name=@FILE;type=TYPE;filename=NAME` or `name=<FILE`.
void take_part(RequestItems& items, const Part& part);
/// Encodes a --data-urlencode value: `text`, `=text`, `name=text`, `@FILE` or `name@FILE`.
std::string encoded_data(const std::string& value);

/// Refuses the command line.
[[noreturn]] void refuse(const std::string& text);

}  // namespace skua::cli::curl
