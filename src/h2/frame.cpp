// SPDX-License-Identifier: MIT
// In: error codes. Out: their names, for logs. RFC 9113 §7
#include "h2/frame.hpp"

namespace skua::h2 {

std::string_view name(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::NoError: return "NO_ERROR";
    case ErrorCode::ProtocolError: return "PROTOCOL_ERROR";
    case ErrorCode::InternalError: return "INTERNAL_ERROR";
    case ErrorCode::FlowControlError: return "FLOW_CONTROL_ERROR";
    case ErrorCode::SettingsTimeout: return "SETTINGS_TIMEOUT";
    case ErrorCode::StreamClosed: return "STREAM_CLOSED";
    case ErrorCode::FrameSizeError: return "FRAME_SIZE_ERROR";
    case ErrorCode::RefusedStream: return "REFUSED_STREAM";
    case ErrorCode::Cancel: return "CANCEL";
    case ErrorCode::CompressionError: return "COMPRESSION_ERROR";
    case ErrorCode::ConnectError: return "CONNECT_ERROR";
    case ErrorCode::EnhanceYourCalm: return "ENHANCE_YOUR_CALM";
    case ErrorCode::InadequateSecurity: return "INADEQUATE_SECURITY";
    case ErrorCode::Http11Required: return "HTTP_1_1_REQUIRED";
  }
  return "UNKNOWN";
}

// Other codes tell of the connection, or of a request that nobody has seen.
ErrorCode code_for(Error error) noexcept {
  if (error.code() == Errc::TimedOut) return ErrorCode::Cancel;
  if (error.code() != Errc::Reset) return ErrorCode::InternalError;
  for (const ErrorCode code :
       {ErrorCode::Cancel, ErrorCode::ConnectError, ErrorCode::EnhanceYourCalm}) {
    if (error.context() == name(code)) return code;
  }
  return ErrorCode::InternalError;
}

}  // namespace skua::h2
