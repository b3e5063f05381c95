// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
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
    if (name == "XADD") return bulk(add(words[1], {"w", "1"}).to_string());
    if (name == "XRANGE") return range(words);
    if (name == "XREVRANGE") return newest(words);
    if (name == "XREAD") return read(words, peer);
    if (name == "EVALSHA") return run_script(words, peer);
    return "-ERR unknown command\r\n";
  }

  Id add(const std::string& key, std::vector<std::string> fields) {
    last = last.next();
    streams[key].push_back({last, std::move(fields)});
    serve_readers();
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
  [[nodiscard]] std::size_t reader_count() const { return readers_.size(); }

  std::map<std::string, std::vector<Element>> streams{};
  std::map<std::string, std::string> once{};     // publications that are remembered
  std::map<std::string, std::string> members{};  // by their tokens, of all topics
  Id last{1'000, 0};
  int lost_replies = 0;  // so many publications are executed, and their connection is lost
  bool is_node_known = true;

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
  std::vector<Element> after(const std::string& key, Id id, std::size_t count) {
    std::vector<Element> found;
    for (const Element& element : streams[key]) {
      if (element.id > id && found.size() < count) found.push_back(element);
    }
    return found;
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
  std::string read(const Words& words, Peer& peer) {  // XREAD COUNT n BLOCK ms STREAMS ...
    std::string reply = reply_to(words);
    if (reply.empty()) readers_.emplace_back(words, &peer);
    return reply;
  }
  std::string reply_to(const Words& words) {
    const std::size_t streams_at = 6;
    const std::size_t count = (words.size() - streams_at) / 2;
    std::string parts;
    std::size_t found = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::string& key = words[streams_at + i];
      const Id id = topics::parse_message_id(words[streams_at + count + i]).value();
      const std::vector<Element> elements = after(key, id, std::stoul(words[2]));
      if (elements.empty()) continue;
      parts += bulk(key) + text_of(elements);
      ++found;
    }
    return found == 0 ? std::string() : "%" + std::to_string(found) + "\r\n" + parts;
  }
  void serve_readers() {
    std::erase_if(readers_, [](const auto& reader) { return !reader.second->is_open; });
    std::erase_if(readers_, [this](const auto& reader) {
      const std::string reply = reply_to(reader.first);
      if (!reply.empty()) reader.second->write(reply);
      return !reply.empty();
    });
  }

  std::string run_script(const Words& words,
                         Peer& peer) {  // EVALSHA sha count keys... arguments...
    const std::size_t count = std::stoul(words[2]);
    const Words keys(words.begin() + 3, words.begin() + 3 + static_cast<std::ptrdiff_t>(count));
    const Words arguments(words.begin() + 3 + static_cast<std::ptrdiff_t>(count), words.end());
    if (keys[0].find("}:t:") != std::string::npos) return publish_all(keys, arguments, peer);
    if (count == 1) return std::exchange(is_node_known, true) ? ":1\r\n" : ":0\r\n";
    if (count == 2) {
      members.erase(arguments[0]);
      add(keys[1], {"t", ""});
      return ":1\r\n";
    }
    if (arguments.size() == 1) {
      std::string text = array(members.size() * 2);
      for (const auto& [token, member] : members) text += bulk(token) + bulk(member);
      return text;
    }
    members[arguments[0]] = arguments[1];
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

  std::vector<std::pair<Words, Peer*>> readers_;  // that wait
};

}  // namespace skua::redis
