// SPDX-License-Identifier: MIT

#include <gtest/gtest.h>
#include <algorithm>
#include <array>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include "body/outgoing_body.hpp"
#include "body/slow_peer.hpp"
#include "skua/error.hpp"

namespace skua::body {
namespace {

/// Keeps written content until the test says that the peer took it.
class Kept final : public Framer {
 public:
  void write_content(Body&& piece) override {
    if (is_short_of_memory) throw std::bad_alloc();
    text += piece.text();
    waiting += piece.size_bytes();
  }
  [[nodiscard]] std::uint64_t waiting_bytes() const noexcept override { return waiting; }
  void content_ended() noexcept override { ++ends; }

  std::string text;
  std::uint64_t waiting = 0;
  int ends = 0;
  bool is_short_of_memory = false;
};

class OutgoingBodyTest : public ::testing::Test {
 protected:
  OutgoingBodyTest() : before_(skua::detail::WaiterList::exchange_ready(&ready_)) {}
  ~OutgoingBodyTest() override { skua::detail::WaiterList::exchange_ready(before_); }

  void start(std::function<Task<>(BodyWriter&)> produce,
             std::optional<std::uint64_t> length_bytes = std::nullopt) {
    auto stream = std::make_shared<BodyStream>();
    stream->produce = std::move(produce);
    stream->length_bytes = length_bytes;
    body_.start(kept_, Body(std::shared_ptr<const BodyStream>(std::move(stream))), 10);
  }
  /// Returns the message of end()'s exception; empty if the content is complete.
  std::string end() {
    const std::exception_ptr failure = body_.end();
    if (failure == nullptr) return {};
    try {
      std::rethrow_exception(failure);
    } catch (const std::exception& exception) {
      return exception.what();
    }
  }
  void turn() { ready_.resume_all(); }

  Kept kept_;
  OutgoingBody body_;

 private:
  skua::detail::WaiterList ready_;
  skua::detail::WaiterList* before_;
};

TEST_F(OutgoingBodyTest, TextIsWrittenAtOnce) {
  body_.start(kept_, Body("hello"), 10);
  EXPECT_TRUE(body_.is_made());
  EXPECT_EQ(end(), "");
  EXPECT_FALSE(body_.is_started());
  EXPECT_EQ(kept_.text, "hello");
  EXPECT_EQ(kept_.ends, 0);
}

TEST_F(OutgoingBodyTest, EmptyTextIsNotWritten) {
  body_.start(kept_, Body(std::string()), 10);
  EXPECT_EQ(end(), "");
  EXPECT_EQ(kept_.text, "");
}

TEST_F(OutgoingBodyTest, TextThatFindsNoMemoryFails) {
  kept_.is_short_of_memory = true;
  body_.start(kept_, Body("hello"), 10);
  EXPECT_TRUE(body_.is_made());
  EXPECT_NE(end(), "");
}

TEST_F(OutgoingBodyTest, AProducerWaitsForThePeer) {
  start([](BodyWriter& out) -> Task<> {
    for (int i = 0; i < 4; ++i) co_await out.write("12345678");
  });
  EXPECT_EQ(kept_.text.size(), 16U);  // there was room when the second was written
  body_.drained();
  turn();
  EXPECT_EQ(kept_.text.size(), 16U);  // the peer took nothing
  kept_.waiting = 6;
  body_.drained();
  turn();
  EXPECT_EQ(kept_.text.size(), 16U);  // more than half of the mark waits
  kept_.waiting = 5;
  body_.drained();
  turn();
  EXPECT_EQ(kept_.text.size(), 24U);
  EXPECT_TRUE(body_.is_making());
  kept_.waiting = 0;
  body_.drained();
  turn();
  EXPECT_EQ(kept_.text.size(), 32U);
  EXPECT_TRUE(body_.is_made());
  EXPECT_EQ(kept_.ends, 1);
  EXPECT_EQ(end(), "");
}

TEST_F(OutgoingBodyTest, ALengthThatWasToldIsKept) {
  start([](BodyWriter& out) -> Task<> { co_await out.write("1234"); }, 4);
  EXPECT_EQ(end(), "");
  body_.reset();
  start([](BodyWriter& out) -> Task<> { co_await out.write("123"); }, 4);
  EXPECT_NE(end().find(message(Errc::TruncatedBody)), std::string::npos);
  body_.reset();
  kept_.text.clear();
  start([](BodyWriter& out) -> Task<> { co_await out.write("12345"); }, 4);
  EXPECT_NE(end(), "");
  EXPECT_EQ(kept_.text, "");
}

TEST_F(OutgoingBodyTest, WhatAProducerThrowsIsItsEnd) {
  start([](BodyWriter& out) -> Task<> {
    co_await out.write("1");
    throw std::runtime_error("no more");
  });
  EXPECT_TRUE(body_.is_made());
  EXPECT_EQ(end(), "no more");
  body_.reset();
  start([](BodyWriter&) -> Task<> { throw std::runtime_error("not even a task"); });
  EXPECT_EQ(end(), "not even a task");
}

TEST_F(OutgoingBodyTest, ASlowPeerIsNotWaitedFor) {
  detail::WaiterList changed;
  bool is_late = false;
  int sent = 0;
  start([&](BodyWriter& out) -> Task<> {
    while (true) {
      BodyWriter::Awaiter room = out.write("0123456789");
      co_await await_room(room, changed, [&] { return is_late; });
      ++sent;
    }
  });
  turn();
  EXPECT_EQ(sent, 0);
  kept_.waiting = 0;
  body_.drained();
  turn();
  turn();
  EXPECT_EQ(sent, 1) << "the peer has taken what waited";
  changed.wake_all();
  turn();
  EXPECT_TRUE(body_.is_making()) << "it is not late";
  is_late = true;
  changed.wake_all();
  turn();
  EXPECT_TRUE(body_.is_making()) << "a stream does not end inside its start";
  turn();
  ASSERT_TRUE(body_.is_made());
  EXPECT_EQ(end(), "the peer is too slow") << "as for callers that do not ask is_cut()";
  EXPECT_TRUE(body_.is_cut());
  EXPECT_EQ(sent, 1);
  body_.reset();
  EXPECT_FALSE(body_.is_cut());
}

TEST_F(OutgoingBodyTest, APieceThatWasLostIsNotForgotten) {
  start([this](BodyWriter& out) -> Task<> {
    kept_.is_short_of_memory = true;
    try {
      co_await out.write("1");
    } catch (const std::bad_alloc&) {
      kept_.is_short_of_memory = false;
    }
    EXPECT_THROW(static_cast<void>(out.write("2")), std::bad_alloc);
  });
  EXPECT_NE(end(), "");
  EXPECT_EQ(kept_.text, "");
}

TEST_F(OutgoingBodyTest, TrailersFollowContentOfUnknownLength) {
  const auto produce = [](BodyWriter& out) -> Task<> {
    out.trailer("Checksum", "1");
    out.trailer("Checksum", "2");
    EXPECT_THROW(out.trailer("Content-Length", "1"), std::invalid_argument);
    co_return;
  };
  start(produce);
  EXPECT_EQ(body_.trailers().wire(), "Checksum: 1\r\nChecksum: 2\r\n");
  EXPECT_EQ(end(), "");
  body_.reset();
  start(produce, 0);
  EXPECT_EQ(body_.trailers().wire(), "");
}

struct WritesAsItGoes {
  BodyWriter& out;
  ~WritesAsItGoes() { static_cast<void>(out.write("bye")); }
};

TEST_F(OutgoingBodyTest, WhatIsStoppedIsWhole) {
  start([](BodyWriter& out) -> Task<> {
    while (true) co_await out.write("12345678");
  });
  body_.stop();
  EXPECT_TRUE(body_.is_made());
  EXPECT_EQ(end(), "");
  EXPECT_EQ(kept_.ends, 0);
}

TEST_F(OutgoingBodyTest, WritesNothingAsItIsReset) {
  start([](BodyWriter& out) -> Task<> {
    const WritesAsItGoes last{out};
    while (true) co_await out.write("12345678");
  });
  const std::string before = kept_.text;
  body_.reset();
  EXPECT_EQ(kept_.text, before);
  EXPECT_FALSE(body_.is_started());
}

}  // namespace
namespace {

std::string taken(net::OutputQueue& output) {
  std::string text;
  while (!output.empty()) {
    text.append(output.front().data, output.front().size_bytes);
    output.consume(output.front().size_bytes);
  }
  return text;
}

TEST(Chunks, TellTheirSize) {
  net::OutputQueue::Blocks blocks(4);
  net::OutputQueue output(blocks);
  append_chunk(output, Body("hello"));
  EXPECT_EQ(taken(output), "5\r\nhello\r\n");
  const std::string large(70'000, 'x');
  append_chunk(output, Body(std::string(large)));
  EXPECT_EQ(taken(output), "11170\r\n" + large + "\r\n");
}

TEST(Chunks, EndWithTrailers) {
  net::OutputQueue::Blocks blocks(4);
  net::OutputQueue output(blocks);
  FieldLines trailers;
  append_last_chunk(output, trailers);
  EXPECT_EQ(taken(output), "0\r\n\r\n");
  trailers.add("Checksum", "1");
  append_last_chunk(output, trailers);
  EXPECT_EQ(taken(output), "0\r\nChecksum: 1\r\n\r\n");
}

TEST_F(OutgoingBodyTest, ATextThatIsNotKeptCountsLikeAPiece) {
  skua::detail::BodySink* sink = nullptr;
  start(
      [&](BodyWriter& out) -> Task<> {
        sink = &skua::detail::sink_of(out);
        sink->write_text("hello");
        sink->write_text({});
        BodyWriter::Awaiter room(*sink);
        co_await room;
        sink->write_text(" world");
      },
      11);
  EXPECT_TRUE(body_.is_made());
  EXPECT_EQ(end(), "");
  EXPECT_EQ(kept_.text, "hello world");

  start(
      [](BodyWriter& out) -> Task<> {
        skua::detail::sink_of(out).write_text("too long");
        co_return;
      },
      3);
  EXPECT_NE(end(), "");
}

TEST(TextToSend, WhatWasNotSentIsAppendedAtEverySplit) {
  for (const bool is_chunk : {false, true}) {
    const std::string whole = is_chunk ? "a\r\n0123456789\r\n" : "0123456789";
    for (std::size_t sent = 0; sent <= whole.size(); ++sent) {
      net::OutputQueue::Blocks blocks(1);
      net::OutputQueue output(blocks);
      const TextToSend sending("0123456789", is_chunk);
      std::string all;
      for (const net::Slice& slice : sending.slices()) all.append(slice.data, slice.size_bytes);
      EXPECT_EQ(all, whole);
      sending.append_rest(output, sent);
      std::string rest;
      std::array<net::Slice, 4> slices;
      for (std::size_t i = 0; i < output.gather(slices); ++i) {
        rest.append(slices[i].data, slices[i].size_bytes);
      }
      EXPECT_EQ(rest, whole.substr(sent));
      const std::size_t before = is_chunk ? 3 : 0;
      EXPECT_EQ(sending.text_bytes_of(sent),
                std::clamp<std::size_t>(sent, before, before + 10) - before);
    }
  }
}

}  // namespace
}  // namespace skua::body
