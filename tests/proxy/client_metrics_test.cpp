// SPDX-License-Identifier: MIT
// What ClientMetrics says of the requests that a reverse proxy passes on.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "proxy/upstream_fixture.hpp"

namespace skua {
namespace {

using testing::Gateway;
using testing::get;
using testing::NamedServer;
using testing::ProxyTest;
using testing::wait_until;

/// The metrics of one client.
class Counted {
 public:
  Counted() { collect_clients(metrics_, {client}); }

  [[nodiscard]] int of(const std::string& family, const std::string& labels = {}) {
    const std::string sample = "\n" + family + "{client=\"proxy\"" + labels + "} ";
    const std::string text = metrics_.text();
    const std::size_t begin = text.find(sample);
    return begin == text.npos ? -1 : std::stoi(text.substr(begin + sample.size()));
  }
  [[nodiscard]] int answered() { return of("skua_client_requests_total", ",result=\"2xx\""); }

  const ClientMetrics client{"proxy"};

 private:
  Metrics metrics_;
};

class ProxyMetering : public ProxyTest {
 protected:
  Counted counted_;
};

TEST_P(ProxyMetering, CountsWhatIsPassedOn) {
  proxy_options_.metrics = counted_.client;
  upstream_router_.any("/{path...}", [](std::string_view) { return "x"; });
  testing::Client client = front().connect();
  for (int i = 0; i < 3; ++i) {
    client.send(get("/api/a"));
    EXPECT_EQ(client.answer()->status, 200);
  }
  EXPECT_EQ(counted_.answered(), 3);
  EXPECT_EQ(counted_.of("skua_client_connections_opened_total"), 1);
  EXPECT_EQ(counted_.of("skua_client_connections_reused_total"), 2);
}

INSTANTIATE_TEST_SUITE_P(EveryBackEnd, ProxyMetering, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

TEST(GatewayMetering, CountsNeitherChecksNorCopies) {
  Counted counted;
  Router router;
  router.get("/livez", [] { return "ok"; });
  router.get("/api/x", [] { return "x"; });
  testing::TestServer server(router, BackendChoice::Auto, {}, testing::Transport::Tcp);
  const NamedServer copies("copies");
  const Upstream mirror(
      {.name = "mirror", .targets = {{"http://127.0.0.1:" + std::to_string(copies.port())}}});
  Gateway gateway(BackendChoice::Auto);
  gateway.add(server);
  gateway.options.health = {.path = "/livez", .interval = 1h};
  gateway.options.mirror.to = mirror;
  gateway.proxy_options.metrics = counted.client;
  for (int i = 0; i < 5; ++i) EXPECT_EQ(gateway.body_of(get("/api/x")), "x");
  wait_until([&] {
    return gateway.metric("skua_upstream_checks_total{upstream=\"shop\",target=\"" +
                          gateway.name_of(0) + "\",result=\"passed\"}") == 1;
  });
  wait_until([&] { return mirror.targets()[0].requests == 5; });
  EXPECT_EQ(counted.answered(), 5);
  EXPECT_EQ(counted.of("skua_client_connections_opened_total") +
                counted.of("skua_client_connections_reused_total"),
            5);
}

}  // namespace
}  // namespace skua
