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

/// The queue of one loop, as a LoadShedding sees it.
struct Queue {
  std::shared_ptr<const void> owner;  // so that no other object has its address
  operations::ControlledDelay delay;
};

/// Those of all LoadShedding objects, by the address of their state.
struct Queues {
  std::map<const void*, Queue> all{};
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
  auto found = queues.find(state_.get());
  if (found == queues.end()) {
    const operations::ControlledDelay delay(options.target, options.interval);
    found = queues.emplace(state_.get(), Queue{state_, delay}).first;
  }
  const loop::Instant now = loop.exact_now();
  if (!found->second.delay.refuses(loop.waited(now), now)) return std::nullopt;
  state_->refused.fetch_add(1, std::memory_order_relaxed);
  Response response(Status::ServiceUnavailable);
  response.header("Retry-After", std::to_string(options.retry_after.count()));
  return response;
}

}  // namespace skua
