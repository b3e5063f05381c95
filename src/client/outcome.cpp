// SPDX-License-Identifier: MIT
// In: the error or the status that a request ended with. Out: what that says about the server.
#include "client/outcome.hpp"

namespace skua::client {

std::string_view name(Outcome outcome) noexcept {
  switch (outcome) {
    case Outcome::Answered: return "answered";
    case Outcome::ServerError: return "server_error";
    case Outcome::Unavailable: return "unavailable";
    case Outcome::ConnectFailed: return "connect_failed";
    case Outcome::ConnectTimeout: return "connect_timeout";
    case Outcome::TlsFailed: return "tls_failed";
    case Outcome::Timeout: return "timeout";
    case Outcome::Closed: return "closed";
    case Outcome::Malformed: return "malformed";
    case Outcome::Incomplete: return "incomplete";
    case Outcome::Local: return "local";
    case Outcome::Cancelled: return "cancelled";
  }
  return "";
}

Outcome outcome_of(Error error, const Reached& reached) noexcept {
  if (reached.is_fallback) return Outcome::Local;
  switch (error.code()) {
    case Errc::TooManyOpenFiles:
    case Errc::OutOfMemory:
    case Errc::Overloaded:
    case Errc::Cancelled: return Outcome::Local;
    case Errc::TimedOut:
      if (reached.is_connected) return Outcome::Timeout;
      return reached.has_tried ? Outcome::ConnectTimeout : Outcome::Local;
    default: break;
  }
  if (!reached.is_connected) {
    switch (error.code()) {
      case Errc::TlsConfiguration:
      case Errc::TlsHandshakeFailed:
      case Errc::TlsCertificate:
      case Errc::TlsFailed:
      case Errc::TlsTruncated:
      case Errc::PlainHttp: return Outcome::TlsFailed;
      default: return Outcome::ConnectFailed;
    }
  }
  switch (error.code()) {
    case Errc::Closed:
    case Errc::Reset:
    case Errc::Refused:
    case Errc::Unreachable:
    case Errc::TlsTruncated:
    case Errc::TlsFailed:
    case Errc::TruncatedBody:
    case Errc::SystemFailure: return Outcome::Closed;
    default: return Outcome::Malformed;
  }
}

Outcome outcome_of(std::uint16_t status) noexcept {
  if (status >= 502 && status <= 504) return Outcome::Unavailable;
  return status >= 500 ? Outcome::ServerError : Outcome::Answered;
}

}  // namespace skua::client
