// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "resp/reply_parser.hpp"
#include "skua/loop.hpp"
#include "skua/redis.hpp"
#include "skua/stream.hpp"
#include "support/closed_port.hpp"

namespace skua::redis {

/// A server on the same loop whose replies a test writes. It logs in by itself.
class FakeRedis final {
 public:
  using Words = std::vector<std::string>;
  class Peer;
  /// Returns the reply to a command in RESP3; empty: no reply.
  using Answer = std::function<std::string(const Words& words, Peer& peer)>;

  /// A connection of a client.
  class Peer final {
   public:
    Peer(FakeRedis& server, TcpStream stream) : server_(server), stream_(std::move(stream)) {
      stream_.on_receive([this](std::string_view bytes) { receive(bytes); });
      stream_.on_end([this](Error) { close(); });
    }
    Peer(const Peer&) = delete;
    Peer& operator=(const Peer&) = delete;
    ~Peer() = default;

    void write(std::string_view bytes) { stream_.write(bytes); }
    void close() {
      is_open = false;
      stream_.close();
    }

    bool is_open = true;
    int number = 0;              // the first connection is 0
    std::vector<Words> heard{};  // commands, without those of the login

   private:
    void receive(std::string_view bytes) {
      while (is_open && parser_.next(bytes) == resp::ReplyParser::Event::Reply) {
        Words words;
        const Reply command = parser_.take();
        for (const Reply& word : command.elements()) words.emplace_back(word.text());
        const std::string reply = server_.reply_to(words, *this);
        if (is_open && !reply.empty()) stream_.write(reply);
      }
    }

    FakeRedis& server_;
    TcpStream stream_;
    resp::ReplyParser parser_;
  };

  explicit FakeRedis(Answer answer, std::uint16_t port = 0) : answer_(std::move(answer)) {
    listen(port);
  }
  FakeRedis(const FakeRedis&) = delete;
  FakeRedis& operator=(const FakeRedis&) = delete;
  ~FakeRedis() = default;

  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] std::string place() const { return "127.0.0.1:" + std::to_string(port_); }
  [[nodiscard]] std::string url() const { return "redis://" + place(); }
  /// The commands of all connections, in the order of their arrival, without the login.
  [[nodiscard]] const std::vector<Words>& heard() const { return heard_; }
  [[nodiscard]] const std::vector<Words>& logins() const { return logins_; }
  [[nodiscard]] Peer& peer(std::size_t number) { return *peers_.at(number); }
  [[nodiscard]] std::size_t connection_count() const { return peers_.size(); }

  /// Stops listening and closes all connections: the server is away, and its clients have heard of
  /// it. The port stays taken, or the next server of another test might get it (but on Windows,
  /// where nobody can take it while connections to it remain).
  void go_away(Loop& loop) {
    listener_.reset();
    loop.poll(0ms);  // closes it
#if !defined(_WIN32)
    port_holder_.emplace(port_);
#endif
    for (const auto& one : peers_) one->close();
    for (int turns = 0; turns < 10; ++turns) loop.poll(1ms);
  }
  void come_back() {
    port_holder_.reset();
    listen(port_);
  }
  /// Writes to all connections.
  void push(std::string_view bytes) {
    for (const auto& one : peers_) {
      if (one->is_open) one->write(bytes);
    }
  }

  /// Replies to HELLO, SELECT and ROLE.
  std::string hello = "%1\r\n+proto\r\n:3\r\n";
  std::string select = "+OK\r\n";
  std::string role = "*3\r\n$6\r\nmaster\r\n:0\r\n*0\r\n";

 private:
  friend class Peer;

  void listen(std::uint16_t port) {
    listener_ = std::make_unique<Listener>(
        Listener::listen(Address::loopback(Address::Family::Ipv4, port)).value());
    port_ = listener_->address().port();
    listener_->on_accept([this](TcpStream stream) {
      peers_.push_back(std::make_unique<Peer>(*this, std::move(stream)));
      peers_.back()->number = static_cast<int>(peers_.size()) - 1;
    });
  }

  std::string reply_to(const Words& words, Peer& peer) {
    const std::string& name = words.front();
    if (name == "HELLO" || name == "SELECT" || name == "ROLE") {
      logins_.push_back(words);
      return name == "HELLO" ? hello : name == "SELECT" ? select : role;
    }
    heard_.push_back(words);
    peer.heard.push_back(words);
    return answer_(words, peer);
  }

  Answer answer_;
  std::unique_ptr<Listener> listener_;
  std::uint16_t port_ = 0;
  std::optional<testing::ClosedPort> port_holder_{};
  std::vector<std::unique_ptr<Peer>> peers_;
  std::vector<Words> heard_;
  std::vector<Words> logins_;
};

/// Returns a bulk string in RESP3.
inline std::string bulk(std::string_view text) {
  return "$" + std::to_string(text.size()) + "\r\n" + std::string(text) + "\r\n";
}

/// Replies with the last word of each command.
inline std::string echo(const FakeRedis::Words& words, FakeRedis::Peer&) {
  return bulk(words.back());
}

/// Options that do not let a test wait for long.
inline Options quick(const FakeRedis& server) {
  return {.url = server.url(), .min_backoff = 1ms, .max_backoff = 5ms};
}

}  // namespace skua::redis
