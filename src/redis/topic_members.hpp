// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redis/topic_settings.hpp"
#include "skua/async.hpp"
#include "skua/redis.hpp"
#include "skua/topics.hpp"

namespace skua::redis {

/// The members that this process has in topics. Redis is told again when it has forgotten them.
class TopicMembership final {
 public:
  using Members = std::vector<TopicMember>;

  TopicMembership(Client& client, const TopicSettings& settings);
  TopicMembership(const TopicMembership&) = delete;
  TopicMembership& operator=(const TopicMembership&) = delete;

  /// `token` tells the member from all others: `NODE:NUMBER`.
  void enter(std::string token, std::string topic, const TopicMember& member);
  void leave(const std::string& token);
  /// Returns the members of a topic, of all processes; those of dead ones are removed.
  Task<Result<Members, Problem>> list(std::string topic);
  /// Tells Redis that this process is alive, and repeats what it may have missed or forgotten.
  Task<> beat();
  /// Redis is there again: it may have forgotten all.
  void enter_again() { must_enter_again_ = true; }

 private:
  struct Own {
    std::string topic{};
    std::string text{};
  };

  Task<> send_enter(std::string token);
  Task<> send_leave(std::string token);
  Task<> say_alive();
  [[nodiscard]] Members members_in(const std::string& topic, const Reply& reply);

  Client& client_;
  const TopicSettings& settings_;
  const Script enter_;
  const Script leave_;
  const Script list_;
  const Script alive_;
  std::map<std::string, Own> own_;           // by their tokens
  std::map<std::string, std::string> left_;  // tokens that Redis may still have, and their topics
  unsigned beats_ = 0;
  bool must_enter_again_ = false;
  Scope tasks_;  // the last member: its tasks use the others
};

/// A member as a text: `3:Ada{"seat":1}`, the size of the name first.
std::string text_of(const TopicMember& member);
/// Returns false if the text is malformed.
bool read_member(std::string_view text, TopicMember& member);

}  // namespace skua::redis
