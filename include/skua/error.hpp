// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: checks the C++ version

#include <cstdint>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "skua/config.hpp"
#include "skua/mistakes.hpp"
#include "skua/status.hpp"

namespace skua {

/// An error code. Each has a sentence (message()) and a status for responses (status_for()).
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
  // Routing and framing. RFC 9112 §3.2, §6.
  InvalidHost,
  MisdirectedRequest,
  InvalidContentLength,
  AmbiguousFraming,
  InvalidTransferEncoding,
  UnsupportedTransferCoding,
  UnknownExpectation,
  // Responses. RFC 9110 §15.
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
  // Content of the body, and other text of peers.
  UnsupportedMediaType,
  UnsupportedCoding,
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
  // Redis.
  MalformedReply,
  ErrorReply,
  // TLS. RFC 8446, 5246.
  TlsConfiguration,
  TlsHandshakeFailed,
  TlsCertificate,
  TlsFailed,
  TlsTruncated,
  PlainHttp,
  // The connection and the machine.
  TimedOut,
  WouldBlock,
  TooSlow,
  Closed,
  Reset,
  Refused,
  Unreachable,
  Cancelled,
  Overloaded,
  HandlerTimedOut,
  AlreadyStarted,
  DatagramTooLong,
  AddressInUse,
  AddressUnavailable,
  InvalidAddress,
  NameNotResolved,
  ProxyRefused,
  MalformedProxyHeader,
  PermissionDenied,
  NotFound,
  TooManyOpenFiles,
  OutOfMemory,
  Unsupported,
  SystemFailure,
};

/// Returns a sentence without a full stop, safe to show to a peer.
SKUA_API std::string_view message(Errc code) noexcept;

/// Returns the status of the response to a request that ends in this error.
SKUA_API Status status_for(Errc code) noexcept;

class Error;

/// Returns the status of the response that is made of an error. A file of the program's own that is
/// missing or may not be used is not the client's 404 or 403: errors with a number of the system
/// get 500, or 507 if the disk or a quota is full.
SKUA_API Status status_for(const Error& error) noexcept;

/// A failure as a value: a code, a context, and the system's error number, if any.
class SKUA_API Error {
 public:
  /// `context` is a string literal that says what was being done; it must have static lifetime.
  constexpr Error(Errc code, const char* context = "", int system_code = 0) noexcept
      : context_(context), system_code_(system_code), code_(code) {}

  /// Returns the error for a system error number.
  static Error from_system(int system_code, const char* context) noexcept;

  [[nodiscard]] constexpr Errc code() const noexcept { return code_; }
  /// errno (or the like) of a failed system call, otherwise 0.
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

/// An Error with a text: which host or file, what exactly is wrong with it, and what helps. The
/// text is for the user of the program, not for peers.
struct Problem {
  Error error = Errc::None;
  std::string text{};

  /// Returns a Problem with the text of an Error.
  static Problem from(Error error) { return {error, error.message()}; }

  [[nodiscard]] Errc code() const noexcept { return error.code(); }
  [[nodiscard]] const std::string& message() const noexcept SKUA_LIFETIMEBOUND { return text; }
};

/// An Error or a Problem as an exception, thrown by `Result::value()`.
class SKUA_API Exception : public std::runtime_error {
 public:
  explicit Exception(Error error) : std::runtime_error(error.message()), error_(error) {}
  explicit Exception(const Problem& problem)
      : std::runtime_error(problem.text), error_(problem.error) {}
  [[nodiscard]] Error error() const noexcept { return error_; }

 private:
  Error error_;
};

/// A T, or an Error or a Problem. Member names are those of std::expected, which C++20 lacks.
template <class T, class E = Error>
class [[nodiscard("it may be an error: test it, or call value(), which throws the error")]] Result {
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

  /// Returns the value; throws Exception if there is an error.
  T& value() & SKUA_LIFETIMEBOUND {
    check();
    return *get();
  }
  const T& value() const& SKUA_LIFETIMEBOUND {
    check();
    return *get();
  }
  T value() && {
    check();
    return std::move(*get());
  }

  template <class U>
  T value_or(U&& fallback) const& {
    return has_value() ? *get() : static_cast<T>(std::forward<U>(fallback));
  }
  template <class U>
  T value_or(U&& fallback) && {
    return has_value() ? std::move(*get()) : static_cast<T>(std::forward<U>(fallback));
  }

  // A mistake: a result that is used as its value.
  template <class U>
    requires(std::is_same_v<U, T> && std::is_same_v<T, std::string>)
  operator U() const {
    static_assert(detail::never<U>,
                  "a Result may be an error: test it, then read *result, or call result.value(), "
                  "which throws the error");
    std::terminate();
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

/// Success, or an Error or a Problem. Errc::None is success.
template <class E>
class [[nodiscard(
    "it may be an error: test it, or call value(), which throws the error")]] Result<void, E> {
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
  /// Throws Exception if there is an error.
  void value() const {
    if (!has_value()) throw Exception(error_);
  }

 private:
  E error_{Errc::None};
};

}  // namespace skua
