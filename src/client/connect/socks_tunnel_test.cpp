// SPDX-License-Identifier: MIT
// A SOCKS tunnel over an in-memory stream: the test plays the proxy.
#include "client/connect/socks_tunnel.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "loop/clock.hpp"
#include "support/memory_stream.hpp"

namespace skua::client {
namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;

constexpr std::string_view no_authentication = "\x05\x00"sv;
constexpr std::string_view granted = "\x05\x00\x00\x01\x7f\x00\x00\x01\x1f\x90"sv;
constexpr std::string_view request =
    "\x05\x01\x00\x03\x0b"
    "example.com\x01\xbb"sv;
const std::string step = "open a tunnel to example.com:443 through proxy p:1080";

class SocksTunnelTest : public testing::Test {
 protected:
  ~SocksTunnelTest() override { drop(); }

  void start(std::string_view user = "", std::string_view host = "example.com") {
    drop();
    auto stream = std::make_unique<net::MemoryStream>();
    wire_ = stream.get();
    is_destroyed_ = false;
    wire_->tell_destruction(is_destroyed_);
    tunnel_ =
        std::make_unique<SocksTunnel>(*loop_, std::move(stream), Socks5(host, 443, user, user));
    task_ = tunnel_->run(step, 30s);
    loop_->post([this] { task_->start(nullptr, nullptr); });
    turn();
  }
  void drop() {
    task_.reset();
    outcome_.reset();
    tunnel_.reset();
    turn();
    EXPECT_TRUE(is_destroyed_);
  }
  void turn() {
    for (int i = 0; i < 4; ++i) {
      if (!is_destroyed_) wire_->pump();
      loop_->run_once(Duration(0));
    }
  }
  void answer(std::string_view bytes) {
    wire_->feed(bytes);
    turn();
  }
  std::string sent() { return wire_->take_output(); }
  Problem problem() {
    if (!outcome_ && task_->is_done()) outcome_ = task_->result();
    EXPECT_TRUE(outcome_);
    return !outcome_ || *outcome_ ? Problem() : outcome_->error();
  }
  void expect_open() {
    ASSERT_TRUE(task_->is_done());
    const Result<void, Problem> outcome = task_->result();
    EXPECT_TRUE(outcome) << outcome.error().text;
    EXPECT_FALSE(wire_->is_receiving());
    const std::unique_ptr<net::Stream> stream = tunnel_->take_stream();
    ASSERT_EQ(stream.get(), wire_);
    task_.reset();
    tunnel_.reset();
    stream->listen(nobody_);
    stream->close();
    wire_->pump();
    wire_ = nullptr;
  }

  struct Nobody final : net::StreamSink {
    void on_receive(std::span<char> /*bytes*/) override {}
    void on_receive_end(Error /*error*/) override {}
    void on_sent(std::size_t /*count*/) override {}
    void on_send_failed(Error /*error*/) override {}
    void on_closed() override {}
  };

  loop::ManualClock clock_;
  std::unique_ptr<loop::Loop> loop_ =
      *loop::Loop::create({.backend = BackendChoice::Poll, .clock = &clock_});
  Nobody nobody_;
  net::MemoryStream* wire_ = nullptr;
  bool is_destroyed_ = true;
  std::unique_ptr<SocksTunnel> tunnel_;
  std::optional<Task<Result<void, Problem>>> task_;
  std::optional<Result<void, Problem>> outcome_;
};

TEST_F(SocksTunnelTest, IsOpenAfterTwoAnswers) {
  start();
  EXPECT_EQ(sent(), "\x05\x01\x00"sv);
  answer(no_authentication);
  EXPECT_EQ(sent(), request);
  answer(granted);
  expect_open();
}

TEST_F(SocksTunnelTest, SendsByteByByteIfTheStreamTakesNoMore) {
  using Style = net::MemoryStream::SendStyle;
  for (const Style style : {Style::Readiness, Style::Completion}) {
    start("user");
    wire_->take_at_most(1, style);
    answer("\x05\x02"sv);
    for (int i = 0; i < 20; ++i) turn();
    answer("\x01\x00"sv);
    for (int i = 0; i < 30; ++i) turn();
    EXPECT_EQ(sent(), "\x05\x02\x00\x02\x01\x04user\x04user"s.append(request));
    wire_->feed(granted, 1);
    turn();
    expect_open();
  }
}

TEST_F(SocksTunnelTest, ARefusalNamesTheProxy) {
  start();
  answer(no_authentication);
  answer("\x05\x05\x00\x01"sv);
  EXPECT_EQ(problem().code(), Errc::ProxyRefused);
  EXPECT_EQ(problem().text, "could not " + step + ": the host refused its connection");
  EXPECT_TRUE(tunnel_->may_try_another_address());
}

TEST_F(SocksTunnelTest, AHostThatCannotBeSentIsRefused) {
  start("", std::string(256, 'a'));
  EXPECT_EQ(sent(), "");
  EXPECT_EQ(problem().text,
            "could not " + step + ": the name of a host must have 1 to 255 bytes for it");
}

TEST_F(SocksTunnelTest, DataThatComesTooEarlyIsRefused) {
  start();
  answer(no_authentication);
  answer(std::string(granted).append("220 mail\r\n"));
  EXPECT_EQ(problem().text, "could not " + step + ": it sent more than an answer");
}

TEST_F(SocksTunnelTest, GarbageIsRefusedAtOnce) {
  for (const std::string& garbage : {std::string(100'000, '\xaa'), "SSH-2.0-x\r\n"s, "\x16\x03"s}) {
    start();
    answer(garbage);
    EXPECT_EQ(problem().code(), Errc::ProxyRefused);
    EXPECT_TRUE(problem().text.starts_with("could not " + step + ": it does not speak SOCKS 5"));
  }
}

TEST_F(SocksTunnelTest, AProxyThatStallsIsGivenUp) {
  for (const std::string_view begun : {""sv, "\x05"sv, no_authentication}) {
    start();
    if (!begun.empty()) answer(begun);
    clock_.advance(29s);
    turn();
    EXPECT_FALSE(task_->is_done());
    answer(begun.empty() || begun.size() == 2 ? "\x05"sv : "\x00\x05"sv.substr(0, 1));
    clock_.advance(2s);
    turn();
    EXPECT_EQ(problem().code(), Errc::TimedOut);
    EXPECT_EQ(problem().text,
              "could not " + step + ": no answer within 30 s (ClientTimeouts::head)");
  }
}

TEST_F(SocksTunnelTest, AProxyThatLeavesIsReported) {
  start();
  wire_->finish();
  turn();
  EXPECT_EQ(problem().text, "could not " + step + ": it closed the connection without an answer");
  start();
  answer(no_authentication);
  answer("\x05\x00\x00"sv);
  wire_->finish();
  turn();
  EXPECT_EQ(problem().code(), Errc::Closed);
  EXPECT_EQ(problem().text,
            "could not " + step + ": it closed the connection in the middle of its answer");
  start();
  wire_->finish(Error(Errc::Reset, "recv"));
  turn();
  EXPECT_EQ(problem().code(), Errc::Reset);
}

TEST_F(SocksTunnelTest, DroppedAtAnyPointItClosesTheStream) {
  start();
  drop();
  start();
  answer(no_authentication);
  drop();
  start("user");
  wire_->take_at_most(1);
  answer("\x05\x02"sv);
  drop();
}

}  // namespace
}  // namespace skua::client
