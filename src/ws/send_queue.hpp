// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <deque>
#include <utility>

#include "skua/body.hpp"

namespace skua::ws {

/// A queue of complete frames for a peer that does not keep up.
class SendQueue {
 public:
  void push(Body&& frame) {
    size_bytes_ += frame.size_bytes();
    frames_.push_back(std::move(frame));
  }
  Body pop() {
    Body frame = std::move(frames_.front());
    frames_.pop_front();
    size_bytes_ -= frame.size_bytes();
    return frame;
  }
  [[nodiscard]] bool empty() const noexcept { return frames_.empty(); }
  [[nodiscard]] std::uint64_t size_bytes() const noexcept { return size_bytes_; }

 private:
  std::deque<Body> frames_;
  std::uint64_t size_bytes_ = 0;
};

}  // namespace skua::ws
