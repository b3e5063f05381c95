// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/scan.hpp"
#include "http/field.hpp"
#include "skua/bytes.hpp"
#include "skua/config.hpp"
#include "skua/error.hpp"

namespace skua::h1 {

/// What a head may cost. A field line or target above 65535 bytes is never accepted.
struct HeadLimits {
  std::size_t target_bytes = 8_KiB;       ///< else TargetTooLong
  std::size_t field_line_bytes = 16_KiB;  ///< name to value, without CRLF; else FieldTooLong
  std::size_t head_bytes = 64_KiB;        ///< start line to empty line; else HeadTooLong
  std::uint16_t fields = 128;             ///< cookie crumbs counted each; else TooManyFields
};

/// What stands before the field lines. Trailers have no start line.
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

/// Where a parse stands: all that its code, one per instruction set, reads and writes.
struct HeadParse {
  HeadParse(HeadKind wanted, const HeadLimits& given, std::span<http::FieldLine> lines) noexcept;

  std::uint32_t position = 0;    ///< where parsing stopped
  std::uint32_t part_begin = 0;  ///< where the part that is being parsed began
  std::uint32_t line_begin = 0;  ///< where the field line that is being parsed began
  std::uint32_t cost = 0;        ///< fields so far, cookie crumbs counted
  std::uint32_t count = 0;       ///< field lines so far
  std::uint32_t name_bytes = 0;  ///< of the field line that is being parsed
  HeadState state = HeadState::Start;
  HeadState first = HeadState::Start;  ///< of a message
  HeadKind kind;
  Errc error = Errc::None;
  bool in_query = false;        ///< a '?' was seen in the target (only known once it matters)
  bool unknown_method = false;  ///< told after the start line, whose version matters more
  std::span<http::FieldLine> storage;
  HeadLimits limits;
  http::Head head;
};

/// Parses the head of one message in one pass; it can be stopped and resumed at any byte.
///
/// The outcome, error kind included, depends on the bytes only, never on how they were split.
/// A parser that shares its storage with others hands an unfinished parse on with `continue_from`.
/// Lifetime:  the storage outlives the parser; head() views the bytes last given to parse().
/// RFC:       9112 §2-5
class HeadParser {
 public:
  HeadParser(HeadKind kind, const HeadLimits& limits,
             std::span<http::FieldLine> storage SKUA_LIFETIMEBOUND) noexcept;
  /// The same with the code of one supported instruction set.
  HeadParser(HeadKind kind, const HeadLimits& limits,
             std::span<http::FieldLine> storage SKUA_LIFETIMEBOUND, scan::Isa isa) noexcept;

  /// Ready for the next message.
  void reset() noexcept;

  /// Parses on. `received` holds all bytes of this message from its first byte on (and whatever
  /// follows it); bytes before those that the last call saw are not looked at again, and may have
  /// moved. Complete: head() is valid and head().size_bytes of them are used up.
  ParseStatus parse(std::string_view received) noexcept;

  /// Why parse() answered Failed.
  [[nodiscard]] Errc error() const noexcept { return parse_.error; }
  /// The head, after parse() answered Complete.
  [[nodiscard]] const http::Head& head() const noexcept SKUA_LIFETIMEBOUND { return parse_.head; }
  /// Whether parse() has seen a byte since the last reset.
  [[nodiscard]] bool has_begun() const noexcept { return parse_.position != 0; }

  /// Takes over an unfinished parse; only the field lines in use are copied.
  /// The kind is the other's; limits and storage stay. At least as much storage as the other's.
  void continue_from(const HeadParser& other) noexcept;

 private:
  using Run = ParseStatus (*)(HeadParse&, std::string_view) noexcept;

  HeadParse parse_;
  Run run_;
};

}  // namespace skua::h1
