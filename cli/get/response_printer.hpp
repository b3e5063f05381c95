// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "get/json_printer.hpp"
#include "get/options.hpp"
#include "skua/client.hpp"
#include "system.hpp"
#include "terminal.hpp"

namespace skua::cli {

/// While it exists, SIGINT and SIGTERM kill the process. A loop that blocks on output handles no
/// signals, and the reader may never continue, e.g. a pager that is left open.
class Mortal {
 public:
  Mortal() noexcept;
  Mortal(const Mortal&) = delete;
  Mortal& operator=(const Mortal&) = delete;
  ~Mortal();

 private:
  std::array<void (*)(int), ending_signals.size()> saved_{};
};

/// Removes and returns the first of some CRLF-terminated lines, without its end.
std::string_view next_line(std::string_view& lines) noexcept;

/// Formats a response head, given as HTTP/1 lines, with a prefix on each line.
std::string head_text(std::string_view lines, bool has_colour, std::string_view prefix);

/// Formats the trailers of a fully read response, with a prefix on each line; empty if none.
std::string trailers_text(const ClientResponse& response, bool has_colour,
                          std::string_view prefix = "");

/// Prints the head of a response, then `end`, on standard output.
///
/// Ends with: std::system_error
void print_head(const ClientResponse& response, Colour colour, std::string_view end);
/// Prints an empty line and the trailers of a response, if it has any, on standard output.
void print_trailers(const ClientResponse& response, Colour colour);

/// Prints the content of a response: unchanged into pipes, formatted and escaped on a terminal.
///
/// Every function throws std::system_error if the output cannot be written.
class ContentPrinter final {
 public:
  /// `descriptor` is standard output, or the device or pipe of --output.
  ///
  /// Lifetime:  the options and the response outlive it.
  ContentPrinter(const GetOptions& options, const ClientResponse& response, int descriptor);

  /// Prints a piece; returns false, and prints nothing, if a terminal cannot show it.
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

  int descriptor_;
  Kind kind_;
  std::string type_;
  bool is_terminal_;
  JsonPrinter json_;
  TerminalText text_;
  char last_ = '\n';
};

}  // namespace skua::cli
