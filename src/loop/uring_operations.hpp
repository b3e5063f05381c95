// SPDX-License-Identifier: MIT
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "loop/backend.hpp"
#include "skua/error.hpp"

namespace skua::loop {

/// Data of an operation in flight that the kernel reads and that a submission cannot hold.
struct UringOperation {
  static constexpr std::size_t max_slices = 32;

  /// Builds the message from as many slices as fit; their memory is not copied.
  void gather(std::span<const Slice> from) noexcept {
    const std::size_t count = std::min(from.size(), slices.size());
    for (std::size_t i = 0; i < count; ++i) {
      slices[i] = {const_cast<char*>(from[i].data), from[i].size_bytes};
    }
    message.msg_iov = slices.data();
    message.msg_iovlen = count;
  }

  msghdr message{};
  std::array<iovec, max_slices> slices{};
  sockaddr_storage address{};
  Error failure{Errc::None};  // found at once, reported in the next turn
};

/// A pool of operations, identified by numbers that are never 0.
class UringOperations final {
 public:
  UringOperations() = default;
  UringOperations(const UringOperations&) = delete;
  UringOperations& operator=(const UringOperations&) = delete;
  ~UringOperations() = default;

  [[nodiscard]] std::uint32_t take() {
    if (free_.empty()) add();
    const std::uint32_t number = free_.back();
    free_.pop_back();
    return number;
  }
  /// Cannot throw: add() has reserved the room in `free_`.
  void give_back(std::uint32_t number) noexcept { free_.push_back(number); }
  [[nodiscard]] UringOperation& operator[](std::uint32_t number) noexcept {
    return *all_[number - 1];
  }

 private:
  void add() {
    all_.push_back(std::make_unique<UringOperation>());
    free_.reserve(all_.capacity());
    free_.push_back(static_cast<std::uint32_t>(all_.size()));
  }

  std::vector<std::unique_ptr<UringOperation>> all_;
  std::vector<std::uint32_t> free_;
};

}  // namespace skua::loop
