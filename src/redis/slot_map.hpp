// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "redis/settings.hpp"
#include "skua/redis_reply.hpp"

namespace skua::redis {

/// Which master serves which slots, as a node of a cluster tells it.
struct SlotRange {
  std::uint16_t first = 0;
  std::uint16_t last = 0;
  Endpoint master{};
};

/// Reads the reply to CLUSTER SLOTS. `asked` stands for nodes that do not know their own address.
/// Malformed ranges and nodes without an address are left out.
std::vector<SlotRange> read_slots(const Reply& reply, const Endpoint& asked);

/// The meaning of an error of a node for its command: where to send it, or when.
struct Redirection {
  enum class Kind : std::uint8_t {
    None,   ///< it is a result
    Moved,  ///< the slot is at `place` from now on
    Ask,    ///< this time, and after ASKING, it is at `place`
    Later,  ///< its keys are on their way, or the cluster is down: try again
  };
  Kind kind = Kind::None;
  std::uint16_t slot = 0;
  Endpoint place{};
};

/// Reads an error: `MOVED 3999 127.0.0.1:6381`, `ASK ...`, `TRYAGAIN ...`, `CLUSTERDOWN ...`.
/// `asked` is the node that sent it, whose host an empty one stands for.
Redirection read_redirection(std::string_view error, const Endpoint& asked);

}  // namespace skua::redis
