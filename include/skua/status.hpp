// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>

#include "skua/config.hpp"
#include "skua/mistakes.hpp"

namespace skua {

/// A status code: registered ones by name, any other as `Status(299)`. RFC 9110 §15.
enum class Status : std::uint16_t {
  Continue = 100,
  SwitchingProtocols = 101,
  Processing = 102,
  EarlyHints = 103,
  UploadResumptionSupported = 104,
  Ok = 200,
  Created = 201,
  Accepted = 202,
  NonAuthoritativeInformation = 203,
  NoContent = 204,
  ResetContent = 205,
  PartialContent = 206,
  MultiStatus = 207,
  AlreadyReported = 208,
  ImUsed = 226,
  MultipleChoices = 300,
  MovedPermanently = 301,
  Found = 302,
  SeeOther = 303,
  NotModified = 304,
  UseProxy = 305,
  TemporaryRedirect = 307,
  PermanentRedirect = 308,
  BadRequest = 400,
  Unauthorized = 401,
  PaymentRequired = 402,
  Forbidden = 403,
  NotFound = 404,
  MethodNotAllowed = 405,
  NotAcceptable = 406,
  ProxyAuthenticationRequired = 407,
  RequestTimeout = 408,
  Conflict = 409,
  Gone = 410,
  LengthRequired = 411,
  PreconditionFailed = 412,
  ContentTooLarge = 413,
  UriTooLong = 414,
  UnsupportedMediaType = 415,
  RangeNotSatisfiable = 416,
  ExpectationFailed = 417,
  MisdirectedRequest = 421,
  UnprocessableContent = 422,
  Locked = 423,
  FailedDependency = 424,
  TooEarly = 425,
  UpgradeRequired = 426,
  PreconditionRequired = 428,
  TooManyRequests = 429,
  RequestHeaderFieldsTooLarge = 431,
  UnavailableForLegalReasons = 451,
  InternalServerError = 500,
  NotImplemented = 501,
  BadGateway = 502,
  ServiceUnavailable = 503,
  GatewayTimeout = 504,
  HttpVersionNotSupported = 505,
  VariantAlsoNegotiates = 506,
  InsufficientStorage = 507,
  LoopDetected = 508,
  NotExtended = 510,
  NetworkAuthenticationRequired = 511,
};

/// Returns the number: 404.
constexpr unsigned code(Status status) noexcept { return static_cast<unsigned>(status); }

template <detail::Number T>
constexpr bool operator==(Status, T) {
  detail::need_status<T>();
  return false;
}

/// Returns the reason phrase: `Not Found`; empty for an unregistered code. RFC 9112 §4.
SKUA_API std::string_view reason(Status status) noexcept;

/// Reports whether responses with this status never have content. RFC 9110 §6.4.1.
constexpr bool is_bodiless(Status status) noexcept {
  return code(status) < 200 || status == Status::NoContent || status == Status::NotModified;
}

}  // namespace skua
