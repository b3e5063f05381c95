// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "redis/node.hpp"
#include "redis/sentinels.hpp"
#include "redis/topology.hpp"
#include "skua/waiter.hpp"

namespace skua::redis {

/// One server: that of the URL, or the master that Sentinels tell.
class Direct final : public Topology {
 public:
  explicit Direct(const std::shared_ptr<const Settings>& settings);
  ~Direct() override;

  Task<Replies> perform(std::vector<Command> commands, Atomicity atomicity,
                        loop::Instant deadline) override;
  Task<Result<Endpoint, Problem>> place_of(std::optional<std::uint16_t> slot) override;
  void misplaced() override {}
  [[nodiscard]] Role role() const noexcept override;
  void close(const Problem& why) noexcept override;

 private:
  void leave_wrong_server(std::uint64_t generation);

  std::shared_ptr<const Settings> settings_;  // shared with all of the client
  std::unique_ptr<Sentinels> sentinels_;      // null: without
  std::shared_ptr<Node> node_;                // shared with tasks that wait
  Room room_;
  skua::detail::WaiterList closed_;
  loop::Instant next_leave_{};  // without Sentinels
  bool is_closed_ = false;
};

}  // namespace skua::redis
