// SPDX-License-Identifier: MIT
//
// The WebSockets of this peer: echoes at /ws, and messages to /publish go to all sockets of
// /subscribe.

#pragma once

#include <utility>  // Boost 1.74 uses it without including it

#include <boost/asio.hpp>
#include <boost/beast.hpp>

#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_set>

namespace beast = boost::beast;
namespace http = beast::http;
namespace net = boost::asio;
namespace websocket = beast::websocket;
using beast::error_code;

constexpr std::size_t message_bytes = 1024 * 1024;

struct Message {
  bool is_text;
  std::string content;
};

struct Subscriber {
  virtual ~Subscriber() = default;
  virtual void send(std::shared_ptr<const Message> message) = 0;  // from any thread
};

inline std::mutex mutex;
inline std::unordered_set<Subscriber*> subscribers;

inline void publish(const std::shared_ptr<const Message>& message) {
  const std::lock_guard lock(mutex);
  for (Subscriber* one : subscribers) one->send(message);
}

template <class Stream>
class WebSocket final : public Subscriber, public std::enable_shared_from_this<WebSocket<Stream>> {
 public:
  explicit WebSocket(Stream&& stream) : stream_(std::move(stream)) {
    stream_.read_message_max(message_bytes);
    stream_.auto_fragment(false);
  }
  ~WebSocket() override { forget(); }

  void accept(http::request<http::empty_body> request) {
    request_ = std::move(request);
    if (request_.target() == "/subscribe") {  // before the response, so that no message is missed
      const std::lock_guard lock(mutex);
      subscribers.insert(this);
    }
    stream_.async_accept(request_, [self = this->shared_from_this()](error_code error) {
      if (error) return self->forget();
      self->write_next();
      self->read();
    });
  }

  void send(std::shared_ptr<const Message> message) override {
    net::dispatch(stream_.get_executor(),
                  [self = this->shared_from_this(), message = std::move(message)] {
                    self->queue_.push_back(message);
                    if (!self->is_writing_) self->write_next();
                  });
  }

 private:
  void forget() {
    const std::lock_guard lock(mutex);
    subscribers.erase(this);
  }

  void read() {
    stream_.async_read(buffer_, [self = this->shared_from_this()](error_code error, std::size_t) {
      if (error) return self->forget();
      self->received();
    });
  }

  void received() {
    if (request_.target() == "/ws") {
      stream_.text(stream_.got_text());
      return stream_.async_write(
          buffer_.data(), [self = this->shared_from_this()](error_code error, std::size_t count) {
            self->buffer_.consume(count);
            if (!error) self->read();
          });
    }
    publish(std::make_shared<Message>(
        Message{stream_.got_text(), beast::buffers_to_string(buffer_.data())}));
    buffer_.clear();
    read();
  }

  void write_next() {
    is_writing_ = !queue_.empty();
    if (!is_writing_) return;
    stream_.text(queue_.front()->is_text);
    stream_.async_write(net::buffer(queue_.front()->content),
                        [self = this->shared_from_this()](error_code error, std::size_t) {
                          if (error) return self->forget();
                          self->queue_.pop_front();
                          self->write_next();
                        });
  }

  websocket::stream<Stream> stream_;
  http::request<http::empty_body> request_;
  beast::flat_buffer buffer_;
  std::deque<std::shared_ptr<const Message>> queue_;
  bool is_writing_ = true;  // until the handshake is over
};
