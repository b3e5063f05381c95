// SPDX-License-Identifier: MIT
#include "skua/load_shedding.hpp"

#include <algorithm>
#include <cstddef>
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
  std::weak_ptr<const void> owner;  // which keeps its address from others, but not the object
  operations::ControlledDelay delay;
};

/// Those of all LoadShedding objects, by the address of their state.
class Queues {
 public:
  Queue& of(const std::shared_ptr<const void>& owner, const LoadSheddingOptions& options) {
    const auto found = all_.find(owner.get());
    if (found != all_.end()) return found->second;
    if (all_.size() >= most_) forget_those_gone();
    const operations::ControlledDelay delay(options.target, options.interval);
    return all_.emplace(owner.get(), Queue{owner, delay}).first->second;
  }

 private:
  // Each time that there are twice as many, so that it costs each new one little.
  void forget_those_gone() {
    std::erase_if(all_, [](const auto& entry) { return entry.second.owner.expired(); });
    most_ = std::max(fewest, 2 * all_.size());
  }

  static constexpr std::size_t fewest = 16;

  std::map<const void*, Queue> all_;
  std::size_t most_ = fewest;
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
  Queue& queue = loop.attachments().get<Queues>().of(state_, state_->options);
  const loop::Instant now = loop.exact_now();
  if (!queue.delay.refuses(loop.waited(now), now)) return std::nullopt;
  state_->refused.fetch_add(1, std::memory_order_relaxed);
  Response response(Status::ServiceUnavailable);
  response.header("Retry-After", std::to_string(options.retry_after.count()));
  return response;
}

}  // namespace skua
