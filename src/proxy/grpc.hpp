// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string_view>

#include "http/message/field.hpp"
#include "skua/body_writer.hpp"
#include "skua/bytes.hpp"
#include "skua/response.hpp"

/// The conventions of gRPC, on top of HTTP/2, that a proxy has to know:
/// https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md
namespace skua::proxy {

/// Reports whether a request is a call.
[[nodiscard]] bool is_grpc(const http::Head& head) noexcept;

/// Returns how long a call may take, from the value of `grpc-timeout`; nullopt if it is malformed.
[[nodiscard]] std::optional<Duration> parse_grpc_timeout(std::string_view text) noexcept;

/// Returns the response to a call that took longer.
[[nodiscard]] Response deadline_exceeded();
/// Ends a response that has begun likewise.
void end_overdue(BodyWriter& out);

}  // namespace skua::proxy
