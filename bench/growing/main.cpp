// SPDX-License-Identifier: MIT
// In: the name of a scenario and numbers of others. Does the operation of the scenario among that
// many others; bench/growth counts the instructions of measured() under callgrind, once for each
// number.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>

#include "load.hpp"

namespace {

using skua::growing::Load;
using skua::growing::Scenario;

constexpr int warm_ups = 5;
constexpr int operations = 50;

const std::array scenarios{skua::growing::task_scenarios(), skua::growing::client_scenarios(),
                           skua::growing::server_scenarios()};

const Scenario* find(const char* name) {
  for (const std::span<const Scenario> group : scenarios) {
    for (const Scenario& scenario : group) {
      if (std::strcmp(scenario.name, name) == 0) return &scenario;
    }
  }
  return nullptr;
}

}  // namespace

extern "C" {

[[gnu::noinline]] void skua_measured(Load* load) {
  for (int i = 0; i < operations; ++i) load->operate();
}

}  // extern "C"

int main(int count, char** arguments) {
  if (count < 3) {
    for (const std::span<const Scenario> group : scenarios) {
      for (const Scenario& scenario : group) std::puts(scenario.name);
    }
    return 0;
  }
  const Scenario* const scenario = find(arguments[1]);
  if (scenario == nullptr) {
    std::fprintf(stderr, "there is no scenario %s\n", arguments[1]);
    return 2;
  }
  for (int i = 2; i < count; ++i) {
    const std::unique_ptr<Load> load = scenario->make(std::strtoul(arguments[i], nullptr, 10));
    for (int warm_up = 0; warm_up < warm_ups; ++warm_up) load->operate();
    skua_measured(load.get());
  }
  return 0;
}
