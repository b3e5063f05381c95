// SPDX-License-Identifier: MIT
// Sends every case file of requests and of responses through a proxy. What comes out on the other
// side is read by a strict parser of its own: exactly one message for each that was accepted, with
// the same content, and nothing of those that were refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "net/listener.hpp"
#include "net/socket.hpp"
#include "proxy/proxy_fixture.hpp"
#include "proxy/strict_http1.hpp"
#include "proxy/target.hpp"
#include "support/case_file.hpp"
#include "support/client.hpp"
#include "support/paths.hpp"
#include "support/test_server.hpp"

namespace skua {
namespace {

namespace strict = testing::strict;

using testing::Case;
using testing::Client;
using testing::Expected;
using testing::Transport;

/// A server that runs a function on each connection, on a thread of its own.
class RawServer {
 public:
  explicit RawServer(std::function<void(Client&)> talk)
      : talk_(std::move(talk)), listener_(*net::create_listener(*Address::parse("127.0.0.1:0"))) {
    thread_ = std::thread([this] { accept(); });
  }
  RawServer(const RawServer&) = delete;
  RawServer& operator=(const RawServer&) = delete;
  ~RawServer() {
    is_ending_ = true;
    const auto last = TcpSocket::connect_to(*Address::parse("127.0.0.1", port()), 20s);
    thread_.join();
    for (std::thread& talk : talks_) talk.join();
  }
  [[nodiscard]] std::uint16_t port() const {
    return net::local_address(listener_.descriptor()).port();
  }

 private:
  void accept() {
    while (true) {
      static_cast<void>(listener_.wait_readable());
      Socket socket(bsd::accept_one(listener_.descriptor()));
      if (is_ending_) return;
      if (!socket) continue;
      talks_.emplace_back([this, socket = std::move(socket)]() mutable {
        Client peer(std::move(socket), Transport::Tcp);
        talk_(peer);
      });
    }
  }

  const std::function<void(Client&)> talk_;
  Socket listener_;
  std::atomic<bool> is_ending_ = false;
  std::vector<std::thread> talks_;
  std::thread thread_;
};

/// The requests that reached an upstream server.
class Record {
 public:
  /// Reads requests, and answers each with its number.
  void serve(Client& client) {
    std::string received;
    while (true) {
      const strict::Reader reader(received, strict::Kind::Request);
      if (reader.outcome() == strict::Outcome::Bad) return note_bad(reader.why(), received);
      if (reader.outcome() == strict::Outcome::Whole) {
        const std::size_t number = note(reader.message());
        const std::string content = reader.message().method == "HEAD" ? "" : "ok";
        client.send("HTTP/1.1 200 OK\r\nX-Number: " + std::to_string(number) +
                    "\r\nContent-Length: 2\r\n\r\n" + content);
        received.erase(0, reader.used_bytes());
        continue;
      }
      const std::string more = client.some();
      if (more.empty()) return;
      bytes_ += more.size();
      received.append(more);
    }
  }
  std::vector<strict::Message> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(messages_, {});
  }
  std::string take_bad() {
    const std::lock_guard lock(mutex_);
    return std::exchange(bad_, {});
  }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  std::size_t note(const strict::Message& message) {
    const std::lock_guard lock(mutex_);
    messages_.push_back(message);
    return ++count_;
  }
  void note_bad(const std::string& why, const std::string& bytes) {
    const std::lock_guard lock(mutex_);
    bad_.append(why).append(" in ").append(testing::escape(bytes)).append("\n");
  }

  std::mutex mutex_;
  std::vector<strict::Message> messages_;
  std::string bad_;
  std::size_t count_ = 0;
  std::atomic<std::size_t> bytes_ = 0;
};

bool is_request_case(const Case& one) { return !one.is_response && one.limits.empty(); }

// Its content is being passed on when it turns out to be malformed or incomplete.
bool fails_in_body(const Case& one) {
  return std::ranges::any_of(one.expected, [](const Expected& event) {
    return event.in_body || event.kind == Expected::Kind::More;
  });
}

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
  return found;
}

bool is_same(const Expected& request, const strict::Message& passed) {
  if (request.method != passed.method || request.body != passed.body) return false;
  // If the client names no host, it is that of the upstream server.
  const bool has_host = request.check_host && !request.host.empty();
  if (has_host && request.host != passed.find("Host")) return false;
  if (passed.is_chunked && request.trailers != passed.trailers) return false;
  return proxy::upstream_target(request.target, std::nullopt, 0) == passed.target;
}

/// Checks that the requests that were passed on are among the expected ones, in the same order.
void check_order(const Case& one, const std::vector<strict::Message>& passed) {
  auto next = one.expected.begin();
  for (const strict::Message& message : passed) {
    next = std::find_if(next, one.expected.end(), [&](const Expected& event) {
      return event.kind == Expected::Kind::Message && is_same(event, message);
    });
    if (next == one.expected.end()) {
      ADD_FAILURE() << one.where() << ": passed on " << message.method << " " << message.target
                    << " with '" << message.body << "'";
      return;
    }
    ++next;
  }
}

TEST(ProxyCasesReadOnce, EachAcceptedRequestIsOneRequestUpstream) {
  Record record;
  RawServer upstream([&record](Client& client) { record.serve(client); });
  {
    Router router;
    router.any("/{path...}", ReverseProxy("http://127.0.0.1:" + std::to_string(upstream.port())));
    std::vector<Case> cases = testing::read_case_files(testing::source_path("tests/cases"));
    std::erase_if(cases, [](const Case& one) { return !is_request_case(one); });
    std::size_t passed_count = 0;
    for (const Case& one : cases) {
      // The end of a connection that was cut off may come late, so each case has a proxy of its own
      // if that would be counted for the next.
      const testing::TestServer front(router, BackendChoice::Auto, {}, Transport::Tcp);
      const std::size_t bytes = record.bytes();
      Client client(front.port(), Transport::Tcp);
      client.send(one.bytes);
      client.end();
      const std::string received = client.rest();
      const std::vector<strict::Message> passed = record.take();
      EXPECT_EQ(record.take_bad(), "") << one.where();
      check_order(one, passed);
      passed_count += passed.size();
      if (fails_in_body(one)) continue;
      EXPECT_EQ(count(received, "X-Number: "), passed.size()) << one.where();
      const bool is_any = std::ranges::any_of(one.expected, [](const Expected& event) {
        return event.kind == Expected::Kind::Message;
      });
      if (!is_any) {
        EXPECT_EQ(record.bytes(), bytes) << one.where();
      }
    }
    EXPECT_GT(passed_count, 100U);
  }
}

// Responses
// ----------------------------------------------------------------------------------------

bool is_response_case(const Case& one) {
  return one.is_response && one.limits.empty() && one.answer_to != "CONNECT" && !one.offers_upgrade;
}

/// The messages that a client has received.
struct Received {
  std::vector<strict::Message> interim{};
  std::optional<strict::Message> last{};
  std::string rest{};
  std::string bad{};
};

Received read_response(std::string_view bytes, bool is_head) {
  Received received;
  while (!received.last) {
    const strict::Reader reader(bytes,
                                is_head ? strict::Kind::HeadResponse : strict::Kind::Response);
    if (reader.outcome() == strict::Outcome::Bad) received.bad = reader.why();
    if (reader.outcome() != strict::Outcome::Whole) return received;
    bytes.remove_prefix(reader.used_bytes());
    if (reader.message().status < 200) {
      received.interim.push_back(reader.message());
    } else {
      received.last = reader.message();
    }
  }
  received.rest = bytes;
  return received;
}

/// The event that decides: the first final response, or a failure before it.
const Expected* decisive(const Case& one) {
  const auto found = std::ranges::find_if(one.expected, [](const Expected& event) {
    return event.kind != Expected::Kind::Message || event.status >= 200;
  });
  return found != one.expected.end() ? &*found : nullptr;
}

bool declares_length(const Case& one) {
  const std::string head = strict::lower(one.bytes);
  return head.find("content-length") != head.npos || head.find("transfer-encoding") != head.npos;
}

// The proxy's own answer has none of the response's fields.
void check_own(const Case& one, const strict::Message& message) {
  EXPECT_EQ(message.status, 502) << one.where();
  for (const auto& [name, value] : message.fields) {
    const bool is_own = name == "Content-Type" || name == "Content-Length" || name == "Date" ||
                        name == "Server" || name == "Connection";
    EXPECT_TRUE(is_own) << one.where() << ": " << name;
  }
}

void check_response(const Case& one, const Received& received) {
  EXPECT_EQ(received.bad, "") << one.where();
  EXPECT_EQ(received.rest, "") << one.where();
  const Expected* const expected = decisive(one);
  if (expected == nullptr) return check_own(one, received.last.value_or(strict::Message()));
  if (expected->kind == Expected::Kind::Message) {
    ASSERT_TRUE(received.last) << one.where();
    EXPECT_EQ(received.last->status, expected->status) << one.where();
    const bool has_content = one.answer_to != "HEAD" && expected->status != 205;
    if (has_content) {
      EXPECT_EQ(received.last->body, expected->body) << one.where();
    }
    if (received.last->is_chunked) {
      EXPECT_EQ(received.last->trailers, expected->trailers) << one.where();
    }
  } else if (expected->kind == Expected::Kind::Failure && !expected->in_body) {
    check_own(one, received.last.value_or(strict::Message()));
  } else if (received.last && received.last->status != 502) {
    // Only a response that ends with its connection is whole if that ends.
    EXPECT_FALSE(declares_length(one)) << one.where();
  }
}

TEST(ProxyCasesReadOnce, EachResponseIsOneResponseDownstream) {
  std::mutex mutex;
  std::string bytes;
  RawServer upstream([&](Client& client) {
    testing::read_head(client);
    const std::lock_guard lock(mutex);
    client.send(bytes);
  });
  std::vector<Case> cases = testing::read_case_files(testing::source_path("tests/cases"));
  std::erase_if(cases, [](const Case& one) { return !is_response_case(one); });
  EXPECT_GT(cases.size(), 50U);
  Router router;
  router.any("/{path...}", ReverseProxy("http://127.0.0.1:" + std::to_string(upstream.port())));
  for (const Case& one : cases) {
    {
      const std::lock_guard lock(mutex);
      bytes = one.bytes;
    }
    // A proxy of its own, so that no connection is left from the case before.
    const testing::TestServer front(router, BackendChoice::Auto, {}, Transport::Tcp);
    Client client(front.port(), Transport::Tcp);
    client.send(one.answer_to + " / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    check_response(one, read_response(client.rest(), one.answer_to == "HEAD"));
  }
}

}  // namespace
}  // namespace skua
