// SPDX-License-Identifier: MIT
// The one table of errors: each code's sentence, and the status of the response that it causes.
// Sentences are shown to peers, so they never contain data from the peer.
#include "skua/error.hpp"

#include "base/system_text.hpp"

#include <cerrno>

namespace skua {
namespace {

struct Row {
  std::string_view sentence;
  Status status;
};

constexpr Row socket_row(Errc code) noexcept {
  using enum Errc;
  switch (code) {
    case WouldBlock: return {"the operation would block", Status::ServiceUnavailable};
    case Unreachable: return {"the host cannot be reached", Status::BadGateway};
    case DatagramTooLong: return {"the datagram is too long", Status::ContentTooLarge};
    default: return {"unknown error", Status::InternalServerError};
  }
}

constexpr Row tls_row(Errc code) noexcept {
  using enum Errc;
  switch (code) {
    case TlsConfiguration:
      return {"the TLS settings, certificates or keys cannot be used", Status::InternalServerError};
    case TlsHandshakeFailed: return {"the TLS handshake failed", Status::BadGateway};
    case TlsCertificate: return {"the certificate was not accepted", Status::BadGateway};
    case TlsFailed: return {"the TLS protocol was violated", Status::BadGateway};
    case TlsTruncated:  // RFC 8446 §6.1
      return {"the connection ended without a TLS close_notify", Status::BadGateway};
    case MisdirectedRequest:  // RFC 9110 §15.5.20
      return {"the certificate is not for the host that was asked for", Status::MisdirectedRequest};
    case PlainHttp:
      return {"this port is for HTTPS, and the request was plain HTTP", Status::BadRequest};
    default: return socket_row(code);
  }
}

// An open WebSocket ends with a close code, not with a status: see ws/close_code.hpp.
constexpr Row websocket_row(Errc code) noexcept {
  using enum Errc;
  switch (code) {
    case MalformedFrame: return {"a frame is malformed", Status::BadRequest};
    case MalformedText: return {"the text is not UTF-8", Status::BadRequest};
    case MessageTooLong: return {"the WebSocket message is too long", Status::ContentTooLarge};
    case UpgradeRefused: return {"the server did not open a WebSocket", Status::BadGateway};
    case MalformedReply: return {"a reply of Redis is malformed", Status::BadGateway};
    case ErrorReply: return {"Redis replied with an error", Status::BadGateway};
    default: return tls_row(code);
  }
}

// Errors about responses.
constexpr Row response_row(Errc code) noexcept {
  using enum Errc;
  switch (code) {
    case TooManyInterimResponses:
      return {"there are too many interim responses", Status::BadGateway};
    case UnexpectedUpgrade:  // RFC 9110 §7.8
      return {"the server switched to a protocol that was not asked for", Status::BadGateway};
    case TooManyRedirects: return {"there are too many redirects", Status::BadGateway};
    case RedirectRefused: return {"the redirect was not followed", Status::BadGateway};
    case UnexpectedStatus: return {"the server returned an unexpected status", Status::BadGateway};
    default: return websocket_row(code);
  }
}

constexpr Row content_row(Errc code) noexcept {
  using enum Errc;
  switch (code) {
    case UnsupportedMediaType: return {"the media type is not known", Status::UnsupportedMediaType};
    case UnsupportedCoding:  // RFC 9110 §15.5.16
      return {"the content coding is not accepted", Status::UnsupportedMediaType};
    case MalformedForm: return {"the form is malformed", Status::BadRequest};
    case MalformedMultipart: return {"the multipart content is malformed", Status::BadRequest};
    case TooManyParts: return {"the multipart content has too many parts", Status::ContentTooLarge};
    case PartHeadTooLong: return {"the head of a part is too long", Status::ContentTooLarge};
    case MalformedUrl: return {"the URL is malformed", Status::BadRequest};
    case MalformedCookie: return {"the cookie is malformed", Status::BadRequest};
    case CookieRefused: return {"the cookie was rejected", Status::BadRequest};
    case MalformedChallenge: return {"the credentials are malformed", Status::BadRequest};
    case MalformedCoding: return {"the content coding is malformed", Status::BadRequest};
    default: return response_row(code);
  }
}

constexpr Row row(Errc code) noexcept {
  using enum Errc;
  switch (code) {
    case None: return {"no error", Status::Ok};
    // RFC 9112 §3: "a server that receives an invalid request-line SHOULD respond with a 400".
    case MalformedStartLine: return {"the start line is malformed", Status::BadRequest};
    case MalformedTarget: return {"the request target is malformed", Status::BadRequest};
    case MalformedField: return {"a header field is malformed", Status::BadRequest};
    case UnsupportedVersion:  // RFC 9110 §15.6.6
      return {"the HTTP version is not supported", Status::HttpVersionNotSupported};
    case UnknownMethod:
      return {"the method is not known", Status::NotImplemented};  // RFC 9110 §9.1
    case TargetTooLong:
      return {"the request target is too long", Status::UriTooLong};  // RFC 9112 §3
    case FieldTooLong:  // RFC 6585 §5, also the next two
      return {"a header field is too long", Status::RequestHeaderFieldsTooLarge};
    case HeadTooLong:
      return {"the header section is too long", Status::RequestHeaderFieldsTooLarge};
    case TooManyFields:
      return {"there are too many header fields", Status::RequestHeaderFieldsTooLarge};
    case InvalidHost:  // RFC 9112 §3.2
      return {"the Host field is missing, repeated or invalid", Status::BadRequest};
    case InvalidContentLength:  // RFC 9112 §6.3, rule 5
      return {"the Content-Length is invalid", Status::BadRequest};
    case AmbiguousFraming:  // RFC 9112 §6.1
      return {"the message has both Content-Length and Transfer-Encoding", Status::BadRequest};
    case InvalidTransferEncoding:  // RFC 9112 §6.3, rule 4
      return {"the Transfer-Encoding is invalid", Status::BadRequest};
    case UnsupportedTransferCoding:  // RFC 9112 §6.1
      return {"the transfer coding is not supported", Status::NotImplemented};
    case UnknownExpectation:  // RFC 9110 §10.1.1
      return {"the expectation is not known", Status::ExpectationFailed};
    case MalformedChunk: return {"a chunk is malformed", Status::BadRequest};
    case ChunkExtensionTooLong: return {"the chunk extensions are too long", Status::BadRequest};
    case MalformedTrailer: return {"a trailer field is malformed", Status::BadRequest};
    case TrailerTooLong:
      return {"the trailer section is too long", Status::RequestHeaderFieldsTooLarge};
    case BodyTooLong:
      return {"the content is too long", Status::ContentTooLarge};  // RFC 9110 §15.5.14
    case TruncatedBody: return {"the content ended before its length", Status::BadRequest};
    case TimedOut: return {"the peer took too long", Status::RequestTimeout};  // RFC 9110 §15.5.9
    case TooSlow: return {"the peer sent too slowly", Status::RequestTimeout};
    case Closed: return {"the connection is closed", Status::BadGateway};
    case Reset: return {"the peer reset the connection", Status::BadGateway};
    case Refused: return {"the connection was refused", Status::BadGateway};
    case Cancelled: return {"the operation was cancelled", Status::ServiceUnavailable};
    case Overloaded: return {"the server is busy", Status::ServiceUnavailable};  // RFC 9110 §15.6.4
    case HandlerTimedOut: return {"the handler took too long", Status::ServiceUnavailable};
    case AlreadyStarted: return {"it was already started", Status::InternalServerError};
    case AddressInUse: return {"the address is in use", Status::InternalServerError};
    case AddressUnavailable:
      return {"the address does not belong to this machine", Status::InternalServerError};
    case InvalidAddress: return {"the address is not valid", Status::InternalServerError};
    case NameNotResolved: return {"the name could not be resolved", Status::BadGateway};
    case ProxyRefused: return {"the proxy did not open a tunnel", Status::BadGateway};
    case MalformedProxyHeader: return {"the PROXY header is malformed", Status::BadRequest};
    case PermissionDenied: return {"permission was denied", Status::Forbidden};
    case NotFound: return {"it was not found", Status::NotFound};
    case TooManyOpenFiles: return {"too many files are open", Status::ServiceUnavailable};
    case OutOfMemory: return {"memory ran out", Status::ServiceUnavailable};
    case Unsupported: return {"it is not supported here", Status::NotImplemented};
    case SystemFailure: return {"the operating system failed", Status::InternalServerError};
    default: return content_row(code);
  }
}

constexpr Errc from_errno(int code) noexcept {
  switch (code) {
    case 0: return Errc::None;
    case ETIMEDOUT: return Errc::TimedOut;
    case EPIPE:
    case ENOTCONN: return Errc::Closed;
    case ECONNRESET:
    case ECONNABORTED: return Errc::Reset;
    case ECONNREFUSED: return Errc::Refused;
    case EHOSTUNREACH:
    case ENETUNREACH:
#if defined(EHOSTDOWN)
    case EHOSTDOWN:
#endif
    case ENETDOWN: return Errc::Unreachable;
    case ECANCELED: return Errc::Cancelled;
    case EADDRINUSE: return Errc::AddressInUse;
    case EADDRNOTAVAIL: return Errc::AddressUnavailable;
    case EACCES:
    case EPERM: return Errc::PermissionDenied;
    case ENOENT:
    case ENOTDIR: return Errc::NotFound;
    case EMFILE:
    case ENFILE: return Errc::TooManyOpenFiles;
    case ENOMEM:
    case ENOBUFS: return Errc::OutOfMemory;
    case ENOSYS:
    case EOPNOTSUPP: return Errc::Unsupported;
    default: return Errc::SystemFailure;
  }
}

}  // namespace

std::string_view message(Errc code) noexcept { return row(code).sentence; }

Status status_for(Errc code) noexcept { return row(code).status; }

Status status_for(const Error& error) noexcept {
  switch (error.system_code()) {
    case 0: break;
    case ENOSPC:
#if defined(EDQUOT)
    case EDQUOT:
#endif
      return Status::InsufficientStorage;
    default:
      if (error.code() != Errc::NotFound && error.code() != Errc::PermissionDenied) break;
      return Status::InternalServerError;
  }
  return status_for(error.code());
}

Error Error::from_system(int system_code, const char* context) noexcept {
  return {from_errno(system_code), context, system_code};
}

std::string Error::message() const {
  std::string out;
  // Here the context is a whole explanation instead of a place, so it comes last.
  if (code_ == Errc::TlsConfiguration && *context_ != '\0') {
    return out.append(skua::message(code_)).append(": ").append(context_);
  }
  if (*context_ != '\0') out.append(context_).append(": ");
  out.append(skua::message(code_));
  if (system_code_ != 0) {
    out.append(" (").append(base::system_text(system_code_)).append(")");
  }
  return out;
}

}  // namespace skua
