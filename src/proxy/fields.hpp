// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>

#include "http/message/field.hpp"
#include "skua/field_lines.hpp"
#include "skua/request.hpp"
#include "skua/reverse_proxy.hpp"

namespace skua::proxy {

/// Adds the fields of a message that are not about its connection or its framing. Host, Expect and
/// Upgrade are left out, too.
///
/// RFC:       9110 §7.6.1
void add_end_to_end(FieldLines& lines, const http::Head& head);

inline constexpr std::size_t longest_pseudonym_bytes = 60;

/// Returns the fields of a request for the upstream server, without those of the connection.
/// `pseudonym` names this proxy in Via.
///
/// RFC:       9110 §7.6.3, 7239
[[nodiscard]] FieldLines upstream_fields(Request& request, const ReverseProxyOptions& options,
                                         std::string_view pseudonym);

/// Reports whether a field is about the connection or its framing, and so not for a hook to set.
[[nodiscard]] bool is_of_connection(const FieldLines::Line& line) noexcept;

/// Removes the names with `_` that stand for another field to a server that cannot tell `_` from
/// `-`: one that skua knows, or one among the lines.
void remove_ambiguous(FieldLines& lines);

/// Adds the fields of the connection to the upstream server: those for trailers, if the client
/// takes them.
///
/// RFC:       9110 §10.1.4
void add_connection_fields(FieldLines& lines, const http::Head& head);

/// Reports whether a message has been passed on by a proxy with this pseudonym. RFC 9110 §7.6.3
[[nodiscard]] bool has_passed(const http::Head& head, std::string_view pseudonym) noexcept;

}  // namespace skua::proxy
