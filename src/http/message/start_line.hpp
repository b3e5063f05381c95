// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>

#include "skua/config.hpp"
#include "skua/status.hpp"

namespace skua::http {

/// The longest method that is accepted; the longest registered one has 17 letters.
inline constexpr std::size_t longest_method = 32;

/// Reports whether a token that parse_method() does not know is passed on as Method::Other. `PRI`
/// is not (RFC 9113 §11.6), nor is a known method in other case: a server behind a gateway may take
/// `delete` for DELETE, which guards did not see.
SKUA_COLD bool may_be_other_method(std::string_view token) noexcept;

/// Like reason(), but constexpr, for tables built at compile time.
constexpr std::string_view reason_phrase(Status status) noexcept {
  using enum Status;
  switch (status) {
    case Continue: return "Continue";
    case SwitchingProtocols: return "Switching Protocols";
    case Processing: return "Processing";
    case EarlyHints: return "Early Hints";
    case UploadResumptionSupported: return "Upload Resumption Supported";
    case Ok: return "OK";
    case Created: return "Created";
    case Accepted: return "Accepted";
    case NonAuthoritativeInformation: return "Non-Authoritative Information";
    case NoContent: return "No Content";
    case ResetContent: return "Reset Content";
    case PartialContent: return "Partial Content";
    case MultiStatus: return "Multi-Status";
    case AlreadyReported: return "Already Reported";
    case ImUsed: return "IM Used";
    case MultipleChoices: return "Multiple Choices";
    case MovedPermanently: return "Moved Permanently";
    case Found: return "Found";
    case SeeOther: return "See Other";
    case NotModified: return "Not Modified";
    case UseProxy: return "Use Proxy";
    case TemporaryRedirect: return "Temporary Redirect";
    case PermanentRedirect: return "Permanent Redirect";
    case BadRequest: return "Bad Request";
    case Unauthorized: return "Unauthorized";
    case PaymentRequired: return "Payment Required";
    case Forbidden: return "Forbidden";
    case NotFound: return "Not Found";
    case MethodNotAllowed: return "Method Not Allowed";
    case NotAcceptable: return "Not Acceptable";
    case ProxyAuthenticationRequired: return "Proxy Authentication Required";
    case RequestTimeout: return "Request Timeout";
    case Conflict: return "Conflict";
    case Gone: return "Gone";
    case LengthRequired: return "Length Required";
    case PreconditionFailed: return "Precondition Failed";
    case ContentTooLarge: return "Content Too Large";
    case UriTooLong: return "URI Too Long";
    case UnsupportedMediaType: return "Unsupported Media Type";
    case RangeNotSatisfiable: return "Range Not Satisfiable";
    case ExpectationFailed: return "Expectation Failed";
    case MisdirectedRequest: return "Misdirected Request";
    case UnprocessableContent: return "Unprocessable Content";
    case Locked: return "Locked";
    case FailedDependency: return "Failed Dependency";
    case TooEarly: return "Too Early";
    case UpgradeRequired: return "Upgrade Required";
    case PreconditionRequired: return "Precondition Required";
    case TooManyRequests: return "Too Many Requests";
    case RequestHeaderFieldsTooLarge: return "Request Header Fields Too Large";
    case UnavailableForLegalReasons: return "Unavailable For Legal Reasons";
    case InternalServerError: return "Internal Server Error";
    case NotImplemented: return "Not Implemented";
    case BadGateway: return "Bad Gateway";
    case ServiceUnavailable: return "Service Unavailable";
    case GatewayTimeout: return "Gateway Timeout";
    case HttpVersionNotSupported: return "HTTP Version Not Supported";
    case VariantAlsoNegotiates: return "Variant Also Negotiates";
    case InsufficientStorage: return "Insufficient Storage";
    case LoopDetected: return "Loop Detected";
    case NotExtended: return "Not Extended";
    case NetworkAuthenticationRequired: return "Network Authentication Required";
  }
  return "";
}

}  // namespace skua::http
