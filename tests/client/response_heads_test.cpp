// SPDX-License-Identifier: MIT
// Servers that answer over HTTP/2 with heads that expand: what a client holds of responses that its
// program does not read stays bounded, and other responses arrive.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "client_fixture.hpp"
#include "h2/head_builder.hpp"
#include "support/h2_frames.hpp"
#include "support/scripted_server.hpp"

namespace skua {
namespace {

namespace frames = h2::frames;

constexpr std::size_t long_bytes = 3'900;
constexpr std::size_t references = 15;
constexpr std::size_t of_one = references * (long_bytes + 6 + h2::field_charge);
constexpr std::size_t held_at_most = 16_MiB / of_one;  // by a connection
constexpr std::uint32_t requests = held_at_most + 20;

/// Waits for the requests, and answers each with 60 KB of fields by 20 bytes, and no end; later
/// ones with nothing more than a status.
void expand(testing::Client& peer) {
  std::string heard;
  const auto begun = [&heard] {
    std::uint32_t count = 0;
    for (std::size_t at = 24; at + 9 <= heard.size();) {
      const auto size = static_cast<std::uint32_t>(static_cast<unsigned char>(heard[at]) << 16 |
                                                   static_cast<unsigned char>(heard[at + 1]) << 8 |
                                                   static_cast<unsigned char>(heard[at + 2]));
      if (heard[at + 3] == static_cast<char>(h2::FrameType::Headers)) ++count;
      at += 9 + size;
    }
    return count;
  };
  peer.send(frames::settings({{3, 1000}}));
  while (begun() < requests) {
    const std::string more = peer.some();
    if (more.empty()) return;
    heard += more;
  }
  const std::string status = frames::field(":status", "200");
  std::string answers;
  for (std::uint32_t i = 0; i < requests; ++i) {
    std::string block = status;
    if (i == 0) block += frames::remembered("x-long", std::string(long_bytes, 'l'));
    for (std::size_t n = i == 0 ? 1 : 0; n < references; ++n) block += frames::indexed(62);
    answers += frames::headers(2 * i + 1, block, frames::open);
  }
  peer.send(answers);
  while (begun() < requests + 1) {
    const std::string more = peer.some();
    if (more.empty()) return;
    heard += more;
  }
  peer.send(frames::headers(2 * requests + 1, status, frames::whole));
  peer.rest();
}

class ResponseHeads : public ::testing::TestWithParam<BackendChoice> {};

TEST_P(ResponseHeads, ThatNobodyReadsHaveABudget) {
  testing::ScriptedServer server(expand);
  ClientOptions options;
  options.versions = HttpVersions::Http2;
  options.connections_per_host = 1;
  options.base_url = "http://127.0.0.1:" + std::to_string(server.port());
  const auto body = [&options]() -> Task<> {
    Client client(options);
    std::vector<Task<Result<ClientResponse, Problem>>> asked;
    for (std::uint32_t i = 0; i < requests; ++i) asked.push_back(client.get("/").send());
    std::vector<Result<ClientResponse, Problem>> all = co_await when_all(std::move(asked));
    std::vector<ClientResponse> held;  // which the program does not read
    std::uint32_t refused = 0;
    for (Result<ClientResponse, Problem>& got : all) {
      if (got) {
        held.push_back(*std::move(got));
      } else {
        EXPECT_EQ(got.error().error.code(), Errc::HeadTooLong) << got.error().text;
        ++refused;
      }
    }
    EXPECT_EQ(held.size(), held_at_most);
    EXPECT_EQ(refused, requests - held_at_most);
    for (const ClientResponse& one : held) EXPECT_TRUE(one.header("x-long", references - 1));
    held.clear();
    all.clear();
    auto asking = client.get("/later").send();
    const Result<ClientResponse, Problem> later = co_await std::move(asking);
    EXPECT_TRUE(later) << later.error().text;
    co_await client.close();
  };
  testing::run_on(GetParam(), body());
}

INSTANTIATE_TEST_SUITE_P(Backends, ResponseHeads, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
