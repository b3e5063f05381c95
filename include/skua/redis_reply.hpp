// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: checks the C++ version

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "skua/config.hpp"

namespace skua::resp {
class ReplyParser;
}

namespace skua::redis {

/// The types of RESP3, the protocol of Redis.
enum class ReplyType : std::uint8_t {
  Null,
  SimpleString,
  SimpleError,
  Integer,
  BulkString,
  Array,
  Boolean,
  Double,
  BigNumber,
  BulkError,
  VerbatimString,
  Map,
  Set,
  Push,
};

/// A reply of a Redis server: a value, or a tree of them.
///
/// Accessors return nullopt, or nothing, if the reply is of another type. Servers answer commands
/// of old in texts, so numbers are also read from texts that hold nothing else.
///
/// ```cpp
/// const auto reply = co_await client.command("HGETALL", key);
/// if (reply) {
///   if (const auto* name = reply->find("name")) std::puts(std::string(name->text()).c_str());
/// }
/// ```
class SKUA_API Reply final {
 public:
  /// Creates a null.
  Reply() noexcept = default;

  [[nodiscard]] ReplyType type() const noexcept { return type_; }
  [[nodiscard]] bool is_null() const noexcept { return type_ == ReplyType::Null; }
  [[nodiscard]] bool is_error() const noexcept {
    return type_ == ReplyType::SimpleError || type_ == ReplyType::BulkError;
  }

  /// Returns the text of a string, an error or a big number, without the format of a verbatim
  /// string; empty for other types.
  [[nodiscard]] std::string_view text() const& noexcept SKUA_LIFETIMEBOUND { return text_; }
  /// Returns the text as a string of its own.
  [[nodiscard]] std::string text() && noexcept { return std::move(text_); }
  /// Returns the text of a reply that may be null, as that of GET: nullopt unless it is a string.
  [[nodiscard]] std::optional<std::string_view> string() const noexcept SKUA_LIFETIMEBOUND;
  /// Returns the first word of an error, in capitals by convention: `WRONGTYPE`, `ERR`.
  [[nodiscard]] std::string_view error_code() const noexcept SKUA_LIFETIMEBOUND;
  /// Returns the format of a verbatim string, three bytes: `txt`, `mkd`.
  [[nodiscard]] std::string_view format() const noexcept SKUA_LIFETIMEBOUND;

  [[nodiscard]] std::optional<std::int64_t> integer() const noexcept;
  /// Returns an integer or a double, which may be infinite or not a number.
  [[nodiscard]] std::optional<double> number() const noexcept;
  /// Returns a boolean; also of an integer that is 0 or 1, as older commands answer.
  [[nodiscard]] std::optional<bool> boolean() const noexcept;

  /// Returns the elements of an array, a set or a push; of a map, each key followed by its value.
  [[nodiscard]] std::span<const Reply> elements() const& noexcept SKUA_LIFETIMEBOUND {
    return elements_;
  }
  /// Returns the elements as a vector of its own.
  [[nodiscard]] std::vector<Reply> elements() && noexcept { return std::move(elements_); }
  [[nodiscard]] std::size_t size() const noexcept { return elements_.size(); }
  /// Returns an element; a null past the end.
  [[nodiscard]] const Reply& operator[](std::size_t index) const noexcept SKUA_LIFETIMEBOUND;
  /// Returns the value of a key of a map, or of an array of keys and values; null if there is none.
  [[nodiscard]] const Reply* find(std::string_view key) const noexcept SKUA_LIFETIMEBOUND;

  /// Returns what the server says about the reply beside it: each key followed by its value.
  [[nodiscard]] std::span<const Reply> attributes() const noexcept SKUA_LIFETIMEBOUND;

  /// Returns the reply in one line, as for a log: `["a", 1, null]`.
  [[nodiscard]] std::string to_string() const;

 private:
  friend class resp::ReplyParser;
  void write(std::string& out) const;

  std::string text_;
  std::vector<Reply> elements_;
  std::shared_ptr<const std::vector<Reply>> attributes_;  // never changed: copies share it
  std::int64_t integer_ = 0;                              // a boolean, too
  double number_ = 0;
  ReplyType type_ = ReplyType::Null;
};

}  // namespace skua::redis
