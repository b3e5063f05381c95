// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: checks the C++ version

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "skua/bytes.hpp"
#include "skua/config.hpp"
#include "skua/mistakes.hpp"

namespace skua::redis {

/// Arguments of a command, or keys of a script: texts, which may hold any bytes, and numbers.
///
/// ```cpp
/// const auto reply = co_await client.eval(script, skua::redis::Keys("from", "to"), 5);
/// ```
class SKUA_API Arguments final {
 public:
  Arguments() = default;
  template <class... A>
    requires(sizeof...(A) != 0 && !(std::is_same_v<std::remove_cvref_t<A>, Arguments> || ...))
  explicit Arguments(const A&... arguments) {
    (add(arguments), ...);
  }

  /// Appends a text or a number; a double is written in as many digits as it needs.
  template <class A>
  Arguments& add(const A& argument) {
    if constexpr (std::convertible_to<const A&, std::string_view>) {
      add_text(argument);
    } else if constexpr (std::floating_point<A>) {
      add_double(static_cast<double>(argument));
    } else {
      static_assert(std::integral<A> && !std::same_as<A, bool> && !std::same_as<A, char>,
                    "an argument is a text or a number: Redis has no other types in commands");
      add_text(std::to_string(argument));
    }
    return *this;
  }
  /// Appends all arguments of another list.
  Arguments& add(const Arguments& others);

  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  /// Returns an argument, in a time in proportion to its index; an empty view past the end.
  [[nodiscard]] std::string_view operator[](std::size_t index) const noexcept SKUA_LIFETIMEBOUND;
  /// Returns all as they are sent: `$3\r\nSET\r\n...`, without their count.
  [[nodiscard]] const std::string& bytes() const noexcept SKUA_LIFETIMEBOUND { return bytes_; }

 private:
  void add_text(std::string_view text);
  void add_double(double number);

  std::string bytes_;
  std::size_t count_ = 0;
};

/// The keys of a script.
using Keys = Arguments;

/// A command with its arguments.
///
/// ```cpp
/// skua::redis::Command add("ZADD", "scores");
/// for (const auto& [name, score] : scores) add.add(score).add(name);
/// const auto added = co_await client.command(add.within(2s));
/// ```
class SKUA_API Command final {
 public:
  template <class... A>
  explicit Command(std::string_view name, const A&... arguments) {
    arguments_.add(name);
    (arguments_.add(arguments), ...);
  }

  template <class A>
  Command& add(const A& argument) {
    arguments_.add(argument);
    return *this;
  }
  /// Sets how long it may take in all, instead of Options::timeout; Duration::max(): forever.
  Command& within(Duration limit) noexcept {
    limit_ = limit;
    return *this;
  }
  template <detail::Number T>
  Command& within(T) {
    detail::need_unit<T>();
    return *this;
  }
  /// Says which key decides about the node of a cluster, for commands of modules that this library
  /// does not know. The first argument is the default.
  Command& routed_by(std::string_view key) {
    routing_key_ = key;
    has_routing_key_ = true;
    return *this;
  }

  /// The name is the first of these.
  [[nodiscard]] const Arguments& arguments() const noexcept SKUA_LIFETIMEBOUND {
    return arguments_;
  }
  [[nodiscard]] std::string_view name() const noexcept SKUA_LIFETIMEBOUND { return arguments_[0]; }
  /// Returns what within() set; negative: nothing.
  [[nodiscard]] Duration limit() const noexcept { return limit_; }
  /// Returns what routed_by() set, or null.
  [[nodiscard]] const std::string* routing_key() const noexcept SKUA_LIFETIMEBOUND {
    return has_routing_key_ ? &routing_key_ : nullptr;
  }
  /// Appends the command as it is sent.
  void write(std::string& out) const;

 private:
  Arguments arguments_;
  std::string routing_key_;
  Duration limit_{-1};
  bool has_routing_key_ = false;
};

/// A Lua script. Servers keep scripts by their SHA-1; Client::eval() sends the text only to those
/// that do not know it yet.
class SKUA_API Script final {
 public:
  explicit Script(std::string text);
  [[nodiscard]] const std::string& text() const noexcept SKUA_LIFETIMEBOUND { return text_; }
  /// Returns the SHA-1 of the text, 40 hexadecimal digits.
  [[nodiscard]] const std::string& sha() const noexcept SKUA_LIFETIMEBOUND { return sha_; }

 private:
  std::string text_;
  std::string sha_;
};

/// A call of a script.
///
/// ```cpp
/// skua::redis::ScriptCall call(script, skua::redis::Keys("from", "to"));
/// const auto reply = co_await client.eval(call.add(5).within(1s));
/// ```
/// Lifetime:  the script outlives it, and the task that runs it.
class SKUA_API ScriptCall final {
 public:
  explicit ScriptCall(const Script& script SKUA_LIFETIMEBOUND, const Keys& keys = Keys())
      : script_(&script) {
    rest_.add(keys.size()).add(keys);
  }

  /// Appends an argument, which the script finds in `ARGV`.
  template <class A>
  ScriptCall& add(const A& argument) {
    rest_.add(argument);
    return *this;
  }
  /// Sets how long it may take in all; see Command::within().
  ScriptCall& within(Duration limit) noexcept {
    limit_ = limit;
    return *this;
  }

  [[nodiscard]] const Script& script() const noexcept { return *script_; }
  /// Returns the number of keys, the keys and the arguments.
  [[nodiscard]] const Arguments& rest() const noexcept SKUA_LIFETIMEBOUND { return rest_; }
  /// Returns what within() set; negative: nothing.
  [[nodiscard]] Duration limit() const noexcept { return limit_; }

 private:
  const Script* script_;
  Arguments rest_;
  Duration limit_{-1};
};

}  // namespace skua::redis
