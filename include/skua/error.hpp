// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "skua/config.hpp"
#include "skua/status.hpp"

namespace skua {

/// What went wrong. Each has a sentence (`message`) and a status that a server answers with
/// (`status_for`).
enum class Errc : std::uint16_t {
  None,
  // The head of a message. RFC 9112 §2-5.
  MalformedStartLine,
  MalformedTarget,
  MalformedField,
  UnsupportedVersion,
  UnknownMethod,
  TargetTooLong,
  FieldTooLong,
  HeadTooLong,
  TooManyFields,
  // Where the message goes and how long its body is. RFC 9112 §3.2, §6.
  InvalidHost,
  MisdirectedRequest,
  InvalidContentLength,
  AmbiguousFraming,
  InvalidTransferEncoding,
  UnsupportedTransferCoding,
  UnknownExpectation,
  // What answers a request. RFC 9110 §15.2.
  TooManyInterimResponses,
  UnexpectedUpgrade,
  TooManyRedirects,
  RedirectRefused,
  UnexpectedStatus,
  // The body. RFC 9112 §7.1.
  MalformedChunk,
  ChunkExtensionTooLong,
  MalformedTrailer,
  TrailerTooLong,
  BodyTooLong,
  TruncatedBody,
  // What the body holds, and other text of peers.
  UnsupportedMediaType,
  MalformedForm,
  MalformedMultipart,
  TooManyParts,
  PartHeadTooLong,
  MalformedUrl,
  MalformedCookie,
  CookieRefused,
  MalformedChallenge,
  MalformedCoding,
  // WebSocket. RFC 6455, 7692.
  MalformedFrame,
  MalformedText,
  MessageTooLong,
  UpgradeRefused,
  // TLS. RFC 8446, 5246.
  TlsConfiguration,
  TlsHandshakeFailed,
  TlsCertificate,
  TlsFailed,
  TlsTruncated,
  PlainHttp,
  // The connection and the machine.
  TimedOut,
  TooSlow,
  Closed,
  Reset,
  Refused,
  Cancelled,
  Overloaded,
  HandlerTimedOut,
  AlreadyStarted,
  AddressInUse,
  AddressUnavailable,
  InvalidAddress,
  NameNotResolved,
  ProxyRefused,
  PermissionDenied,
  NotFound,
  TooManyOpenFiles,
  OutOfMemory,
  Unsupported,
  SystemFailure,
};

/// One sentence without a full stop, safe to show to a peer.
std::string_view message(Errc code) noexcept;

/// The status that a server answers with when a request ends in this error.
Status status_for(Errc code) noexcept;

/// A failure as a value: what, where, and the operating system's own number when it was involved.
class Error {
 public:
  /// `context` has static lifetime: a string literal that says what was being done.
  constexpr Error(Errc code, const char* context = "", int system_code = 0) noexcept
      : context_(context), system_code_(system_code), code_(code) {}

  /// The error that an operating system's number means.
  static Error from_system(int system_code, const char* context) noexcept;

  [[nodiscard]] constexpr Errc code() const noexcept { return code_; }
  /// errno (or its like) where the operating system refused, otherwise 0.
  [[nodiscard]] constexpr int system_code() const noexcept { return system_code_; }
  [[nodiscard]] constexpr std::string_view context() const noexcept { return context_; }
  /// `bind: the address is in use (Address already in use)`.
  [[nodiscard]] std::string message() const;

 private:
  const char* context_;
  int system_code_;
  Errc code_;
};
static_assert(std::is_trivially_copyable_v<Error>);

/// A failure that has more to say than fits an Error: which host or file, what exactly is wrong
/// with it, and what helps. The text is for whoever runs the program, not for peers.
struct Problem {
  Error error = Errc::None;
  std::string text{};

  /// An Error that needs no more words than its own.
  static Problem from(Error error) { return {error, error.message()}; }

  [[nodiscard]] Errc code() const noexcept { return error.code(); }
  [[nodiscard]] const std::string& message() const noexcept SKUA_LIFETIMEBOUND { return text; }
};

/// An Error or a Problem thrown by `Result::value()`, for those who prefer exceptions.
class Exception : public std::runtime_error {
 public:
  explicit Exception(Error error) : std::runtime_error(error.message()), error_(error) {}
  explicit Exception(const Problem& problem)
      : std::runtime_error(problem.text), error_(problem.error) {}
  [[nodiscard]] Error error() const noexcept { return error_; }

 private:
  Error error_;
};

/// A T, or why there is none: an Error or a Problem. Member names are those of std::expected, which
/// C++20 does not have.
template <class T, class E = Error>
class [[nodiscard]] Result {
 public:
  using value_type = T;
  using error_type = E;

  template <class U = T>
    requires(std::is_constructible_v<T, U &&> && !std::is_same_v<std::remove_cvref_t<U>, Result> &&
             !std::is_same_v<std::remove_cvref_t<U>, E>)
  Result(U&& value) : value_(std::in_place_index<0>, std::forward<U>(value)) {}
  Result(E error) noexcept : value_(std::in_place_index<1>, std::move(error)) {}
  Result(Errc code) noexcept
    requires(std::is_same_v<E, Error>)
      : Result(Error(code)) {}

  [[nodiscard]] bool has_value() const noexcept { return value_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }

  T& operator*() & noexcept SKUA_LIFETIMEBOUND { return *get(); }
  const T& operator*() const& noexcept SKUA_LIFETIMEBOUND { return *get(); }
  T&& operator*() && noexcept SKUA_LIFETIMEBOUND { return std::move(*get()); }
  T* operator->() noexcept SKUA_LIFETIMEBOUND { return get(); }
  const T* operator->() const noexcept SKUA_LIFETIMEBOUND { return get(); }

  [[nodiscard]] const E& error() const& noexcept SKUA_LIFETIMEBOUND {
    SKUA_ASSERT(!has_value());
    return *std::get_if<1>(&value_);
  }
  [[nodiscard]] E error() && noexcept {
    SKUA_ASSERT(!has_value());
    return std::move(*std::get_if<1>(&value_));
  }

  /// The value; throws Exception where there is none.
  T& value() & SKUA_LIFETIMEBOUND { return check(), *get(); }
  const T& value() const& SKUA_LIFETIMEBOUND { return check(), *get(); }
  T value() && { return check(), std::move(*get()); }

  template <class U>
  T value_or(U&& fallback) const& {
    return has_value() ? *get() : static_cast<T>(std::forward<U>(fallback));
  }
  template <class U>
  T value_or(U&& fallback) && {
    return has_value() ? std::move(*get()) : static_cast<T>(std::forward<U>(fallback));
  }

 private:
  void check() const {
    if (!has_value()) throw Exception(error());
  }
  T* get() noexcept {
    SKUA_ASSERT(has_value());
    return std::get_if<0>(&value_);
  }
  const T* get() const noexcept {
    SKUA_ASSERT(has_value());
    return std::get_if<0>(&value_);
  }

  std::variant<T, E> value_;
};

/// Success, or why there was none: an Error or a Problem. Success is Errc::None.
template <class E>
class [[nodiscard]] Result<void, E> {
 public:
  using value_type = void;
  using error_type = E;

  Result() noexcept = default;
  Result(E error) noexcept : error_(std::move(error)) {}
  Result(Errc code) noexcept
    requires(std::is_same_v<E, Error>)
      : error_(code) {}

  [[nodiscard]] bool has_value() const noexcept { return error_.code() == Errc::None; }
  explicit operator bool() const noexcept { return has_value(); }
  [[nodiscard]] const E& error() const& noexcept SKUA_LIFETIMEBOUND { return error_; }
  [[nodiscard]] E error() && noexcept { return std::move(error_); }
  /// Throws Exception where there is an error.
  void value() const {
    if (!has_value()) throw Exception(error_);
  }

 private:
  E error_{Errc::None};
};

}  // namespace skua
