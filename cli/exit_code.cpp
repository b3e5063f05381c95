// SPDX-License-Identifier: MIT
#include "exit_code.hpp"

namespace skua::cli {

int exit_code_of(Errc code) noexcept {
  using enum Errc;
  switch (code) {
    case None: return succeeded;
    case NameNotResolved: return not_resolved;
    // NotFound and PermissionDenied concern a Unix socket; file errors are handled elsewhere.
    case Refused:
    case AddressUnavailable:
    case InvalidAddress:
    case PermissionDenied:
    case NotFound:
    case SystemFailure: return not_connected;
    case TlsConfiguration:
    case TlsHandshakeFailed:
    case TlsCertificate:
    case TlsFailed:
    case PlainHttp: return tls_failed;
    case TimedOut:
    case TooSlow: return timed_out;
    case HandlerTimedOut:
    case AlreadyStarted:
    case AddressInUse:
    case Cancelled:
    case Overloaded:
    case TooManyOpenFiles:
    case OutOfMemory:
    case Unsupported: return failed;
    default: return protocol_failed;
  }
}

int exit_code_of(Status status) noexcept {
  const auto number = static_cast<unsigned>(status);
  if (number >= 500) return server_failed;
  if (number >= 400) return client_refused;
  return number >= 300 ? redirected : succeeded;
}

}  // namespace skua::cli
