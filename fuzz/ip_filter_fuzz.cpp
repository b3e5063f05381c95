// SPDX-License-Identifier: MIT
// In: a list of networks, as in a file. Checked: what is printed is read back as the same block,
// blocks contain their first address and themselves, and a filter decides like a search of all.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "skua/ip_filter.hpp"

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<char> exact(data, data + size);
  const auto list = skua::parse_networks({exact.data(), exact.size()});
  if (!list) return 0;
  const std::size_t half = list->size() / 2;
  const skua::IpRules rules{{list->begin(), list->begin() + static_cast<std::ptrdiff_t>(half)},
                            {list->begin() + static_cast<std::ptrdiff_t>(half), list->end()}};
  const skua::IpFilter filter(rules);
  for (const skua::Network& network : *list) {
    const std::string text = network.to_string();
    const auto again = skua::Network::parse(text);
    check(again && *again == network && network.contains(*again));
    const auto first = skua::Address::parse(std::string_view(text).substr(0, text.find('/')), 80);
    check(first && network.contains(*first));
    check(*skua::Network::of(*first, network.prefix_length()) == network);
    const auto has = [&](const skua::Network& block) { return block.contains(*first); };
    const bool is_allowed = rules.allow.empty() || std::ranges::any_of(rules.allow, has);
    check(filter.accepts(*first) == (is_allowed && std::ranges::none_of(rules.deny, has)));
  }
  return 0;
}
