// SPDX-License-Identifier: MIT
// In: frames from any thread. Out: one stream per client. Each frame is encoded once and put into
// each client's short queue under the lock. A client's loop is notified once until it has read the
// queue: a slow client costs its queue and no more.
#include "skua/frames.hpp"

#include <algorithm>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/base_encoding.hpp"
#include "body/slow_peer.hpp"
#include "loop/loop.hpp"
#include "skua/body_writer.hpp"
#include "skua/waiter.hpp"

namespace skua {
namespace detail {
namespace {

constexpr std::string_view boundary = "skua-frame";

using Frame = std::shared_ptr<const std::string>;

}  // namespace

class FrameHub {
 public:
  explicit FrameHub(FrameOptions options) : options_(std::move(options)) {
    options_.frames = std::max<std::size_t>(options_.frames, 1);
    if (options_.format == FrameFormat::MixedReplace) {
      part_head_ = "Content-Type: " + options_.type + "\r\n";
      if (options_.base64) part_head_.append("Content-Transfer-Encoding: base64\r\n");
    }
  }

  /// The state of one client.
  struct Client {
    WaiterList waiters;  // used by the loop's thread only
    std::shared_ptr<loop::Mailbox> mailbox;
    std::deque<Frame> queue;  // guarded by the hub's mutex, like all members below
    bool is_told = false;     // a notification of its loop is pending
    bool is_over = false;     // the stream ends after the queued frames
    bool is_late = false;     // the stream is cut off: the client was too slow
  };

  void publish(std::string_view frame) {
    Frame framed = std::make_shared<const std::string>(frame_of(frame));
    const std::lock_guard lock(mutex_);
    if (is_closed_) return;
    for (const std::shared_ptr<Client>& client : clients_) offer(*client, framed), tell(client);
    if (options_.repeats_last) last_ = std::move(framed);
  }

  void close() noexcept {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
    for (const std::shared_ptr<Client>& client : clients_) {
      client->is_over = true;
      tell(client);
    }
  }

  [[nodiscard]] std::size_t count() const noexcept {
    const std::lock_guard lock(mutex_);
    return clients_.size();
  }

  [[nodiscard]] std::string content_type() const {
    if (options_.format == FrameFormat::Raw) return options_.type;
    return std::string("multipart/x-mixed-replace; boundary=").append(boundary);
  }
  [[nodiscard]] bool disconnects() const noexcept {
    return options_.slow_client == SlowClient::Disconnect;
  }
  [[nodiscard]] bool has_parts() const noexcept {
    return options_.format == FrameFormat::MixedReplace;
  }

  // Called for a client, on its loop's thread.

  std::shared_ptr<Client> enter() {
    auto client = std::make_shared<Client>();
    client->mailbox = loop::Loop::current().mailbox();
    const std::lock_guard lock(mutex_);
    client->is_over = is_closed_;
    if (last_ != nullptr && !is_closed_) client->queue.push_back(last_);
    clients_.push_back(client);
    return client;
  }
  void leave(const std::shared_ptr<Client>& client) noexcept {
    const std::lock_guard lock(mutex_);
    std::erase(clients_, client);
  }
  struct Next {
    Frame frame;
    bool is_over = false;
  };
  /// Ends with: body::SlowPeer.
  Next take(Client& client) {
    const std::lock_guard lock(mutex_);
    client.is_told = false;
    if (client.is_late) throw body::SlowPeer();
    if (client.queue.empty()) return {nullptr, client.is_over};
    Next next{std::move(client.queue.front())};
    client.queue.pop_front();
    return next;
  }
  [[nodiscard]] bool is_late(Client& client) {
    const std::lock_guard lock(mutex_);
    client.is_told = false;
    return client.is_late;
  }

 private:
  // Browsers show a part once its end has arrived, so the delimiter is sent with the part, not
  // before the next one.
  [[nodiscard]] std::string frame_of(std::string_view frame) const {
    const std::string coded = options_.base64 ? base64::encode(frame) : std::string();
    const std::string_view content = options_.base64 ? std::string_view(coded) : frame;
    std::string out;
    out.reserve(content.size() + part_head_.size() + 64);
    if (!has_parts()) return out.append(content).append(options_.separator);
    out.append(part_head_).append("Content-Length: ").append(std::to_string(content.size()));
    out.append("\r\n\r\n").append(content).append("\r\n--").append(boundary).append("\r\n");
    return out;
  }

  void offer(Client& client, const Frame& frame) {
    if (client.is_over) return;
    if (client.queue.size() >= options_.frames) {
      if (disconnects()) {
        client.is_over = client.is_late = true;
        return client.queue.clear();
      }
      client.queue.pop_front();
    }
    client.queue.push_back(frame);
  }

  static void tell(const std::shared_ptr<Client>& client) {
    if (client->is_told) return;
    client->mailbox->post([client] { client->waiters.wake_all(); });
    client->is_told = true;
  }

  FrameOptions options_;
  std::string part_head_;
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<Client>> clients_;  // guarded by mutex_, like all members below
  Frame last_;
  bool is_closed_ = false;
};

namespace {

/// Registers a client for the lifetime of its stream.
class Membership {
 public:
  explicit Membership(FrameHub& hub) : hub_(hub), client_(hub.enter()) {}
  Membership(const Membership&) = delete;
  Membership& operator=(const Membership&) = delete;
  ~Membership() { hub_.leave(client_); }
  FrameHub::Next take() { return hub_.take(*client_); }
  [[nodiscard]] WaiterList::Awaiter wait() noexcept { return client_->waiters.wait(); }
  /// Sends a piece. Ends with: body::SlowPeer once the client misses frames meanwhile.
  Task<> send(BodyWriter& out, Body piece) {
    BodyWriter::Awaiter room = out.write(std::move(piece));
    if (room.await_ready()) co_return;
    if (!hub_.disconnects()) co_return co_await room;
    co_await body::await_room(room, client_->waiters, [this] { return hub_.is_late(*client_); });
  }

 private:
  FrameHub& hub_;
  std::shared_ptr<FrameHub::Client> client_;
};

// The delimiter after the last frame promises another part, so that frame is sent once more: an
// empty part would be shown as a broken picture.
std::string last_part(const Frame& last) {
  const std::string_view again = last != nullptr ? std::string_view(*last) : std::string_view();
  std::string end(again.substr(0, again.rfind("\r\n--")));
  return end.append("\r\n--").append(boundary).append("--\r\n");
}

Task<> send_frames(FrameHub& hub, BodyWriter& out) {
  Membership client(hub);
  if (hub.has_parts()) co_await client.send(out, std::string("--").append(boundary).append("\r\n"));
  Frame last;
  while (true) {
    FrameHub::Next next = client.take();
    if (next.frame != nullptr) {
      last = next.frame;
      co_await client.send(out, Body(std::move(next.frame)));
    } else if (next.is_over) {
      break;
    } else {
      co_await client.wait();
    }
  }
  if (hub.has_parts()) co_await out.write(Body(last_part(last)));
}

}  // namespace
}  // namespace detail

FrameSource::FrameSource(FrameOptions options) {
  FieldLines().add("Content-Type", options.type);  // throws if it is not a valid field value
  hub_ = std::make_shared<detail::FrameHub>(std::move(options));
}

FrameSource::~FrameSource() { close(); }

void FrameSource::publish(std::string_view frame) { hub_->publish(frame); }

void FrameSource::close() noexcept { hub_->close(); }

std::size_t FrameSource::clients() const noexcept { return hub_->count(); }

Response FrameSource::stream() const {
  auto stream = std::make_shared<BodyStream>();
  stream->is_endless = true;
  stream->produce = [hub = hub_](BodyWriter& out) { return detail::send_frames(*hub, out); };
  return Response(Status::Ok, Body(std::shared_ptr<const BodyStream>(std::move(stream))),
                  hub_->content_type())
      .header("Cache-Control", "no-store");
}

}  // namespace skua
