// SPDX-License-Identifier: MIT
// Spellings of paths, through gateways with guards and mounts: what the upstream server gets, and
// that no spelling goes around a guard.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/proxy_fixture.hpp"

namespace skua {
namespace {

using testing::Answer;
using testing::Client;
using testing::get;
using testing::read_head;
using testing::ScriptedServer;
using testing::TestServer;

/// How a gateway is set up.
enum class Gateway : std::uint8_t {
  Root,      ///< a proxy for all paths, with middleware that ignores them
  Guarded,   ///< and with a guard that could look at the path
  Mounted,   ///< and with a router below /admin that refuses everything
  Beside,    ///< and with a handler for /admin
  Prefix,    ///< a proxy for /api
  Replaced,  ///< that replaces /api by /v2
};

Router make_router(Gateway gateway, const std::string& url) {
  Router router;
  router.use(request_id());
  switch (gateway) {
    case Gateway::Prefix: reverse_proxy(router, "/api", url); return router;
    case Gateway::Replaced: reverse_proxy(router, "/api", url + "/v2"); return router;
    default: router.any("/{path...}", ReverseProxy(url)); break;
  }
  if (gateway == Gateway::Guarded) {
    router.use([](Request& request) -> std::optional<Response> {
      if (request.path().starts_with("/admin")) return Status::Forbidden;
      return std::nullopt;
    });
  }
  if (gateway == Gateway::Mounted) {
    Router admin;
    admin.use([](Request&) -> std::optional<Response> { return Status::Forbidden; });
    router.mount("/admin", std::move(admin));
  }
  if (gateway == Gateway::Beside) {
    router.any("/admin/{path...}", [](std::string_view) { return Status::Forbidden; });
  }
  return router;
}

/// A server that answers each request with its target.
ScriptedServer target_server() {
  const auto talk = [](Client& client) {
    std::string rest;
    while (true) {
      const std::string head = read_head(client, rest);
      if (head.empty()) return;
      const std::size_t begin = head.find(' ') + 1;
      const std::string target = head.substr(begin, head.find(' ', begin) - begin);
      client.send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(target.size()) +
                  "\r\n\r\n" + target);
    }
  };
  return ScriptedServer(std::vector<std::function<void(Client&)>>(64, talk));
}

class ProxyPaths : public ::testing::TestWithParam<BackendChoice> {
 protected:
  /// Returns the target that arrives, or the status.
  std::string passed(Gateway gateway, const std::string& target) {
    const Router router =
        make_router(gateway, "http://127.0.0.1:" + std::to_string(upstream_.port()));
    TestServer front(router, GetParam());
    Client client = front.connect();
    client.send(get(target));
    const std::optional<Answer> answer = client.answer();
    if (!answer) return "nothing";
    return answer->status == 200 ? answer->body : std::to_string(answer->status);
  }

  ScriptedServer upstream_ = target_server();
};

TEST_P(ProxyPaths, StayAsSentUnlessAGuardCouldReadThemInAnotherWay) {
  struct Row {
    std::string target;
    std::string root;
    std::string guarded;
    std::string mounted;
    std::string beside;
  };
  const Row rows[] = {
      {"/a/b?c=%2F//", "/a/b?c=%2F//", "/a/b?c=%2F//", "/a/b?c=%2F//", "/a/b?c=%2F//"},
      {"/a%20b//c/", "/a%20b//c/", "/a%20b//c/", "/a%20b//c/", "/a%20b//c/"},
      {"//a", "//a", "//a", "//a", "//a"},
      {"/a%2Fb", "/a%2Fb", "400", "400", "400"},
      {"/a%2fb//c%5C", "/a%2fb//c%5C", "400", "400", "400"},
      {"/a/../b", "/b", "/b", "/b", "/b"},
      {"/a//%2e%2e//b", "/b", "/b", "/b", "/b"},
      {"/a%2F..%2Fadmin", "400", "400", "400", "400"},
      {"/a/..%2Fadmin", "400", "400", "400", "400"},
      {"/a%2F%2e%2E", "400", "400", "400", "400"},
      {"/..%5Cadmin", "400", "400", "400", "400"},
      {"/../a", "400", "400", "400", "400"},
      {"/a%2Fb%00", "400", "400", "400", "400"},
      {"/a%2Fb%0d%0a", "400", "400", "400", "400"},
      {"/a%2Fb%zz", "400", "400", "400", "400"},
      {"/admin/x", "/admin/x", "403", "403", "403"},
      {"//admin//x", "//admin//x", "403", "403", "403"},
      {"/%61dmin/x", "/%61dmin/x", "403", "403", "403"},
      {"/a/../admin/x", "/admin/x", "403", "403", "403"},
      {"/admin%2Fx", "/admin%2Fx", "400", "400", "400"},
      {"/%61dmin%2Fx", "/%61dmin%2Fx", "400", "400", "400"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(passed(Gateway::Root, row.target), row.root) << row.target;
    EXPECT_EQ(passed(Gateway::Guarded, row.target), row.guarded) << row.target;
    EXPECT_EQ(passed(Gateway::Mounted, row.target), row.mounted) << row.target;
    EXPECT_EQ(passed(Gateway::Beside, row.target), row.beside) << row.target;
  }
}

TEST_P(ProxyPaths, StayAsSentBelowAPrefix) {
  struct Row {
    std::string target;
    std::string kept;
    std::string replaced;
  };
  const Row rows[] = {
      {"/api", "/api", "/v2"},
      {"/api/", "/api/", "/v2/"},
      {"/api//a", "/api//a", "/v2//a"},
      {"/api/a%2Fb", "/api/a%2Fb", "/v2/a%2Fb"},
      {"//api/a", "//api/a", "/v2/a"},
      {"/api/../api/a//b", "/api/a/b", "/v2/a/b"},
      {"//api/a%2Fb", "400", "400"},
      {"/%61pi/a%2Fb", "400", "400"},
      {"/api%2Fa", "400", "400"},
      {"/api/..%2Fother", "400", "400"},
      {"/api/a%2F..%2F..%2Fother", "400", "400"},
      {"/other%2Fa", "400", "400"},
      {"/other", "404", "404"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(passed(Gateway::Prefix, row.target), row.kept) << row.target;
    EXPECT_EQ(passed(Gateway::Replaced, row.target), row.replaced) << row.target;
  }
}

TEST_P(ProxyPaths, StayAsSentIfAHookChangesSomethingElse) {
  ReverseProxyOptions options;
  options.on_request = [](const Request& request, UpstreamRequest& sent) {
    sent.fields.add("X-Path", std::string(request.path()));
    return std::nullopt;
  };
  Router router;
  router.any("/{path...}",
             ReverseProxy("http://127.0.0.1:" + std::to_string(upstream_.port()), options));
  TestServer front(router, GetParam());
  Client client = front.connect();
  client.send(get("/a%2Fb//c?d"));
  EXPECT_EQ(client.answer()->body, "/a%2Fb//c?d");
}

INSTANTIATE_TEST_SUITE_P(EveryBackEnd, ProxyPaths, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
