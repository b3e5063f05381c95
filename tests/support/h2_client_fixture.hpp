// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client/wire/h2_connection.hpp"
#include "skua/client_options.hpp"
#include "support/fault_stream.hpp"
#include "support/h2_frames.hpp"
#include "support/memory_stream.hpp"

namespace skua::client {

namespace frames = h2::frames;

/// A request and its lease of the connection.
struct H2Call {
  Pool::Lease lease{};
  ExchangePointer exchange{};

  Exchange* operator->() const noexcept { return exchange.get(); }
};

/// A connection over an in-memory stream; the test plays the server, frame by frame.
class H2ConnectionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    loop_ = loop::Loop::create({.backend = BackendChoice::Poll, .clock = &clock_}).value();
    pool_ = std::make_unique<Pool>(*loop_, PoolLimits{.per_host = 1});
  }
  void TearDown() override {
    if (pool_ == nullptr) return;
    pool_->close_all();
    settle();
    EXPECT_EQ(pool_->size(), 0U);
  }

  /// Runs the loop until nothing more happens.
  void settle() {
    for (int i = 0; i < 6; ++i) {
      loop_->post([this] {
        if (!is_gone_ && stream_ != nullptr) stream_->pump();
        if (!is_gone_ && fault_ != nullptr) fault_->deliver();
      });
      loop_->run_once(Duration(0));
    }
  }
  template <class F>
  void on_loop(const F& act) {
    loop_->post(act);
    settle();
  }

  Task<Result<std::unique_ptr<PooledConnection>, Problem>> connect() {
    auto memory = std::make_unique<net::MemoryStream>();
    stream_ = memory.get();
    is_gone_ = false;
    stream_->tell_destruction(is_gone_);
    std::unique_ptr<net::Stream> stream = std::move(memory);
    if (failing_operation_ != 0) {
      auto fault = std::make_unique<net::FaultStream>(std::move(stream), failing_operation_);
      fault_ = fault.get();
      stream = std::move(fault);
    }
    auto made =
        std::make_unique<H2Connection>(nullptr, *loop_, *pool_, blocks_, heads_, std::move(stream),
                                       limits_, ClientLimits().stream_bytes);
    connection_ = made.get();
    co_return std::unique_ptr<PooledConnection>(std::move(made));
  }
  Task<Result<Pool::Lease, Problem>> acquire() {
    return pool_->acquire("key", "example.com", 10s, [this] { return connect(); });
  }
  Pool::Lease lease() {
    auto task = acquire();
    on_loop([&task] { task.start(nullptr, nullptr); });
    if (!task.is_done()) return {};
    Result<Pool::Lease, Problem> got = task.result();
    return got ? *std::move(got) : Pool::Lease();
  }
  Result<ExchangePointer> begin(Method method, const std::string& target, Body content,
                                const FieldLines& fields, bool expects_continue) {
    const Url url = *Url::parse("http://example.com:8080" + target);
    Result<ExchangePointer> begun = Error(Errc::Cancelled);
    on_loop([&] {
      begun = connection_->begin({.method = method,
                                  .url = url,
                                  .fields = fields,
                                  .content = std::move(content),
                                  .expects_continue = expects_continue});
    });
    return begun;
  }
  H2Call call(Method method, const std::string& target = "/", Body content = {},
              const FieldLines& fields = {}, bool expects_continue = false) {
    H2Call made = attempt(method, target, std::move(content), fields, expects_continue);
    EXPECT_NE(made.exchange, nullptr);
    return made;
  }
  /// Like call(), but may fail.
  H2Call attempt(Method method, const std::string& target = "/", Body content = {},
                 const FieldLines& fields = {}, bool expects_continue = false) {
    H2Call made;
    made.lease = lease();
    if (!made.lease) return made;
    auto begun = begin(method, target, std::move(content), fields, expects_continue);
    if (begun) made.exchange = *std::move(begun);
    return made;
  }
  H2Call get(const std::string& target = "/") { return call(Method::Get, target); }
  void end(H2Call& ended) {
    on_loop([&ended] {
      ended.exchange.reset();
      ended.lease.release();
    });
  }
  /// Begins a request on a connection and completes the exchange of SETTINGS.
  H2Call greeted(const std::vector<std::pair<unsigned, std::uint32_t>>& values = {}) {
    H2Call first = get();
    stream_->feed(frames::settings(values) + frames::settings_ack());
    settle();
    said();
    return first;
  }

  void feed(const std::string& bytes) {
    stream_->feed(bytes);
    settle();
  }
  static std::string head(std::uint32_t id, const frames::Fields& more = {},
                          unsigned flags = frames::open, std::string_view status = "200") {
    return frames::headers(id, frames::field(":status", status) + frames::block(more), flags);
  }
  /// Describes the frames that the client has sent since the last call.
  std::string said() { return frames::describe(taken()); }
  std::string taken() {
    std::string bytes = stream_->take_output();
    if (bytes.starts_with(h2::client_preface)) bytes.erase(0, h2::client_preface.size());
    return bytes;
  }
  /// Reads an exchange's new events: `Interim(103) Head(200) [data] Complete` or an error.
  std::string told(const H2Call& its) {
    if (its.exchange == nullptr) return "error: it was not begun";
    std::string text;
    on_loop([&] { text = read_all(*its.exchange); });
    return text;
  }
  static std::string read_all(Exchange& exchange) {
    using Event = h1::ResponseEvent;
    std::string text;
    while (true) {
      const Result<Exchange::Step> step = exchange.read();
      if (!step) return text + "error: " + step.error().message();
      if (step->event == Event::NeedMore) return text;
      const std::string status =
          step->event == Event::Data ? "" : std::to_string(exchange.head().status);
      if (step->event == Event::Interim) text += "Interim(" + status + ") ";
      if (step->event == Event::Head) text += "Head(" + status + ") ";
      if (step->event == Event::Data) text.append("[").append(step->data).append("] ");
      if (step->event == Event::Complete) return text + "Complete";
    }
  }
  /// Returns the content of all DATA frames of a stream.
  static std::string content(std::string_view bytes, std::uint32_t id = 1) {
    std::string text;
    for (const frames::Frame& frame : frames::split(bytes)) {
      if (frame.head.type == h2::FrameType::Data && frame.head.stream_id == id) {
        text += frame.payload;
      }
    }
    return text;
  }

  loop::ManualClock clock_;
  std::unique_ptr<loop::Loop> loop_;
  net::OutputQueue::Blocks blocks_{16};
  HeadBudget heads_{200'000, 300'000};
  h1::ResponseLimits limits_{};
  std::uint64_t failing_operation_ = 0;
  std::unique_ptr<Pool> pool_;
  net::MemoryStream* stream_ = nullptr;
  net::FaultStream* fault_ = nullptr;
  H2Connection* connection_ = nullptr;
  bool is_gone_ = true;
};

}  // namespace skua::client
