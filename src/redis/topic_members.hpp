// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "loop/threads/promise.hpp"
#include "redis/topic_settings.hpp"
#include "skua/async.hpp"
#include "skua/redis.hpp"
#include "skua/topics.hpp"
#include "topics/bus.hpp"

namespace skua::redis {

/// The members that this process has in topics, and its questions about those of all processes.
/// Redis is told again when it has forgotten them.
class TopicMembership final {
 public:
  using Members = std::vector<TopicMember>;
  using Answer = loop::Promise<topics::MembersPtr>;

  TopicMembership(Client& client, const TopicSettings& settings);
  TopicMembership(const TopicMembership&) = delete;
  TopicMembership& operator=(const TopicMembership&) = delete;

  /// `token` tells the member from all others: `NODE:NUMBER`.
  void enter(std::string token, std::string topic, const TopicMember& member);
  void leave(const std::string& token);
  /// Answers with the members of a topic, of all processes; those of dead ones are removed. All who
  /// ask while Redis is asked share the next question.
  void ask(const std::string& topic, Answer answer);
  /// Tells Redis that this process is alive, and repeats what it may have missed or forgotten.
  /// `watched`: the topics whose members somebody here watches.
  Task<> beat(std::vector<std::string> watched);
  /// Redis is there again: it may have forgotten all.
  void enter_again() { must_enter_again_ = true; }

 private:
  struct Own {
    std::string topic{};
    std::string text{};
  };
  /// Those who wait for the members of a topic.
  struct Listing {
    std::vector<Answer> waiting{};
    bool is_asked = false;  // a task does so
  };
  /// Members of a topic that go together.
  struct Batch {
    std::string topic{};
    std::vector<std::string> tokens{};
  };

  static std::string_view topic_of(const Own& own) noexcept { return own.topic; }
  static std::string_view topic_of(std::string_view topic) noexcept { return topic; }
  static std::size_t bytes_of(const Own& own) noexcept { return own.text.size(); }
  static std::size_t bytes_of(const std::string&) noexcept { return 0; }
  template <class Tokens>
  static std::vector<Batch> batches_of(const Tokens& tokens);

  Task<> send_enter(std::string topic, std::vector<std::string> tokens);
  Task<> send_leave(std::string topic, std::vector<std::string> tokens);
  Task<> answer_all(std::string topic);
  Task<Result<topics::MembersPtr, Problem>> list(std::string topic);
  [[nodiscard]] Members members_in(const std::string& topic, const Reply& reply);
  Task<bool> say_alive();
  Task<> run_all(std::vector<Task<>> calls);
  Task<> list_all(std::vector<std::string> watched);
  Task<> clean(std::string topic);

  Client& client_;
  const TopicSettings& settings_;
  const Script enter_;
  const Script leave_;
  const Script list_;
  const Script alive_;
  std::map<std::string, Own, std::less<>> own_;  // by their tokens
  std::map<std::string, std::string> left_;  // tokens that Redis may still have, and their topics
  std::map<std::string, Listing> listings_;  // topics that somebody asks for
  std::set<std::string, std::less<>> seen_;  // processes that have members
  unsigned beats_ = 0;
  bool must_enter_again_ = false;
  Scope tasks_;  // the last member: its tasks use the others
};

/// A member as a text: `3:Ada{"seat":1}`, the size of the name first.
std::string text_of(const TopicMember& member);
/// Returns false if the text is malformed.
bool read_member(std::string_view text, TopicMember& member);

}  // namespace skua::redis
