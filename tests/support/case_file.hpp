// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "skua/error.hpp"

/// Case files: Markdown that a person reads and every level of the tests runs. See
/// tests/cases/README.md.
namespace skua::testing {

/// One thing that has to come out of the bytes of a case.
struct Expected {
  enum class Kind {
    Message,  ///< a request, or a response
    Failure,  ///< an error that ends the connection
    More,     ///< a message that has begun and is not whole
  };
  using Fields = std::vector<std::pair<std::string, std::string>>;

  Kind kind = Kind::Message;
  // Message.
  std::string method;  ///< of a request
  std::string target;  ///< of a request, as it was sent
  int minor_version = 1;
  int status = 0;    ///< of a response; of a Failure: what a server answers
  std::string host;  ///< checked if `check_host`
  bool check_host = false;
  Fields fields;  ///< each is among the head's, in this order
  std::string body;
  Fields trailers;     ///< these and no others
  bool close = false;  ///< the connection is not kept
  bool expect_continue = false;
  bool upgrade = false;
  std::string rest;  ///< what is left of the bytes behind the message; checked if `check_rest`
  bool check_rest = false;
  // Failure.
  std::string error;     ///< the name of the Errc
  bool in_body = false;  ///< the head was fine
};

/// One case of a case file.
struct Case {
  std::string file;  ///< `framing.md`
  int line = 0;
  std::string title;
  std::string section;  ///< `RFC 9112 §6.3`
  std::string bytes;
  bool is_response = false;
  std::string answer_to = "GET";  ///< of a response: the method of its request
  bool offers_upgrade = false;    ///< of a response: its request had an Upgrade field
  bool then_close = false;        ///< after the bytes the peer ends its side
  std::vector<std::pair<std::string, std::size_t>> limits;  ///< those that are not the default
  std::vector<Expected> expected;

  /// The limit called `name`, or `fallback`.
  [[nodiscard]] std::size_t limit(std::string_view name, std::size_t fallback) const;
  /// `framing.md:12: title`
  [[nodiscard]] std::string where() const;
};

/// `InvalidHost`: the name that case files use for a protocol error.
std::string_view errc_name(Errc code) noexcept;

/// Turns the notation of bytes into bytes: `\r \n \t \\ \" \{ \xHH`, and `{text}*N` for N times
/// text. Ends with: std::runtime_error for anything else.
std::string unescape(std::string_view text);

/// Bytes as they can be printed.
std::string escape(std::string_view bytes);

/// Reads one case file. Ends with: std::runtime_error that names the line.
std::vector<Case> read_case_file(const std::filesystem::path& path);

/// Reads every case file of a folder, in order of name; README.md is none.
std::vector<Case> read_case_files(const std::filesystem::path& folder);

}  // namespace skua::testing
