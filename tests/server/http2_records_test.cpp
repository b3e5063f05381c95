// SPDX-License-Identifier: MIT
// The records that the on_response hook receives for HTTP/2 streams, frame by frame.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "server/http2_worker.hpp"
#include "server/record_keeper.hpp"

namespace skua {
namespace {

using testing::Client;
using testing::KeptRecord;
using testing::RecordKeeper;
namespace frames = h2::frames;

constexpr std::size_t big_bytes = 4'000'000;
constexpr std::size_t first_window_bytes = 65'535;

class Http2Records : public testing::Http2Worker {
 protected:
  Http2Records() {
    router_.get("/big", [] { return std::string(big_bytes, 'b'); });
  }

  RecordKeeper records_{options_};
};

std::uint64_t content_bytes(std::string_view received) {
  std::uint64_t sum = 0;
  for (const frames::Frame& frame : frames::split(received)) {
    if (frame.head.type == h2::FrameType::Data) sum += frame.payload.size();
  }
  return sum;
}

TEST_P(Http2Records, OfACancelledStreamCountWhatWasSent) {
  Client client = greeted();
  say(client, frames::get(1, "/big"));
  EXPECT_TRUE(records_.all().empty());
  worker().advance(2s);
  say(client, frames::reset(1));
  ASSERT_EQ(records_.all().size(), 1U);
  const KeptRecord one = records_.all()[0];
  EXPECT_TRUE(one.is_cut);
  EXPECT_EQ(one.body_bytes, first_window_bytes);
  EXPECT_EQ(one.duration, Duration(2s));
}

TEST_P(Http2Records, OfAConnectionThatIsLostCountWhatWasSent) {
  Client client = greeted();
  client.send(frames::get(1, "/big") + frames::window_update(0, 1'000'000'000) +
              frames::window_update(1, 1'000'000'000));
  worker().settle();
  const std::string received = client.take_received();
  client.reset();
  worker().settle();
  ASSERT_FALSE(records_.all().empty());
  const KeptRecord last = records_.all().back();
  EXPECT_EQ(last.target, "/big");
  EXPECT_TRUE(last.is_cut);
  EXPECT_EQ(last.body_bytes, content_bytes(received));
}

TEST_P(Http2Records, OfAnEarlyAnswerAreMadeWhenItIsSent) {
  Client client = greeted();
  say(client, frames::headers(1, frames::request_block("POST", "/no"), frames::open));
  ASSERT_EQ(records_.all().size(), 1U) << "the stream lingers, but the response is over";
  EXPECT_EQ(records_.all()[0].status, Status::NotFound);
  EXPECT_FALSE(records_.all()[0].is_cut);
  worker().advance(3s);
  EXPECT_EQ(records_.all().size(), 1U);
}

TEST_P(Http2Records, OfAResponseThatWasNotBegunAreCut) {
  Client client = greeted();
  say(client, frames::get(1, "/") + frames::reset(1));
  ASSERT_EQ(records_.all().size(), 1U);
  EXPECT_TRUE(records_.all()[0].is_cut);
  EXPECT_EQ(records_.all()[0].body_bytes, 0U);
}

INSTANTIATE_TEST_SUITE_P(Backends, Http2Records, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
