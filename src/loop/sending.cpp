// SPDX-License-Identifier: MIT
// In: slices. Out: how much the socket took, in as few calls as possible.
#include "loop/sending.hpp"

#include <algorithm>
#include <array>

namespace skua::loop {
namespace {

constexpr std::size_t slices_per_call = 64;

}  // namespace

std::size_t total_bytes(std::span<const Slice> slices) noexcept {
  std::size_t total = 0;
  for (const Slice& slice : slices) total += slice.size_bytes;
  return total;
}

SendOutcome send_slices(int descriptor, std::span<const Slice> slices,
                        base::Counter& calls) noexcept {
  std::size_t sent = 0;
  while (!slices.empty()) {
    const auto batch = slices.first(std::min(slices.size(), slices_per_call));
    std::array<iovec, slices_per_call> pieces;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      pieces[i] = {const_cast<char*>(batch[i].data), batch[i].size_bytes};
    }
    msghdr message{};
    message.msg_iov = pieces.data();
    message.msg_iovlen = static_cast<decltype(message.msg_iovlen)>(batch.size());
    ++calls;
    const ssize_t count = bsd::sendmsg(descriptor, &message, bsd::no_signal);
    if (count < 0) return {sent, would_block(errno) ? 0 : errno};
    sent += static_cast<std::size_t>(count);
    if (static_cast<std::size_t>(count) < total_bytes(batch)) break;  // the socket is full
    slices = slices.subspan(batch.size());
  }
  return {sent, 0};
}

}  // namespace skua::loop
