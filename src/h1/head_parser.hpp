// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/scan/scan.hpp"
#include "http/message/field.hpp"
#include "skua/bytes.hpp"
#include "skua/config.hpp"
#include "skua/error.hpp"

namespace skua::h1 {

/// Limits on a head. A field line or target above 65535 bytes is never accepted.
struct HeadLimits {
  std::size_t target_bytes = 8_KiB;       ///< else TargetTooLong
  std::size_t field_line_bytes = 16_KiB;  ///< name to value, without CRLF; else FieldTooLong
  std::size_t head_bytes = 64_KiB;        ///< start line to empty line; else HeadTooLong
  std::uint16_t fields = 128;             ///< each cookie crumb counts; else TooManyFields
};

/// The kind of start line. Trailers have none.
enum class HeadKind : std::uint8_t { Request, Response, Trailers };

enum class ParseStatus : std::uint8_t { NeedMore, Complete, Failed };

/// The part of a head that the next byte belongs to.
enum class HeadState : std::uint8_t {
  Start,
  StartLf,
  MethodName,
  Target,
  Version,
  StatusLine,
  Reason,
  ReasonLf,
  Line,
  Name,
  ValueBegin,
  Value,
  ValueLf,
  EndLf,
  Done,
  Broken
};

/// The state of a parse, shared by the parsers for each instruction set.
struct HeadParse {
  HeadParse(HeadKind wanted, const HeadLimits& given, std::span<http::FieldLine> lines) noexcept;

  std::uint32_t position = 0;    ///< where parsing stopped
  std::uint32_t part_begin = 0;  ///< where the current part began
  std::uint32_t line_begin = 0;  ///< where the current field line began
  std::uint32_t cost = 0;        ///< fields so far, including cookie crumbs
  std::uint32_t count = 0;       ///< field lines so far
  std::uint32_t name_bytes = 0;  ///< of the current field line
  HeadState state = HeadState::Start;
  HeadState first = HeadState::Start;  ///< the initial state of a message
  HeadKind kind;
  Errc error = Errc::None;
  bool in_query = false;  ///< the target has a '?' (searched for only if it matters)
  bool unknown_method =
      false;  ///< it is refused, which is reported after the version, which takes precedence
  std::span<http::FieldLine> storage;
  HeadLimits limits;
  http::Head head;
};

/// A single-pass parser for the head of a message; it can stop and resume at any byte.
///
/// The outcome, including the error, depends only on the bytes, never on how they were split.
/// If parsers share storage, an unfinished parse must move to another with `continue_from`.
/// Lifetime:  the storage outlives the parser; head() views the bytes last given to parse().
/// RFC:       9112 §2-5
class HeadParser {
 public:
  HeadParser(HeadKind kind, const HeadLimits& limits,
             std::span<http::FieldLine> storage SKUA_LIFETIMEBOUND) noexcept;
  /// Like the above, but uses the given instruction set, which must be supported.
  HeadParser(HeadKind kind, const HeadLimits& limits,
             std::span<http::FieldLine> storage SKUA_LIFETIMEBOUND, scan::Isa isa) noexcept;

  /// Prepares for the next message.
  void reset() noexcept;

  /// Continues parsing. `received` holds the message from its first byte on, and may extend past
  /// the head; its bytes may have moved since the last call. Bytes that were parsed are not read
  /// again. Complete: head() is valid and has used up head().size_bytes of them.
  ParseStatus parse(std::string_view received) noexcept;

  /// The reason that parse() returned Failed.
  [[nodiscard]] Errc error() const noexcept { return parse_.error; }
  /// The head, after parse() returned Complete.
  [[nodiscard]] const http::Head& head() const noexcept SKUA_LIFETIMEBOUND { return parse_.head; }
  /// Reports whether parse() has consumed a byte since the last reset.
  [[nodiscard]] bool has_begun() const noexcept { return parse_.position != 0; }

  /// Takes over an unfinished parse and its kind, but keeps its own limits and storage. Copies only
  /// the field lines in use, which must fit into the storage.
  void continue_from(const HeadParser& other) noexcept;

 private:
  using Run = ParseStatus (*)(HeadParse&, std::string_view) noexcept;

  HeadParse parse_;
  Run run_;
};

}  // namespace skua::h1
