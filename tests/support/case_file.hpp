// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "skua/error.hpp"

/// Case files: readable Markdown that tests of every level run. See tests/cases/README.md.
namespace skua::testing {

/// One expected outcome of the bytes of a case.
struct Expected {
  enum class Kind {
    Message,  ///< a request, or a response
    Failure,  ///< an error that ends the connection
    More,     ///< an incomplete message
  };
  using Fields = std::vector<std::pair<std::string, std::string>>;

  Kind kind = Kind::Message;
  // Message.
  std::string method;  ///< of a request
  std::string target;  ///< of a request, as it was sent
  int minor_version = 1;
  int status = 0;    ///< of a response; of a Failure, the server's reply
  std::string host;  ///< checked if `check_host`
  bool check_host = false;
  Fields fields;  ///< the head contains these, in this order
  std::string body;
  Fields trailers;     ///< exactly these
  bool close = false;  ///< the connection is not reused
  bool expect_continue = false;
  bool upgrade = false;
  std::string rest;  ///< the bytes after the message; checked if `check_rest`
  bool check_rest = false;
  // Failure.
  std::string error;     ///< the name of an Errc
  bool in_body = false;  ///< the head was valid
};

/// One case of a case file.
struct Case {
  std::string file;  ///< `chunked.md`
  int line = 0;
  std::string title;
  std::string section;  ///< `RFC 9112 §6.3`
  std::string bytes;
  bool is_response = false;
  std::string answer_to = "GET";  ///< of a response: the method of its request
  bool offers_upgrade = false;    ///< of a response: its request had an Upgrade field
  bool then_close = false;        ///< the peer ends its side after the bytes
  std::vector<std::pair<std::string, std::size_t>> limits;  ///< non-default ones
  std::vector<Expected> expected;

  /// Returns the limit called `name`, or `fallback` if the case does not set it.
  [[nodiscard]] std::size_t limit(std::string_view name, std::size_t fallback) const;
  /// Returns `chunked.md:12: title`.
  [[nodiscard]] std::string where() const;
};

/// Returns the name that case files use for a protocol error, e.g. `InvalidHost`.
std::string_view errc_name(Errc code) noexcept;

/// Decodes the notation of bytes: `\r \n \t \\ \" \{ \xHH`, and `{text}*N` for N times text.
/// Ends with: std::runtime_error for any other escape or brace.
std::string unescape(std::string_view text);

/// Returns the bytes in printable form.
std::string escape(std::string_view bytes);

/// Reads one case file. Ends with: std::runtime_error that names the line.
std::vector<Case> read_case_file(const std::filesystem::path& path);

/// Reads every case file of a folder except README.md, in order of name.
std::vector<Case> read_case_files(const std::filesystem::path& folder);

}  // namespace skua::testing
