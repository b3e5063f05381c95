// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/intrusive_list.hpp"
#include "skua/body.hpp"
#include "skua/websocket_message.hpp"
#include "ws/wire.hpp"

namespace skua::ws {

class Hub;
class Socket;
class Topics;
struct Topic;

/// A message that is framed once for all the server's sockets that receive it, and compressed at
/// most once. Immutable, shared by threads.
class Publication final {
 public:
  Publication(MessageType type, std::string_view text);

  /// The complete frame.
  [[nodiscard]] const SharedText& plain() const noexcept { return plain_; }
  /// The frame compressed without context; plain() if that is not shorter. Any thread.
  [[nodiscard]] const SharedText& deflated() const;

 private:
  MessageType type_;
  std::size_t header_bytes_;
  SharedText plain_;
  mutable std::once_flag is_deflated_;
  mutable SharedText deflated_;
};

/// A socket's subscription to a topic.
class Subscription final : public base::ListNode {
 public:
  Subscription(Topics& topics, Topic& topic, Socket& socket) noexcept;
  ~Subscription();
  [[nodiscard]] Topic& topic() const noexcept { return topic_; }
  [[nodiscard]] Socket& socket() const noexcept { return socket_; }

 private:
  Topics& topics_;
  Topic& topic_;
  Socket& socket_;
};

struct Topic {
  std::string name;
  base::IntrusiveList<Subscription> subscriptions{};
};

/// The topics and subscriptions of one thread. Part of a Hub during its lifetime.
class Topics final {
 public:
  /// `post` runs a call on this thread, from any other.
  Topics(Hub& hub, Poster post);
  Topics(const Topics&) = delete;
  Topics& operator=(const Topics&) = delete;
  ~Topics();

  [[nodiscard]] std::unique_ptr<Subscription> subscribe(std::string_view topic, Socket& socket);
  /// Sends a text to the subscribers on all threads.
  void publish(std::string_view topic, MessageType type, std::string_view text);
  /// Any thread.
  [[nodiscard]] std::size_t subscriptions() const noexcept {
    return subscriptions_.load(std::memory_order_relaxed);
  }

 private:
  friend class Hub;
  friend class Subscription;

  void deliver(std::string_view topic, const Publication& publication);
  void forget(Topic& topic) noexcept;

  Hub& hub_;
  Poster post_;
  std::unordered_map<std::string_view, std::unique_ptr<Topic>> topics_;  // keys view Topic::name
  std::atomic<std::size_t> subscriptions_{0};
};

/// The topics of all threads of a server.
class Hub final {
 public:
  /// Sends a text to all subscribers. Any thread.
  void publish(std::string_view topic, MessageType type, std::string_view text);

 private:
  friend class Topics;

  void join(Topics& topics);
  void leave(Topics& topics) noexcept;
  void publish(std::string_view topic, const std::shared_ptr<const Publication>& publication,
               const Topics* but);

  std::mutex mutex_;
  std::vector<Topics*> threads_;  // guarded by mutex_
};

}  // namespace skua::ws
