// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "redis/fake_redis.hpp"
#include "topics/message_id.hpp"

namespace skua::redis {

/// The streams of a FakeRedis: as much of them as a topic bus uses. Scripts are known by their
/// keys.
class FakeStreams final {
 public:
  using Words = FakeRedis::Words;
  using Peer = FakeRedis::Peer;
  using Id = topics::MessageId;

  /// An element: its id and its fields.
  struct Element {
    Id id{};
    std::vector<std::string> fields{};
  };

  std::string operator()(const Words& words, Peer& peer) {
    const std::string& name = words[0];
    if (name == "PING") return "+PONG\r\n";
    if (name == "PEXPIRE") return ":1\r\n";
    if (name == "XRANGE") return range(words);
    if (name == "XREVRANGE") return newest(words);
    if (name == "SUBSCRIBE") return subscribe(words, peer);
    if (name == "UNSUBSCRIBE") return unsubscribe(words, peer);
    if (name == "EVALSHA") return run_script(words, peer);
    return "-ERR unknown command\r\n";
  }

  Id add(const std::string& key, std::vector<std::string> fields) {
    last = last.next();
    streams[key].push_back({last, std::move(fields)});
    if (!is_mute) say(key, last.to_string());
    return last;
  }
  /// Adds a message as the bus does.
  std::string publish(const std::string& topic, const std::string& text) {
    const std::string key = key_of(topic);
    const auto& all = streams[key];
    const Id previous = all.empty() ? Id() : all.back().id;
    return add(key, {"p", previous.to_string(), "o", "o", "t", text}).to_string();
  }
  [[nodiscard]] static std::string key_of(const std::string& topic) {
    return "skua:{topics}:t:" + topic;
  }
  /// The number of open connections that are subscribed to anything.
  [[nodiscard]] std::size_t subscriber_count() const {
    std::size_t count = 0;
    for (const auto& [peer, channels] : subscribed_) {
      if (peer->is_open && !channels.empty()) ++count;
    }
    return count;
  }
  /// The channels of logs that are subscribed to.
  [[nodiscard]] std::size_t channel_count() const {
    std::size_t count = 0;
    for (const auto& [peer, channels] : subscribed_) {
      if (peer->is_open) count += channels.size();
    }
    return count - subscriber_count();  // that of the process
  }

  std::map<std::string, std::vector<Element>> streams{};
  std::map<std::string, std::string> once{};     // publications that are remembered
  std::map<std::string, std::string> members{};  // by their tokens, of all topics
  Id last{1'000, 0};
  int lost_replies = 0;  // so many publications are executed, and their connection is lost
  bool is_node_known = true;
  std::vector<std::string> other_nodes{};  // that are alive
  int questions = 0;                       // for members
  bool is_mute = false;                    // nothing is said on channels

 private:
  static std::string array(std::size_t size) { return "*" + std::to_string(size) + "\r\n"; }
  static std::string text_of(const Element& element) {
    std::string text = array(2) + bulk(element.id.to_string()) + array(element.fields.size());
    for (const std::string& field : element.fields) text += bulk(field);
    return text;
  }
  static std::string text_of(const std::vector<Element>& elements) {
    std::string text = array(elements.size());
    for (const Element& element : elements) text += text_of(element);
    return text;
  }
  std::string range(const Words& words) {  // XRANGE key from + COUNT n
    std::vector<Element> found;
    const Id from = topics::parse_message_id(words[2]).value();
    for (const Element& element : streams[words[1]]) {
      if (element.id >= from && found.size() < std::stoul(words[5])) found.push_back(element);
    }
    return text_of(found);
  }
  std::string newest(const Words& words) {  // XREVRANGE key + - COUNT n
    std::vector<Element> found = streams[words[1]];
    std::ranges::reverse(found);
    found.resize(std::min<std::size_t>(found.size(), std::stoul(words[5])));
    return text_of(found);
  }
  std::string subscribe(const Words& words, Peer& peer) {
    std::string reply;
    for (std::size_t i = 1; i < words.size(); ++i) {
      subscribed_[&peer].insert(words[i]);
      reply += ">3\r\n" + bulk("subscribe") + bulk(words[i]) + ":1\r\n";
    }
    return reply;
  }
  std::string unsubscribe(const Words& words, Peer& peer) {
    std::string reply;
    for (std::size_t i = 1; i < words.size(); ++i) {
      subscribed_[&peer].erase(words[i]);
      reply += ">3\r\n" + bulk("unsubscribe") + bulk(words[i]) + ":1\r\n";
    }
    return reply;
  }
  void say(const std::string& channel, const std::string& text) {
    for (const auto& [peer, channels] : subscribed_) {
      if (!peer->is_open || !channels.contains(channel)) continue;
      peer->write(">3\r\n" + bulk("message") + bulk(channel) + bulk(text));
    }
  }

  std::string run_script(const Words& words,
                         Peer& peer) {  // EVALSHA sha count keys... arguments...
    const std::size_t count = std::stoul(words[2]);
    const Words keys(words.begin() + 3, words.begin() + 3 + static_cast<std::ptrdiff_t>(count));
    const Words arguments(words.begin() + 3 + static_cast<std::ptrdiff_t>(count), words.end());
    if (keys[0].find("}:t:") != std::string::npos) return publish_all(keys, arguments, peer);
    if (count == 1) {
      const bool was_known = std::exchange(is_node_known, true);
      std::string nodes = array(2 + other_nodes.size()) + (was_known ? ":1\r\n" : ":0\r\n");
      for (const std::string& node : other_nodes) nodes += bulk(node);
      return nodes + bulk(arguments[0]);
    }
    if (count == 2) {
      for (std::size_t i = 1; i < arguments.size(); ++i) members.erase(arguments[i]);
      add(keys[1], {"t", ""});
      return ":1\r\n";
    }
    if (arguments.size() == 2) {
      ++questions;
      std::string text = array(members.size() * 2);
      for (const auto& [token, member] : members) text += bulk(token) + bulk(member);
      return text;
    }
    for (std::size_t i = 3; i + 1 < arguments.size(); i += 2)
      members[arguments[i]] = arguments[i + 1];
    add(keys[2], {"t", ""});
    return ":1\r\n";
  }
  std::string publish_all(const Words& keys, const Words& arguments, Peer& peer) {
    std::string text = array(keys.size() - 1);
    for (std::size_t i = 1; i < keys.size(); ++i) {
      auto known = once.find(keys[i]);
      if (known == once.end()) {
        const auto& all = streams[keys[0]];
        const Id previous = all.empty() ? Id() : all.back().id;
        const Id id = add(keys[0], {"p", previous.to_string(), "o", arguments[2 * i + 2], "t",
                                    arguments[2 * i + 1]});
        known = once.emplace(keys[i], id.to_string()).first;
      }
      text += bulk(known->second);
    }
    if (lost_replies == 0) return text;
    --lost_replies;
    peer.close();
    return {};
  }

  std::map<Peer*, std::set<std::string>> subscribed_;
};

}  // namespace skua::redis
