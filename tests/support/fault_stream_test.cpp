// SPDX-License-Identifier: MIT
#include "support/fault_stream.hpp"

#include <gtest/gtest.h>

#include "support/memory_stream.hpp"
#include "support/recording_sink.hpp"

namespace skua::net {
namespace {

struct Faulty {
  explicit Faulty(std::uint64_t failing_operation)
      : stream(std::make_unique<MemoryStream>(), failing_operation, Errc::Reset),
        memory(static_cast<MemoryStream&>(stream.inner())) {
    stream.listen(sink);
  }
  void pump() {
    do {
      memory.pump();
    } while (stream.deliver());
  }
  RecordingSink sink;
  FaultStream stream;
  MemoryStream& memory;
};

TEST(FaultStream, ChangesNothingWithoutAFault) {
  Faulty faulty(0);
  faulty.memory.feed("abc");
  faulty.memory.finish();
  faulty.stream.start_receive();
  EXPECT_EQ(send_text(faulty.stream, "xyz"), 3U);
  faulty.pump();
  EXPECT_EQ(faulty.sink.received, "abc|");
  EXPECT_EQ(faulty.sink.receive_end, Errc::None);
  EXPECT_EQ(faulty.memory.output(), "xyz");
  EXPECT_EQ(faulty.stream.operation_count(), 3U);
  faulty.stream.close();
  faulty.pump();
  EXPECT_EQ(faulty.sink.closed, 1);
}

TEST(FaultStream, FailsTheStartOfReceiving) {
  Faulty faulty(1);
  faulty.memory.feed("abc");
  faulty.stream.start_receive();
  EXPECT_FALSE(faulty.sink.receive_end.has_value());
  faulty.pump();
  EXPECT_EQ(faulty.sink.receive_end, Errc::Reset);
  EXPECT_EQ(faulty.sink.received, "");
}

TEST(FaultStream, FailsAReceiveAndEndsReceiving) {
  Faulty faulty(3);
  faulty.memory.feed("abcdef", 2);
  faulty.stream.start_receive();
  faulty.pump();
  EXPECT_EQ(faulty.sink.received, "ab|");
  EXPECT_EQ(faulty.sink.receive_end, Errc::Reset);
}

TEST(FaultStream, FailsASendLater) {
  Faulty faulty(2);
  EXPECT_EQ(send_text(faulty.stream, "abc"), 3U);
  EXPECT_EQ(send_text(faulty.stream, "def"), 0U);
  EXPECT_FALSE(faulty.sink.send_failure.has_value());
  faulty.pump();
  EXPECT_EQ(faulty.sink.send_failure, Errc::Reset);
  EXPECT_EQ(faulty.memory.output(), "abc");
}

TEST(FaultStream, ClosingSilencesAFailureThatWasNotToldYet) {
  Faulty faulty(1);
  send_text(faulty.stream, "abc");
  faulty.stream.close();
  faulty.pump();
  EXPECT_FALSE(faulty.sink.send_failure.has_value());
  EXPECT_EQ(faulty.sink.closed, 1);
}

}  // namespace
}  // namespace skua::net
