// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "loop/clock.hpp"
#include "redis/node.hpp"
#include "redis/slot_map.hpp"
#include "redis/topology.hpp"
#include "skua/async.hpp"
#include "skua/waiter.hpp"

namespace skua::redis {

/// The nodes of a cluster. Each command goes to the node of its slot, and after it when the slot
/// moves.
///
/// https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/
class Cluster final : public Topology {
 public:
  explicit Cluster(std::shared_ptr<const Settings> settings);
  ~Cluster() override;

  Task<Replies> perform(std::vector<Command> commands, Atomicity atomicity,
                        loop::Instant deadline) override;
  Task<Result<Endpoint, Problem>> place_of(std::optional<std::uint16_t> slot) override;
  void misplaced() override { start_refresh(); }
  [[nodiscard]] Role role() const noexcept override { return Role::Server; }
  void close(const Problem& why) noexcept override;

 private:
  /// A node, with its place, which never changes.
  struct Member {
    Endpoint place{};
    std::shared_ptr<Node> node{};  // shared with tasks that wait
  };
  /// A command of a pipeline, with its result.
  struct Step;
  /// The steps of a pipeline that one node gets.
  struct Part;

  // One node.
  Task<Replies> perform_together(std::span<const Command> commands, Atomicity atomicity,
                                 loop::Instant deadline);
  Task<Result<Member, Problem>> member_for(std::optional<std::uint16_t> slot,
                                           loop::Instant deadline);
  Task<Result<Member, Problem>> member_at_or_for(std::optional<Endpoint> place,
                                                 std::optional<std::uint16_t> slot,
                                                 loop::Instant deadline);
  Task<> pause_for(Duration time);
  Task<> wait_for_refresh(loop::Instant deadline);
  // Pipelines.
  Task<Replies> perform_apart(const std::vector<Command>& commands, loop::Instant deadline);
  Task<std::vector<Part>> split(const std::vector<Step*>& steps, loop::Instant deadline);
  Task<> run_part(Part& part, loop::Instant deadline);
  Task<std::vector<Step*>> redirected(const std::vector<Part>& parts, loop::Instant deadline);

  // The map of slots.
  Member member_at(const Endpoint& place);
  static Task<Result<Endpoint, Problem>> located(Endpoint place);
  void note_moved(const Redirection& moved);
  void start_refresh();
  Task<> refresh();
  Task<> refresh_from_any();
  Task<bool> refresh_from(Member asked);
  [[nodiscard]] std::size_t server_count() const noexcept;
  void apply(const std::vector<SlotRange>& ranges);

  std::shared_ptr<const Settings> settings_;  // shared with all of the client
  std::vector<Member> members_;               // from the second on
  std::vector<std::uint16_t> slots_;          // the index of each slot's master in members_
  std::optional<Problem> last_problem_{};     // of the last refresh
  std::optional<Problem> end_{};
  Room room_;
  bool has_map_ = false;
  bool is_refreshing_ = false;
  bool is_hopeless_ = false;  // the last refresh, because of what all nodes said
  loop::Instant next_refresh_{};
  skua::detail::WaiterList refreshed_;
  skua::detail::WaiterList closed_;
  Scope tasks_;  // the last member: its tasks use the others
};

}  // namespace skua::redis
