// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "coding/encoder.hpp"
#include "skua/body_writer.hpp"

namespace skua::middleware {

/// The same stream in a content coding. Each piece that is written leaves at once; the length is
/// no longer known beforehand, but is still asked for where it was told.
///
/// A file range in it ends the stream with Exception(Unsupported): the loop would wait for the
/// disk.
std::shared_ptr<const BodyStream> compress_stream(std::shared_ptr<const BodyStream> plain,
                                                  coding::Encoder encoder);

}  // namespace skua::middleware
