// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "client/request_spec.hpp"
#include "client/wire/incoming_response.hpp"
#include "skua/body.hpp"
#include "skua/bytes.hpp"
#include "skua/request.hpp"

namespace skua::proxy {

/// Makes a request's content that of `spec`. A short beginning is kept while it is sent, so that a
/// server that has not taken the request can be sent it again.
///
/// Returns whether the content has been asked for, which changes.
/// Lifetime:  `request` outlives its use.
std::shared_ptr<const bool> pass_content_on(Request& request, client::RequestSpec& spec);

/// Returns the length to declare for a response's content. Trailers that are announced have no
/// place behind content of a declared length: see BodyWriter::trailer().
std::optional<std::uint64_t> length_to_declare(const client::IncomingResponse& incoming) noexcept;

/// Returns the content of a response that has some, while it arrives, with its trailers. `first` is
/// what was read of it.
Body content_of(client::IncomingResponsePointer incoming, std::optional<Bytes> first);

/// Returns content that is empty; over HTTP/2, the head then ends the response.
Body no_content();

}  // namespace skua::proxy
