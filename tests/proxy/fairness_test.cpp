// SPDX-License-Identifier: MIT
// Requests and responses that pass a gateway over one HTTP/2 connection share its window, however
// that opens: below a frame at a time, a frame, or more.
#include <gtest/gtest.h>

#include <cstdint>
#include <future>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "proxy/h2_peer.hpp"
#include "skua.hpp"
#include "support/scripted_server.hpp"
#include "support/test_server.hpp"

namespace skua {
namespace {

namespace frames = h2::frames;
using testing::Client;
using testing::H2Peer;
using testing::ScriptedServer;
using testing::Transport;

constexpr std::uint32_t streams = 3;
constexpr std::size_t content_bytes = 300'000;
constexpr std::size_t at_once_bytes = 100'000;  // a gateway and the system take so much at once
constexpr std::size_t first_window = 65'535;
constexpr std::size_t shared_bytes = 180'000;  // after that
constexpr std::uint32_t wide = 0x7fff'ffff;

/// Reads the content of several streams, as much as the peer lets them send.
struct Reader {
  H2Peer& peer;
  std::map<std::uint32_t, std::size_t> received{};
  std::size_t sum = 0;
  std::uint32_t heads = 0;

  /// Reads one more frame. Returns false at the end.
  bool more() {
    const std::string what = peer.word();
    if (what == "the end") return false;
    const frames::Frame& frame = peer.frame();
    if (frame.head.type == h2::FrameType::Headers) ++heads;
    if (frame.head.type != h2::FrameType::Data) return true;
    received[frame.head.stream_id] += frame.payload.size();
    sum += frame.payload.size();
    return true;
  }
  /// Reads what the first window allows, and then opens it by `step` again and again. Each stream
  /// has to get at least half of its share.
  void share(std::size_t step) {
    while (heads < streams || sum < first_window) ASSERT_TRUE(more());
    const std::map<std::uint32_t, std::size_t> before = received;
    for (std::size_t window = first_window; sum < first_window + shared_bytes;) {
      peer.send(frames::window_update(0, static_cast<std::uint32_t>(step)));
      window += step;
      while (sum < window) ASSERT_TRUE(more());
    }
    for (std::uint32_t id = 1; id < 2 * streams; id += 2) {
      const auto found = before.find(id);
      const std::size_t earlier = found != before.end() ? found->second : 0;
      EXPECT_GE(received[id] - earlier, shared_bytes / streams / 2) << "stream " << id;
    }
  }
  void read_the_rest() {
    peer.send(frames::window_update(0, streams * content_bytes));
    while (sum < streams * content_bytes) ASSERT_TRUE(more());
  }
};

class ProxyFairness : public ::testing::TestWithParam<std::tuple<BackendChoice, std::size_t>> {
 protected:
  ProxyFairness() {
    proxy_options_.connections = 1;
    proxy_options_.timeouts.idle_connection = 1ms;  // scripts wait for the end
    options_.limits.body_bytes = content_bytes;
  }
  static BackendChoice backend() { return std::get<0>(GetParam()); }
  static std::size_t step() { return std::get<1>(GetParam()); }

  ReverseProxyOptions proxy_options_;
  ServerOptions options_;
  Router router_;
};

TEST_P(ProxyFairness, OfUploadsToAServer) {
  std::promise<void> sent;
  std::future<void> is_sent = sent.get_future();
  ScriptedServer server([&is_sent](Client& wire) {
    H2Peer peer = H2Peer::server(wire, {{4, wide}});
    is_sent.wait();
    Reader reader{peer};
    reader.share(step());
    reader.read_the_rest();
    for (std::uint32_t id = 1; id < 2 * streams; id += 2) {
      peer.send(frames::headers(id, frames::field(":status", "200"), frames::whole));
    }
    peer.finish();
  });
  proxy_options_.versions = HttpVersions::Http2;
  router_.any("/{path...}",
              ReverseProxy("http://127.0.0.1:" + std::to_string(server.port()), proxy_options_));
  const testing::TestServer front(router_, backend(), options_, Transport::Tcp);
  std::vector<Client> clients;
  for (std::uint32_t i = 0; i < streams; ++i) {
    Client& client = clients.emplace_back(front.port(), Transport::Tcp);
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(content_bytes) +
                "\r\n\r\n" + std::string(at_once_bytes, 'x'));
  }
  sent.set_value();
  for (Client& client : clients) client.send(std::string(content_bytes - at_once_bytes, 'y'));
  for (Client& client : clients) EXPECT_EQ(client.answer()->status, 200);
}

TEST_P(ProxyFairness, OfDownloadsToAClient) {
  Router upstream_router;
  upstream_router.get("/", [] { return std::string(content_bytes, 'x'); });
  proxy_options_.connections = streams;
  const testing::TestServer upstream(upstream_router, BackendChoice::Auto, {}, Transport::Tcp);
  router_.any("/{path...}",
              ReverseProxy("http://127.0.0.1:" + std::to_string(upstream.port()), proxy_options_));
  const testing::TestServer front(router_, backend(), options_, Transport::Tcp);
  Client wire(front.port(), Transport::Tcp);
  H2Peer peer = H2Peer::client(wire, {{4, wide}});
  for (std::uint32_t id = 1; id < 2 * streams; id += 2) {
    peer.send(frames::headers(id, frames::request_block("GET", "/", {{"priority", "u=3,i"}})));
  }
  Reader reader{peer};
  reader.share(step());
  reader.read_the_rest();
}

std::string name_of(const ::testing::TestParamInfo<ProxyFairness::ParamType>& one) {
  const auto& [backend, step] = one.param;
  return testing::backend_name(::testing::TestParamInfo<BackendChoice>(backend, 0)) + "By" +
         std::to_string(step);
}

INSTANTIATE_TEST_SUITE_P(
    Windows, ProxyFairness,
    ::testing::Combine(::testing::ValuesIn(testing::backends()),
                       ::testing::Values(std::size_t{1'000}, std::size_t{16'375},
                                         std::size_t{16'384}, std::size_t{20'000},
                                         std::size_t{65'535})),
    name_of);

}  // namespace
}  // namespace skua
