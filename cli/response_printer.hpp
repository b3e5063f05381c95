// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "get_options.hpp"
#include "json_printer.hpp"
#include "skua/client.hpp"
#include "terminal_text.hpp"

namespace skua::cli {

/// While it lives, SIGINT and SIGTERM end the process at once. A loop that waits for its output to
/// be read sees no signal, and whoever should read it may never do so: a pager that is left open.
class Mortal {
 public:
  Mortal() noexcept;
  Mortal(const Mortal&) = delete;
  Mortal& operator=(const Mortal&) = delete;
  ~Mortal();

 private:
  static constexpr std::array<int, 2> signals = {SIGINT, SIGTERM};
  std::array<struct sigaction, signals.size()> saved_{};
};

/// Writes all of a text to a descriptor.
///
/// Ends with: std::system_error
void write_all(int descriptor, std::string_view text);

/// Takes the first line, without its end, from lines as HTTP/1 has them.
std::string_view next_line(std::string_view& lines) noexcept;

/// The head of a response, of lines as HTTP/1 has them, each behind a prefix.
std::string head_text(std::string_view lines, bool has_colour, std::string_view prefix);

/// The trailers of a response that was read to its end, each behind a prefix; empty for none.
std::string trailers_text(const ClientResponse& response, bool has_colour,
                          std::string_view prefix = "");

/// Prints the head of a response on the standard output, and `end` behind it.
///
/// Ends with: std::system_error
void print_head(const ClientResponse& response, Colour colour, std::string_view end);
/// The same for the trailers, behind an empty line; nothing where there are none.
void print_trailers(const ClientResponse& response, Colour colour);

/// Prints the content of a response on the standard output: as it is into pipes, laid out and
/// harmless on a terminal.
///
/// Every function ends with std::system_error where the output cannot be written.
class ContentPrinter final {
 public:
  /// Lifetime:  the options and the response outlive it.
  ContentPrinter(const GetOptions& options, const ClientResponse& response);

  /// Prints a piece; false: it is nothing that a terminal can show, and nothing was printed.
  bool append(std::string_view piece);
  void finish();

 private:
  enum class Kind : std::uint8_t {
    Unknown,  ///< for a terminal, before the first byte
    Bytes,
    Text,
    Json,
  };

  void print(std::string_view text);

  Kind kind_;
  std::string type_;
  bool is_terminal_;
  JsonPrinter json_;
  TerminalText text_;
  char last_ = '\n';
};

}  // namespace skua::cli
