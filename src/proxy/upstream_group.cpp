// SPDX-License-Identifier: MIT
// The public Upstream, and the ReverseProxy in front of one: programs whose proxies have a URL only
// link neither.
#include <utility>

#include "loop/clock.hpp"
#include "proxy/group.hpp"
#include "proxy/group_dispatcher.hpp"
#include "proxy/upstream.hpp"
#include "skua/reverse_proxy.hpp"
#include "skua/upstream.hpp"

namespace skua {

Upstream::Upstream(const UpstreamOptions& options)
    : group_(std::make_shared<proxy::Group>(options)) {}

const std::string& Upstream::name() const noexcept { return group_->options().name; }

std::vector<UpstreamTargetStatus> Upstream::targets() const {
  std::vector<UpstreamTargetStatus> told;
  for (const proxy::Group::Seen& seen : group_->look(loop::SteadyClock().now())) {
    UpstreamTargetStatus& status = told.emplace_back();
    status.name = seen.member->name;
    status.state = seen.state;
    status.outstanding = seen.member->outstanding.load(std::memory_order_relaxed);
    for (std::size_t i = 0; i < proxy::outcome_count; ++i) {
      const std::uint64_t count = seen.member->outcomes[i].load(std::memory_order_relaxed);
      status.requests += count;
      if (proxy::is_failure(static_cast<proxy::Outcome>(i))) status.failures += count;
    }
  }
  return told;
}

ReverseProxy::ReverseProxy(const Upstream& upstream, const ReverseProxyOptions& options)
    : upstream_(std::make_shared<const proxy::Upstream>(
          std::make_unique<proxy::GroupDispatcher>(proxy::UpstreamAccess::group(upstream), options),
          options)) {}

void reverse_proxy(Router& router, Prefix prefix, const Upstream& upstream,
                   const ReverseProxyOptions& options, Router::Where where) {
  proxy::add_routes(router, prefix, ReverseProxy(upstream, options), where);
}

}  // namespace skua
