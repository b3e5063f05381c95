// SPDX-License-Identifier: MIT
// Servers: networks of trusted proxies.
#include <array>
#include <memory>
#include <string>

#include "load.hpp"
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

constexpr std::array scenarios{Scenario{"trusted networks", make<TrustedNetworks>}};

}  // namespace

std::span<const Scenario> server_scenarios() { return scenarios; }

}  // namespace skua::growing
