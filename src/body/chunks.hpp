// SPDX-License-Identifier: MIT
#pragma once

#include "net/output_queue.hpp"
#include "skua/body.hpp"
#include "skua/field_lines.hpp"

namespace skua::body {

/// Writes a piece of content as a chunk; long pieces are not copied. RFC 9112 §7.1
void append_chunk(net::OutputQueue& output, Body&& piece);

/// Writes the end of chunked content. RFC 9112 §7.1.2
void append_last_chunk(net::OutputQueue& output, const FieldLines& trailers);

}  // namespace skua::body
