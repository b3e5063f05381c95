// SPDX-License-Identifier: MIT
// Servers: networks of trusted proxies, members of a topic, targets of a gateway.
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "load.hpp"
#include "proxy/group.hpp"
#include "skua/topics.hpp"
#include "skua/trusted_proxies.hpp"

namespace skua::growing {
namespace {

/// An address is looked up.
class TrustedNetworks final : public Load {
 public:
  explicit TrustedNetworks(std::size_t others) : proxies_(rules(others)) {}

  void operate() override {
    for (const Address& address : addresses_) found_ += proxies_.trusts(address) ? 1U : 0U;
  }

 private:
  static ProxyRules rules(std::size_t count) {
    ProxyRules rules;
    for (std::size_t i = 0; i < count; ++i) {
      rules.networks.push_back(
          Network::parse("10." + std::to_string(i / 256) + "." + std::to_string(i % 256) + ".0/25")
              .value());
    }
    return rules;
  }

  TrustedProxies proxies_;
  const std::array<Address, 2> addresses_{Address::parse("10.0.5.1", 80).value(),
                                          Address::parse("192.0.2.1", 80).value()};
  std::size_t found_ = 0;
};

/// Somebody enters a topic and leaves it, while others are in it.
class MembersOfATopic final : public Load {
 public:
  explicit MembersOfATopic(std::size_t others) {
    for (std::size_t i = 0; i < others; ++i) {
      present_.push_back(topics_.enter("room", {.name = "member " + std::to_string(i)}));
    }
  }

  void operate() override { const TopicPresence visit = topics_.enter("room", visitor_); }

 private:
  Topics topics_;
  std::vector<TopicPresence> present_;
  const TopicMember visitor_{.name = "visitor"};
};

/// A request gets a target, while all targets are up. Sessions come again.
template <Balance by>
class GatewayTargets final : public Load {
 public:
  explicit GatewayTargets(std::size_t others) : group_(options(others)) {}

  void operate() override {
    const proxy::Group::Choice choice = group_.choose(
        *members_, {.key = ++number_ % sessions, .now = loop::Instant(1h)}, draw_, candidates_);
    group_.release(*(*members_)[choice.index]);
  }

 private:
  static constexpr std::uint64_t sessions = 4;

  static UpstreamOptions options(std::size_t count) {
    UpstreamOptions options;
    options.balance.by = by;
    for (std::size_t i = 0; i < count; ++i) {
      options.targets.push_back(
          {.url = "http://10.0." + std::to_string(i / 250) + "." + std::to_string(i % 250 + 1)});
    }
    return options;
  }

  proxy::Group group_;
  const std::shared_ptr<const proxy::Members> members_ = group_.members();
  proxy::Draw draw_{11};
  std::vector<proxy::Candidate> candidates_;
  std::uint64_t number_ = 0;
};

constexpr std::array scenarios{
    Scenario{"trusted networks", make<TrustedNetworks>},
    Scenario{"members of a topic", make<MembersOfATopic>},
    Scenario{"targets, the less busy", make<GatewayTargets<Balance::LeastOutstanding>>},
    Scenario{"targets, in turn", make<GatewayTargets<Balance::RoundRobin>>},
    Scenario{"targets, by session", make<GatewayTargets<Balance::Hash>>}};

}  // namespace

std::span<const Scenario> server_scenarios() { return scenarios; }

}  // namespace skua::growing
