// SPDX-License-Identifier: MIT
#include "skua/load_shedding.hpp"

#include <map>
#include <memory>
#include <stdexcept>
#include <string>

#include "loop/loop.hpp"
#include "operations/controlled_delay.hpp"
#include "skua/status.hpp"

namespace skua {
namespace {

/// The queues of one loop, as each LoadShedding sees them.
struct Queues {
  std::map<std::shared_ptr<const void>, operations::ControlledDelay> all{};
};

}  // namespace

LoadShedding::LoadShedding(const LoadSheddingOptions& options) : state_(std::make_shared<State>()) {
  if (options.target <= Duration::zero() || options.interval <= Duration::zero()) {
    throw std::invalid_argument("load_shedding: target and interval must be positive");
  }
  state_->options = options;
}

std::optional<Response> LoadShedding::operator()(Request&) const {
  loop::Loop& loop = loop::Loop::current();
  loop.measure_waits();
  const LoadSheddingOptions& options = state_->options;
  auto& queues = loop.attachments().get<Queues>().all;
  auto& queue = queues.try_emplace(state_, options.target, options.interval).first->second;
  const loop::Instant now = loop.exact_now();
  if (!queue.refuses(loop.waited(now), now)) return std::nullopt;
  state_->refused.fetch_add(1, std::memory_order_relaxed);
  Response response(Status::ServiceUnavailable);
  response.header("Retry-After", std::to_string(options.retry_after.count()));
  return response;
}

}  // namespace skua
