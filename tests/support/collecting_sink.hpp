// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "skua/async.hpp"
#include "skua/body_writer.hpp"

namespace skua::support {

/// A body sink that always has room and collects all content.
class CollectingSink final : public detail::BodySink {
 public:
  void write(Body&& piece) override { text.append(piece.text()); }
  void add_trailer(std::string_view, std::string_view) override {}
  [[nodiscard]] bool has_room() const noexcept override { return true; }
  void wait(detail::Waiter&, std::coroutine_handle<>) override {}

  std::string text;
};

/// Returns what the producer of a stream writes.
/// Ends with: what the producer throws.
inline std::string produced(const Body& stream) {
  CollectingSink sink;
  BodyWriter writer(sink);
  skua::run((*stream.stream())->produce(writer));
  return sink.text;
}

}  // namespace skua::support
