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

std::string_view replied_error(const Result<Reply, Problem>& result) noexcept {
  return result && result->is_error() ? result->text() : std::string_view();
}

}  // namespace skua::redis
