// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "coding/encoder.hpp"
#include "skua/body_writer.hpp"

namespace skua::middleware {

/// Returns the stream with a content coding applied. Each written piece is flushed at once. The
/// coded length is not known beforehand, but a declared plain length is still enforced.
///
/// A file range ends the stream with Exception(Unsupported), because encoding it would block the
/// loop on the disk.
std::shared_ptr<const BodyStream> compress_stream(std::shared_ptr<const BodyStream> plain,
                                                  coding::Encoder encoder);

}  // namespace skua::middleware
