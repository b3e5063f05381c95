// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/group.hpp"

namespace skua::proxy {

/// A group whose time a test moves.
class GroupTest : public ::testing::Test {
 protected:
  using Refusal = Group::Refusal;
  using State = UpstreamTargetStatus::State;

  GroupTest() {
    options_.name = "shop";
    options_.log = [this](LogLevel, std::string_view line) { log_.append(line).append("\n"); };
  }
  void make(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      options_.targets.push_back({.url = "http://10.0.0." + std::to_string(i + 1)});
    }
    group_ = std::make_unique<Group>(options_);
  }
  Member& member(std::size_t index) { return *(*group_->members())[index]; }
  Group::Choice choose(std::vector<const Member*> tried = {},
                       std::optional<std::uint64_t> key = {}) {
    return group_->choose(*group_->members(), {.key = key, .tried = tried, .now = now_}, draw_,
                          candidates_);
  }
  // Chooses often, and counts, without a request that is outstanding.
  std::map<std::size_t, int> counts(int times) {
    std::map<std::size_t, int> count;
    for (int i = 0; i < times; ++i) {
      const Group::Choice choice = choose();
      if (choice.refusal != Refusal::None) continue;
      ++count[choice.index];
      group_->release(member(choice.index));
    }
    return count;
  }
  void fail(std::size_t index, unsigned times = 1, Outcome outcome = Outcome::Closed) {
    for (unsigned i = 0; i < times; ++i) group_->judge(member(index), outcome, now_);
  }
  void check(std::size_t index, std::string_view problem, unsigned times = 1) {
    for (unsigned i = 0; i < times; ++i) group_->note_check(member(index), problem, now_);
  }
  State state(std::size_t index) { return group_->look(now_)[index].state; }

  UpstreamOptions options_;
  std::unique_ptr<Group> group_;
  std::string log_;
  loop::Instant now_{1h};
  Draw draw_{11};
  std::vector<Candidate> candidates_;
};

}  // namespace skua::proxy
