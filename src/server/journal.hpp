// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include "http/field.hpp"
#include "net/stream.hpp"
#include "server/resources.hpp"
#include "skua/error.hpp"
#include "skua/status.hpp"

namespace skua::server {

/// The address of a net::Stream's peer, in the shape of RequestParts::peer.
std::string peer_of(const void* stream);

/// Tells the hook, if there is one, of a response; `error` is why its request was refused.
void record_response(const Resources& resources, const net::Stream& stream, const http::Head& head,
                     Status status, std::uint64_t content_bytes, Errc error = Errc::None);

/// Counts a request that was refused before anybody could handle it.
void count_refusal(Resources& resources, Errc code) noexcept;

}  // namespace skua::server
