// SPDX-License-Identifier: MIT
// In: a text to publish. Out: one frame, handed to each thread with any subscriptions, and there to
// the sockets. Each socket's own queue handles a slow peer.
#include "ws/topics.hpp"

#include <algorithm>
#include <utility>

#include "ws/deflate.hpp"
#include "ws/frame.hpp"
#include "ws/socket.hpp"

namespace skua::ws {
namespace {

SharedText share(std::string&& text) {
  auto owned = std::make_shared<const std::string>(std::move(text));
  const std::string_view view = *owned;
  return {std::move(owned), view};
}

std::string frame_of(MessageType type, bool is_compressed, std::string_view payload) {
  return make_frame({.payload_bytes = payload.size(),
                     .opcode = type == MessageType::Text ? Opcode::Text : Opcode::Binary,
                     .is_final = true,
                     .is_compressed = is_compressed,
                     .is_masked = false,
                     .key = {}},
                    payload);
}

}  // namespace

Publication::Publication(MessageType type, std::string_view text)
    : type_(type), plain_(share(frame_of(type, false, text))) {
  header_bytes_ = plain_.text.size() - text.size();
}

const SharedText& Publication::deflated() const {
  std::call_once(is_deflated_, [this] {
    std::string payload;
    Deflater deflater(15, false);
    const std::string_view text = plain_.text.substr(header_bytes_);
    const bool is_shorter = bool(deflater.deflate(text, payload)) && payload.size() < text.size();
    deflated_ = is_shorter ? share(frame_of(type_, true, payload)) : plain_;
  });
  return deflated_;
}

Subscription::Subscription(Topics& topics, Topic& topic, Socket& socket) noexcept
    : topics_(topics), topic_(topic), socket_(socket) {
  topics_.subscriptions_.fetch_add(1, std::memory_order_relaxed);
  topic_.subscriptions.push_back(*this);
}

Subscription::~Subscription() {
  unlink();
  topics_.subscriptions_.fetch_sub(1, std::memory_order_relaxed);
  if (topic_.subscriptions.empty()) topics_.forget(topic_);
}

Topics::Topics(Hub& hub, Poster post) : hub_(hub), post_(std::move(post)) { hub_.join(*this); }

Topics::~Topics() { hub_.leave(*this); }

std::unique_ptr<Subscription> Topics::subscribe(std::string_view name, Socket& socket) {
  auto found = topics_.find(name);
  if (found == topics_.end()) {
    auto topic = std::make_unique<Topic>(std::string(name));
    const std::string_view key = topic->name;
    found = topics_.emplace(key, std::move(topic)).first;
  }
  return std::make_unique<Subscription>(*this, *found->second, socket);
}

void Topics::forget(Topic& topic) noexcept { topics_.erase(topics_.find(topic.name)); }

void Topics::publish(std::string_view topic, MessageType type, std::string_view text) {
  const auto publication = std::make_shared<const Publication>(type, text);
  deliver(topic, *publication);
  hub_.publish(topic, publication, this);
}

void Topics::deliver(std::string_view topic, const Publication& publication) {
  const auto found = topics_.find(topic);
  if (found == topics_.end()) return;
  found->second->subscriptions.for_each(
      [&](Subscription& subscription) { subscription.socket().publish_here(publication); });
}

void Hub::publish(std::string_view topic, MessageType type, std::string_view text) {
  publish(topic, std::make_shared<const Publication>(type, text), nullptr);
}

void Hub::publish(std::string_view topic, const std::shared_ptr<const Publication>& publication,
                  const Topics* but) {
  const std::lock_guard lock(mutex_);
  for (Topics* const thread : threads_) {
    if (thread == but || thread->subscriptions() == 0) continue;
    thread->post_(
        [thread, name = std::string(topic), publication] { thread->deliver(name, *publication); });
  }
}

void Hub::join(Topics& topics) {
  const std::lock_guard lock(mutex_);
  threads_.push_back(&topics);
}

void Hub::leave(Topics& topics) noexcept {
  const std::lock_guard lock(mutex_);
  std::erase(threads_, &topics);
}

}  // namespace skua::ws
