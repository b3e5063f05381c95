// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
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

/// The place of a URL's content: the value of --output, or none for --remote-name.
struct Output {
  std::optional<std::string> path{};
};

/// The command line of curl up to --next, as far as it is not in GetOptions already.
struct Line {
  Line() {
    options.client.decompress = false;
    options.client.redirects.allow_userinfo = true;
  }

  GetOptions options{};
  std::string method{};
  std::vector<std::string> urls{};
  std::vector<Output> outputs{};  ///< of the first URL, of the second, and so on
  std::string output_folder{};
  std::string scheme{};              ///< of URLs that have none; empty: http
  std::string etag_compare{};        ///< a file
  std::vector<std::string> query{};  ///< of --url-query
  std::vector<Data> data{};
  std::vector<Part> parts{};
  std::vector<std::string> uploads{};           ///< a file, or `-`
  std::vector<std::string> headers{};           ///< as given
  std::vector<RequestItems::Field> defaults{};  ///< sent unless `headers` has one of this name
  std::string cookies{};
  std::vector<std::string> notes{};  ///< for the user, about options without effect
  bool in_query = false;             ///< --get
  bool asks_head = false;
  bool follows = false;
  bool fails_with_content = false;
  bool saves_all = false;      ///< --remote-name-all
  bool globs = true;           ///< URLs have patterns
  bool splits = false;         ///< --fail-early: URLs are requested one after the other
  bool is_https_only = false;  ///< --proto =https
  bool refuses_users = false;  ///< --disallow-username-in-url
};

/// Makes requests of the line, and checks the combinations of its options. Those that share all
/// options are one, with several URLs.
///
/// Ends with: CLI::ValidationError
std::vector<GetOptions> finish(Line& line);

// The steps of finish().

/// Adds the content: data, a form or an upload. Returns the query of --get.
std::string take_content(Line& line);
/// Parses a part of a form: `name=text`, `name=@FILE;type=TYPE;filename=NAME` or `name=<FILE`.
void take_part(RequestItems& items, const Part& part);
/// Encodes a --data-urlencode value: `text`, `=text`, `name=text`, `@FILE` or `name@FILE`.
std::string encoded_data(const std::string& value);

/// Sets a field that is sent unless --header has one of this name; the last value holds.
void set_default(Line& line, RequestItems::Field field);

/// Refuses the command line.
[[noreturn]] void refuse(const std::string& text);

}  // namespace skua::cli::curl
