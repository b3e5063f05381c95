// SPDX-License-Identifier: MIT
// In: commands. Out: batches, and the results of each command.
#include "redis/topology.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "redis/cluster.hpp"
#include "redis/direct.hpp"
#include "resp/command_rules.hpp"

namespace skua::redis {

std::shared_ptr<Topology> make_topology(const std::shared_ptr<const Settings>& settings) {
  if (settings->options.mode == Mode::Cluster) return std::make_shared<Cluster>(settings);
  return std::make_shared<Direct>(settings);
}

Room::Taken::Taken(Room& room, std::span<const Command> commands, std::size_t servers) noexcept
    : room_(room), is_blocking_(has_blocking(commands)) {
  for (const Command& command : commands) bytes_ += command.arguments().bytes().size();
  const Options& options = room_.options_;
  std::size_t& count = is_blocking_ ? room_.blocking_count_ : room_.count_;
  const std::size_t most = is_blocking_ ? options.max_connections : options.max_waiting;
  // As in Node: a single one may exceed the limit of bytes, or it could never be sent.
  is_taken_ = count / servers < most &&
              (room_.bytes_ == 0 || (room_.bytes_ + bytes_) / servers <= options.max_unsent_bytes);
  if (!is_taken_) return;
  ++count;
  room_.bytes_ += bytes_;
}

Room::Taken::~Taken() {
  if (!is_taken_) return;
  --(is_blocking_ ? room_.blocking_count_ : room_.count_);
  room_.bytes_ -= bytes_;
}

Replies refused(std::span<const Command> commands, Atomicity atomicity) {
  const Problem why{.error = Error(Errc::Overloaded, "redis"),
                    .text = "too many commands wait for Redis"};
  return Replies(commands.size() + (atomicity == Atomicity::Transaction ? 2 : 0), why);
}

BatchPtr make_batch(std::span<const Command> commands, Atomicity atomicity, Asking asking) {
  std::string wire;
  std::size_t count = commands.size();
  if (asking == Asking::Yes) {
    Command("ASKING").write(wire);
    ++count;
  }
  if (atomicity == Atomicity::Transaction) {
    Command("MULTI").write(wire);
    count += 2;
  }
  for (const Command& command : commands) command.write(wire);
  if (atomicity == Atomicity::Transaction) Command("EXEC").write(wire);
  return std::make_shared<Batch>(std::move(wire), count);
}

Replies results_of(Batch& batch, Asking asking) {
  Replies results;
  results.reserve(batch.size());
  for (Reply& reply : batch.replies()) results.emplace_back(std::move(reply));
  while (results.size() < batch.size()) {
    results.emplace_back(batch.failure().value_or(Problem{.error = Errc::Closed}));
  }
  if (asking == Asking::Yes) results.erase(results.begin());
  return results;
}

bool has_blocking(std::span<const Command> commands) noexcept {
  return std::ranges::any_of(commands, resp::is_blocking);
}

bool has_begun(const Replies& results) noexcept { return replied_error(results.front()).empty(); }

std::string_view replied_error(const Result<Reply, Problem>& result) noexcept {
  return result && result->is_error() ? result->text() : std::string_view();
}

}  // namespace skua::redis
