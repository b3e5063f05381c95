// SPDX-License-Identifier: MIT
// Hooks that change requests and responses on their way, and what they cannot do.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/proxy_fixture.hpp"
#include "support/echo_socket.hpp"
#include "support/websocket_client.hpp"

namespace skua {
namespace {

using testing::Answer;
using testing::Client;
using testing::get;
using testing::ProxyTest;

class ProxyHooks : public ProxyTest {
 protected:
  /// The upstream server answers with the target, the host, and a field.
  Client open() {
    upstream_router_.any("/{path...}", [](const Request& request, std::string_view) {
      std::string text(request.target());
      text.append(" ").append(request.host()).append(" ");
      text.append(request.header("X-Own").value_or("none"));
      return Response(std::move(text)).header("X-Upstream", "secret");
    });
    return front().connect();
  }
  std::optional<Answer> ask(std::string_view target = "/api/a?b") {
    Client client = open();
    client.send(get(target, "X-Own: sent\r\n"));
    return client.answer();
  }
};

TEST_P(ProxyHooks, ARequestIsChanged) {
  proxy_options_.on_request = [](const Request& request, UpstreamRequest& sent) {
    EXPECT_EQ(request.path(), "/api/a");
    EXPECT_EQ(sent.target, "/api/a?b");
    sent.target = "/other?c";
    sent.fields.set("Host", "inner.example");
    sent.fields.set("X-Own", "changed");
    return std::nullopt;
  };
  EXPECT_EQ(ask()->body, "/other?c inner.example changed");
}

TEST_P(ProxyHooks, ARequestIsAnsweredInPlaceOfTheUpstreamServer) {
  proxy_options_.on_request = [](const Request&, UpstreamRequest&) {
    return Response(Status::Forbidden, "not for you");
  };
  proxy_options_.on_response = [](const Request&, Response&) { ADD_FAILURE(); };
  const std::optional<Answer> answer = ask();
  EXPECT_EQ(answer->status, 403);
  EXPECT_EQ(answer->body, "not for you");
  EXPECT_EQ(upstream()->counters().requests, 0U);
}

TEST_P(ProxyHooks, AResponseIsChanged) {
  proxy_options_.on_response = [](const Request& request, Response& response) {
    EXPECT_EQ(request.path(), "/api/a");
    EXPECT_EQ(response.header("X-Upstream"), "secret");
    response.remove_header("X-Upstream");
    response.header("X-Frame-Options", "DENY").status(Status::Accepted);
  };
  const std::optional<Answer> answer = ask();
  EXPECT_EQ(answer->status, 202);
  EXPECT_EQ(answer->field("X-Frame-Options"), "DENY");
  EXPECT_EQ(answer->field("X-Upstream"), std::nullopt);
  EXPECT_EQ(answer->body, "/api/a?b test sent");
}

TEST_P(ProxyHooks, TheContentOfAResponseIsReplaced) {
  proxy_options_.on_response = [](const Request&, Response& response) { response.body("mine"); };
  EXPECT_EQ(ask()->body, "mine");
}

TEST_P(ProxyHooks, NothingAmbiguousIsPassedOn) {
  using Change = std::function<void(UpstreamRequest&)>;
  static const Change changes[] = {
      [](UpstreamRequest& sent) { sent.fields.add("Content-Length", "5"); },
      [](UpstreamRequest& sent) { sent.fields.add("Transfer-Encoding", "chunked"); },
      [](UpstreamRequest& sent) { sent.fields.add("Connection", "close"); },
      [](UpstreamRequest& sent) { sent.fields.add("Upgrade", "websocket"); },
      [](UpstreamRequest& sent) { sent.fields.add("TE", "trailers"); },
      [](UpstreamRequest& sent) { sent.fields.add("Expect", "100-continue"); },
      [](UpstreamRequest& sent) { sent.fields.add("Host", "second"); },
      [](UpstreamRequest& sent) { sent.fields.add("X", "a\r\nY: b"); },
      [](UpstreamRequest& sent) { sent.fields.add("X ", "a"); },
      [](UpstreamRequest& sent) { sent.target = "http://other/"; },
      [](UpstreamRequest& sent) { sent.target = "/a b"; },
      [](UpstreamRequest& sent) { sent.target = "/a HTTP/1.1\r\nX: y\r\n\r\n"; },
      [](UpstreamRequest& sent) { sent.target = "/a#b"; },
      [](UpstreamRequest& sent) { sent.target = "/../a"; },
      [](UpstreamRequest& sent) { sent.target = "/%2f"; },
      [](UpstreamRequest& sent) { sent.target = ""; },
      [](UpstreamRequest& sent) { sent.target = "a"; },
  };
  const auto next = std::make_shared<std::atomic<std::size_t>>(0);
  proxy_options_.on_request = [next](const Request&, UpstreamRequest& sent) {
    changes[*next](sent);
    return std::nullopt;
  };
  Client client = open();
  for (; *next < std::size(changes); ++*next) {
    client.send(get("/api/a"));
    EXPECT_EQ(client.answer()->status, 500) << *next;
  }
  EXPECT_EQ(upstream()->counters().bytes_received, 0U);
}

TEST_P(ProxyHooks, ATargetIsNormalised) {
  proxy_options_.on_request = [](const Request&, UpstreamRequest& sent) {
    sent.target = "/a/./b//%2e%2e/c?d=%zz";
    return std::nullopt;
  };
  EXPECT_EQ(ask()->body, "/a/c?d=%zz test sent");
}

TEST_P(ProxyHooks, AFieldThatIsSetHasNoDouble) {
  proxy_options_.on_request = [](const Request&, UpstreamRequest& sent) {
    sent.fields.set("X-Own", "ours");
    return std::nullopt;
  };
  upstream_router_.any("/{path...}", [](const Request& request, std::string_view) {
    return std::string(request.header("X_Own").value_or("none"));
  });
  Client client = front().connect();
  client.send(get("/api", "X_Own: theirs\r\n"));
  EXPECT_EQ(client.answer()->body, "none");
}

TEST_P(ProxyHooks, AnExceptionIsA500) {
  proxy_options_.on_response = [](const Request&, Response& response) {
    response.header("Content-Length", "5");
  };
  EXPECT_EQ(ask()->status, 500);
}

TEST_P(ProxyHooks, AWebSocketMayBeRefusedAfterItsHandshake) {
  upstream_router_.websocket("/api/ws", testing::echo);
  proxy_options_.on_response = [](const Request&, Response& response) {
    response.status(Status::Forbidden);
  };
  testing::WebSocketClient client(front().connect());
  EXPECT_EQ(client.open(testing::handshake("/api/ws")).substr(9, 3), "403");
}

TEST_P(ProxyHooks, AWebSocketKeepsTheFieldsThatAreAdded) {
  upstream_router_.websocket("/api/ws", testing::echo);
  proxy_options_.on_response = [](const Request&, Response& response) {
    response.header("X-Added", "here");
  };
  testing::WebSocketClient client(front().connect());
  const std::string head = client.open(testing::handshake("/api/ws"));
  EXPECT_EQ(head.substr(9, 3), testing::opened());
  EXPECT_NE(head.find("here\r\n"), head.npos) << head;
  client.send("hi");
  EXPECT_EQ(client.text(), "hi");
}

INSTANTIATE_TEST_SUITE_P(EveryBackEnd, ProxyHooks, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
