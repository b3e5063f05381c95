// SPDX-License-Identifier: MIT
// HTTP/2 to the upstream server, with peers that send frames by hand: streams that are refused,
// reset and cancelled, gRPC, and WebSockets (RFC 8441).
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <optional>
#include <string>
#include <vector>

#include "proxy/h2_peer.hpp"
#include "proxy/proxy_fixture.hpp"
#include "support/websocket_client.hpp"

namespace skua {
namespace {

namespace frames = h2::frames;

using testing::Answer;
using testing::Client;
using testing::get;
using testing::H2Peer;
using testing::handshake;
using testing::ProxyTest;
using testing::read_head;
using testing::ScriptedServer;
using testing::Transport;

constexpr auto connect_protocol = static_cast<unsigned>(h2::Setting::EnableConnectProtocol);

std::string answer(std::uint32_t id, std::string_view status, std::string_view body) {
  return frames::headers(id, frames::block({{":status", std::string(status)}}), frames::open) +
         frames::data(id, body, frames::end);
}

class ProxyHttp2 : public ProxyTest {
 protected:
  ProxyHttp2() {
    proxy_options_.versions = HttpVersions::Http2;
    proxy_options_.timeouts.idle_connection = 1ms;  // scripts wait for the end
  }
};

// The upstream server
// ------------------------------------------------------------------------------

TEST_P(ProxyHttp2, ARefusedStreamIsSentAgain) {
  std::vector<std::string> contents;
  ScriptedServer server([&contents](Client& wire) {
    H2Peer peer = H2Peer::server(wire);
    peer.head();
    contents.push_back(peer.content());
    peer.send(frames::reset(1, h2::ErrorCode::RefusedStream));
    peer.head();
    contents.push_back(peer.content());
    peer.send(answer(3, "200", "ok"));
    peer.finish();
  });
  Client client = connect_to(server);
  client.send("POST /api HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
  client.send("5\r\nhello\r\n0\r\n\r\n");
  EXPECT_EQ(client.answer()->body, "ok");
  EXPECT_EQ(contents, std::vector<std::string>(2, "hello"));
}

TEST_P(ProxyHttp2, ARequestThatAGoawayLeftOutIsSentAgain) {
  ScriptedServer server({[](Client& wire) {
                           H2Peer peer = H2Peer::server(wire);
                           peer.head();
                           peer.content();
                           peer.send(frames::goaway(0, h2::ErrorCode::NoError));
                           peer.finish();
                         },
                         [](Client& wire) {
                           H2Peer peer = H2Peer::server(wire);
                           peer.head();
                           EXPECT_EQ(peer.content(), "hello");
                           peer.send(answer(1, "200", "ok"));
                           peer.finish();
                         }});
  Client client = connect_to(server);
  client.send("POST /api HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello");
  EXPECT_EQ(client.answer()->body, "ok");
}

TEST_P(ProxyHttp2, ALongRequestThatIsRefusedIsNotSentAgain) {
  ScriptedServer server([](Client& wire) {
    H2Peer peer = H2Peer::server(wire);
    peer.head();
    peer.content();
    peer.send(frames::reset(1, h2::ErrorCode::RefusedStream));
    peer.finish();
  });
  Client client = connect_to(server);
  const std::string content(17 * 1024, 'x');
  client.send("POST /api HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(content.size()) +
              "\r\n\r\n" + content);
  EXPECT_EQ(client.answer()->status, 502);
}

TEST_P(ProxyHttp2, AStreamThatIsResetBeforeItsHeadIsA502) {
  ScriptedServer server([](Client& wire) {
    H2Peer peer = H2Peer::server(wire);
    peer.head();
    peer.send(frames::reset(1, h2::ErrorCode::InternalError));
    peer.finish();
  });
  Client client = connect_to(server);
  client.send(get("/api"));
  EXPECT_EQ(client.answer()->status, 502);
}

TEST_P(ProxyHttp2, AMalformedResponseIsA502) {
  for (const frames::Fields& bad : std::vector<frames::Fields>{
           {{":status", "200"}, {"connection", "close"}},
           {{":status", "200"}, {"transfer-encoding", "chunked"}},
           {{":status", "200"}, {"Upper", "1"}},
           {{":status", "200"}, {"a", "b\r\nc: d"}},
           {{":status", "200"}, {"content-length", "3"}},
           {{":status", "200"}, {"content-length", "0"}, {"content-length", "0"}},
           {{":status", "101"}},
           {{"status", "200"}},
       }) {
    ScriptedServer server([&bad](Client& wire) {
      H2Peer peer = H2Peer::server(wire);
      peer.head();
      peer.send(frames::headers(1, frames::block(bad)));
      peer.finish();
    });
    Router router;
    reverse_proxy(router, "/api", "http://127.0.0.1:" + std::to_string(server.port()),
                  proxy_options_);
    const testing::TestServer front(router, GetParam());
    Client client = front.connect();
    client.send("POST /api HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n");
    const std::optional<Answer> got = client.answer();
    ASSERT_TRUE(got) << bad.back().first;
    EXPECT_EQ(got->status, 502) << bad.back().first;
  }
}

TEST_P(ProxyHttp2, AStreamThatIsResetAfterItsHeadNeverEndsCleanly) {
  ScriptedServer server([](Client& wire) {
    H2Peer peer = H2Peer::server(wire);
    peer.head();
    peer.send(frames::headers(1, frames::block({{":status", "200"}}), frames::open) +
              frames::data(1, "half"));
    peer.send(frames::reset(1, h2::ErrorCode::NoError));
    peer.finish();
  });
  Client client = connect_to(server);
  client.send(get("/api"));
  EXPECT_EQ(client.answer(), std::nullopt);
}

TEST_P(ProxyHttp2, ALeavingClientCancelsTheStream) {
  std::promise<std::string> heard;
  ScriptedServer server([&heard](Client& wire) {
    H2Peer peer = H2Peer::server(wire);
    peer.head();
    peer.send(frames::headers(1, frames::block({{":status", "200"}}), frames::open) +
              frames::data(1, "a beginning"));
    heard.set_value(peer.word());
  });
  Client client = connect_to(server);
  client.send(get("/api"));
  EXPECT_FALSE(client.some().empty());
  client.reset();
  EXPECT_EQ(heard.get_future().get(), "RST_STREAM(1,CANCEL)");
}

TEST_P(ProxyHttp2, AnEarlyResponseStopsTheUpload) {
  std::promise<std::string> heard;
  ScriptedServer server([&heard](Client& wire) {
    H2Peer peer = H2Peer::server(wire);
    peer.head();
    peer.send(answer(1, "413", "no!"));
    peer.content();  // what was on its way
    heard.set_value(peer.last());
  });
  Client client = connect_to(server);
  client.send("POST /api HTTP/1.1\r\nHost: a\r\nContent-Length: 100000000\r\n\r\nabc");
  const std::optional<Answer> got = client.answer();
  ASSERT_TRUE(got);
  EXPECT_EQ(got->status, 413);
  EXPECT_EQ(heard.get_future().get(), "RST_STREAM(1,CANCEL)");
}

TEST_P(ProxyHttp2, TrailersThatAreAnnouncedPassBesideALength) {
  ScriptedServer server([](Client& wire) {
    H2Peer peer = H2Peer::server(wire);
    peer.head();
    peer.send(
        frames::headers(
            1, frames::block({{":status", "200"}, {"content-length", "2"}, {"trailer", "x-sum"}}),
            frames::open) +
        frames::data(1, "hi") + frames::headers(1, frames::block({{"x-sum", "6"}})));
    peer.finish();
  });
  Client client = connect_to(server);
  client.send(get("/api", "TE: trailers\r\n"));
  const std::optional<Answer> got = client.answer();
  ASSERT_TRUE(got);
  EXPECT_EQ(got->body, "hi");
  EXPECT_EQ(got->trailer("x-sum"), "6");
}

TEST_P(ProxyHttp2, InterimResponsesArePassedOn) {
  ScriptedServer server([](Client& wire) {
    H2Peer peer = H2Peer::server(wire);
    peer.head();
    peer.send(frames::headers(1, frames::block({{":status", "103"}, {"link", "</a.css>"}}),
                              frames::open) +
              answer(1, "200", "hi"));
    peer.finish();
  });
  Client client = connect_to(server);
  client.send(get("/api"));
  const std::optional<Answer> hints = client.answer();
  ASSERT_TRUE(hints);
  EXPECT_EQ(hints->status, 103);
  EXPECT_EQ(hints->field("Link"), "</a.css>");
  EXPECT_EQ(client.answer()->body, "hi");
}

INSTANTIATE_TEST_SUITE_P(EveryBackEnd, ProxyHttp2, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

// WebSockets
// ---------------------------------------------------------------------------------------

class ProxyExtendedConnect : public ProxyHttp2 {};

TEST_P(ProxyExtendedConnect, ReplacesTheHandshakeOfHttp1) {
  H2Peer::Fields asked;
  std::string heard;
  ScriptedServer server([&](Client& wire) {
    H2Peer peer = H2Peer::server(wire, {{connect_protocol, 1}});
    asked = peer.head();
    peer.send(
        frames::headers(1, frames::block({{":status", "200"}, {"sec-websocket-protocol", "chat"}}),
                        frames::open) +
        frames::data(1, "from the server"));
    while (!heard.ends_with("from the client")) {
      if (!peer.word().starts_with("DATA")) break;
      heard.append(peer.frame().payload);
    }
    peer.send(frames::data(1, ", heard", frames::end));
    peer.finish();
  });
  Client client = connect_to(server);
  client.send(handshake("/api/ws?a=b", "Sec-WebSocket-Protocol: chat, x\r\n"));
  std::string received;
  const std::string head = read_head(client, received);
  EXPECT_EQ(head.substr(9, 3), testing::opened()) << head;
  EXPECT_NE(head.find("chat\r\n"), head.npos) << head;
  if (!testing::speaks_http2()) {
    // RFC 6455 §1.3: the answer to the key of handshake().
    EXPECT_NE(head.find("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"), head.npos);
  }
  client.send("from the client");
  EXPECT_EQ(H2Peer::find(asked, ":method"), "CONNECT");
  EXPECT_EQ(H2Peer::find(asked, ":protocol"), "websocket");
  EXPECT_EQ(H2Peer::find(asked, ":scheme"), "http");
  EXPECT_EQ(H2Peer::find(asked, ":path"), "/api/ws?a=b");
  EXPECT_EQ(H2Peer::find(asked, ":authority"), "a");
  EXPECT_EQ(H2Peer::find(asked, "sec-websocket-version"), "13");
  EXPECT_EQ(H2Peer::find(asked, "sec-websocket-protocol"), "chat, x");
  for (const char* const name : {"sec-websocket-key", "upgrade", "connection"}) {
    EXPECT_EQ(H2Peer::find(asked, name), std::nullopt) << name;
  }
  while (received.find(", heard") == received.npos) {
    const std::string more = client.some();
    if (more.empty()) break;
    received.append(more);
  }
  EXPECT_EQ(received, "from the server, heard");
}

TEST_P(ProxyExtendedConnect, FallsBackToHttp1IfItIsNotPermitted) {
  ScriptedServer server({[](Client& wire) {
                           H2Peer peer = H2Peer::server(wire);
                           peer.finish();
                         },
                         [](Client& wire) {
                           const std::string head = read_head(wire);
                           EXPECT_TRUE(head.starts_with("GET /api/ws HTTP/1.1\r\n")) << head;
                           EXPECT_NE(head.find("Upgrade: websocket\r\n"), head.npos) << head;
                           wire.send("HTTP/1.1 403 Forbidden\r\nContent-Length: 3\r\n\r\nno!");
                         }});
  testing::WebSocketClient client(connect_to(server));
  EXPECT_EQ(client.open(handshake("/api/ws")).substr(9, 3), "403");
}

TEST_P(ProxyExtendedConnect, FallsBackToHttp1IfTheServerWantsThat) {
  ScriptedServer server({[](Client& wire) {
                           H2Peer peer = H2Peer::server(wire, {{connect_protocol, 1}});
                           peer.head();
                           peer.send(frames::reset(1, h2::ErrorCode::Http11Required));
                           peer.finish();
                         },
                         [](Client& wire) {
                           EXPECT_TRUE(read_head(wire).starts_with("GET /api/ws HTTP/1.1\r\n"));
                           wire.send("HTTP/1.1 403 Forbidden\r\nContent-Length: 3\r\n\r\nno!");
                         }});
  testing::WebSocketClient client(connect_to(server));
  EXPECT_EQ(client.open(handshake("/api/ws")).substr(9, 3), "403");
}

TEST_P(ProxyExtendedConnect, ARefusalIsPassedOn) {
  ScriptedServer server([](Client& wire) {
    H2Peer peer = H2Peer::server(wire, {{connect_protocol, 1}});
    peer.head();
    peer.send(answer(1, "404", "no such socket"));
    peer.finish();
  });
  testing::WebSocketClient client(connect_to(server));
  EXPECT_EQ(client.open(handshake("/api/ws")).substr(9, 3), "404");
}

TEST_P(ProxyExtendedConnect, AResetEndsTheTunnel) {
  ScriptedServer server([](Client& wire) {
    H2Peer peer = H2Peer::server(wire, {{connect_protocol, 1}});
    peer.head();
    peer.send(frames::headers(1, frames::block({{":status", "200"}}), frames::open));
    while (peer.word().starts_with("DATA")) {
      if (peer.frame().payload == "go") break;
    }
    peer.send(frames::reset(1, h2::ErrorCode::InternalError));
    peer.finish();
  });
  testing::WebSocketClient client(connect_to(server));
  EXPECT_EQ(client.open(handshake("/api/ws")).substr(9, 3), testing::opened());
  client.wire().send("go");
  EXPECT_EQ(client.wire().some(), "");
}

TEST_P(ProxyExtendedConnect, ALeavingClientCancelsTheStream) {
  std::promise<std::string> heard;
  ScriptedServer server([&heard](Client& wire) {
    H2Peer peer = H2Peer::server(wire, {{connect_protocol, 1}});
    peer.head();
    peer.send(frames::headers(1, frames::block({{":status", "200"}}), frames::open));
    peer.content();
    heard.set_value(peer.last());
  });
  testing::WebSocketClient client(connect_to(server));
  EXPECT_EQ(client.open(handshake("/api/ws")).substr(9, 3), testing::opened());
  client.wire().reset();
  EXPECT_TRUE(heard.get_future().get().starts_with("RST_STREAM(1,"));
}

INSTANTIATE_TEST_SUITE_P(EveryBackEnd, ProxyExtendedConnect,
                         ::testing::ValuesIn(testing::backends()), testing::backend_name);

// Both sides
// ---------------------------------------------------------------------------------------

/// A client that sends frames by hand, and a proxy in front of a server that does.
class Http2ProxyCalls : public ::testing::TestWithParam<BackendChoice> {
 protected:
  /// Connects to a proxy in front of `server`.
  H2Peer connect_to(ScriptedServer& server) {
    options_.versions = HttpVersions::Http2;
    options_.timeouts.idle_connection = 1ms;  // scripts wait for the end
    router_.any("/{path...}",
                ReverseProxy("http://127.0.0.1:" + std::to_string(server.port()), options_));
    front_.emplace(router_, GetParam(), server_options_, Transport::Tcp);
    wire_.emplace(front_->port(), Transport::Tcp);
    return H2Peer::client(*wire_);
  }
  /// The head of a call.
  static std::string call(const frames::Fields& more = {}, std::uint32_t id = 1) {
    frames::Fields fields{{"content-type", "application/grpc"}, {"te", "trailers"}};
    fields.insert(fields.end(), more.begin(), more.end());
    return frames::headers(id, frames::request_block("POST", "/gull.Echo/Say", fields),
                           frames::open);
  }

  ReverseProxyOptions options_;
  ServerOptions server_options_;
  Router router_;
  std::optional<testing::TestServer> front_;
  std::optional<Client> wire_;
};

TEST_P(Http2ProxyCalls, TheCodeOfAResetIsPassedOnIfItTellsOfTheStream) {
  using enum h2::ErrorCode;
  for (const auto& [code, passed_on] : {std::pair(Cancel, Cancel),
                                        {EnhanceYourCalm, EnhanceYourCalm},
                                        {InternalError, InternalError},
                                        {ProtocolError, InternalError},
                                        {RefusedStream, InternalError},
                                        {NoError, InternalError}}) {
    ScriptedServer server([sent = code](Client& wire) {
      H2Peer peer = H2Peer::server(wire);
      peer.head();
      peer.send(frames::headers(1, frames::block({{":status", "200"}}), frames::open) +
                frames::data(1, "half"));
      while (peer.word().starts_with("DATA") && peer.frame().payload != "go") {
      }
      peer.send(frames::reset(1, sent));
      peer.finish();
    });
    router_ = Router();
    H2Peer client = connect_to(server);
    client.send(call());
    EXPECT_EQ(H2Peer::find(client.head(), ":status"), "200");
    EXPECT_EQ(client.word(), "DATA(1)");
    client.send(frames::data(1, "go"));
    EXPECT_EQ(client.word(), "RST_STREAM(1," + std::string(name(passed_on)) + ")");
    front_.reset();
  }
}

TEST_P(Http2ProxyCalls, ACancelledRequestCancelsTheStream) {
  std::promise<void> asked;
  std::promise<std::string> heard;
  ScriptedServer server([&](Client& wire) {
    H2Peer peer = H2Peer::server(wire);
    peer.head();
    asked.set_value();
    heard.set_value(peer.word());
  });
  H2Peer client = connect_to(server);
  client.send(frames::get(1, "/"));
  asked.get_future().wait();
  client.send(frames::reset(1, h2::ErrorCode::Cancel));
  EXPECT_EQ(heard.get_future().get(), "RST_STREAM(1,CANCEL)");
}

TEST_P(Http2ProxyCalls, ACallIsPassedOnWithItsTrailers) {
  H2Peer::Fields asked;
  std::string content;
  ScriptedServer server([&](Client& wire) {
    H2Peer peer = H2Peer::server(wire);
    asked = peer.head();
    content = peer.content();
    peer.send(frames::headers(
        1, frames::block({{":status", "200"}, {"content-type", "application/grpc"}}),
        frames::open));
    peer.send(frames::data(1, "reply"));
    peer.send(frames::headers(
        1, frames::block({{"grpc-status", "0"}, {"x-more", "a b"}, {"x-more", "c"}})));
    peer.finish();
  });
  H2Peer client = connect_to(server);
  client.send(call({{"grpc-timeout", "10S"}, {"x-bin", "AAE"}}));
  client.send(frames::data(1, "question", frames::end));
  const H2Peer::Fields head = client.head();
  EXPECT_EQ(H2Peer::find(head, "content-type"), "application/grpc");
  EXPECT_EQ(H2Peer::find(head, "content-length"), std::nullopt);
  EXPECT_EQ(client.content(), "reply");
  EXPECT_EQ(client.last(), "HEADERS(1)!");
  const H2Peer::Fields trailers = client.trailers();
  EXPECT_EQ(H2Peer::find(trailers, "grpc-status"), "0");
  EXPECT_EQ(H2Peer::find(trailers, "x-more"), "a b");
  EXPECT_EQ(trailers.back(), std::pair(std::string("x-more"), std::string("c")));
  EXPECT_EQ(content, "question");
  EXPECT_EQ(H2Peer::find(asked, "te"), "trailers");
  EXPECT_EQ(H2Peer::find(asked, "content-type"), "application/grpc");
  EXPECT_EQ(H2Peer::find(asked, "grpc-timeout"), "10S");
  EXPECT_EQ(H2Peer::find(asked, "x-bin"), "AAE");
  EXPECT_EQ(H2Peer::find(asked, "content-length"), std::nullopt);
}

// Without trailers, `grpc-status` has to be in the head, and the head has to be the end.
TEST_P(Http2ProxyCalls, AResponseThatEndsWithItsHeadStaysOne) {
  ScriptedServer server([](Client& wire) {
    H2Peer peer = H2Peer::server(wire);
    peer.head();
    peer.send(frames::headers(
        1, frames::block(
               {{":status", "200"}, {"content-type", "application/grpc"}, {"grpc-status", "12"}})));
    peer.finish();
  });
  H2Peer client = connect_to(server);
  client.send(call() + frames::data(1, "question", frames::end));
  const H2Peer::Fields head = client.head();
  EXPECT_EQ(client.last(), "HEADERS(1)!");
  EXPECT_EQ(H2Peer::find(head, "grpc-status"), "12");
  EXPECT_EQ(H2Peer::find(head, "content-length"), std::nullopt);
}

/// Skips content, which a reset may cut short, and returns the word of the next frame.
std::string after_content(H2Peer& peer) {
  std::string word = peer.word();
  while (word.starts_with("DATA")) word = peer.word();
  return word;
}

TEST_P(Http2ProxyCalls, ACallThatTakesTooLongIsEnded) {
  std::promise<std::string> heard;
  ScriptedServer server([&heard](Client& wire) {
    H2Peer peer = H2Peer::server(wire);
    peer.head();
    heard.set_value(after_content(peer));
  });
  H2Peer client = connect_to(server);
  client.send(call({{"grpc-timeout", "1S"}}) + frames::data(1, "question", frames::end));
  const H2Peer::Fields head = client.head();
  EXPECT_EQ(client.last(), "HEADERS(1)!");
  EXPECT_EQ(H2Peer::find(head, ":status"), "200");
  EXPECT_EQ(H2Peer::find(head, "content-type"), "application/grpc");
  EXPECT_EQ(H2Peer::find(head, "grpc-status"), "4");
  EXPECT_EQ(heard.get_future().get(), "RST_STREAM(1,CANCEL)");
}

TEST_P(Http2ProxyCalls, ACallThatTakesTooLongAfterItsHeadEndsWithItsStatus) {
  ScriptedServer server([](Client& wire) {
    H2Peer peer = H2Peer::server(wire);
    peer.head();
    const frames::Fields fields{{":status", "200"}, {"content-type", "application/grpc"}};
    peer.send(frames::headers(1, frames::block(fields), frames::open));
    EXPECT_EQ(after_content(peer), "RST_STREAM(1,CANCEL)");
  });
  H2Peer client = connect_to(server);
  client.send(call({{"grpc-timeout", "1S"}}) + frames::data(1, "question", frames::end));
  const std::string head = client.word();
  if (head == "HEADERS(1)!") return;  // this machine is too slow
  EXPECT_EQ(H2Peer::find(client.head(), "grpc-status"), "4");
  EXPECT_EQ(client.last(), "HEADERS(1)!");
}

// A client may not have servers ejected by its own haste.
TEST_P(Http2ProxyCalls, ACallThatTakesTooLongSaysNothingAboutTheServer) {
  ScriptedServer server([](Client& wire) {
    H2Peer peer = H2Peer::server(wire);
    peer.head();
    peer.content();
    peer.finish();
  });
  const Upstream group({.targets = {{.url = "h2c://127.0.0.1:" + std::to_string(server.port())}}});
  router_.any("/group/{path...}", ReverseProxy(group, {.timeouts = {.idle_connection = 1ms}}));
  front_.emplace(router_, GetParam(), server_options_, Transport::Tcp);
  wire_.emplace(front_->port(), Transport::Tcp);
  H2Peer client = H2Peer::client(*wire_);
  client.send(frames::headers(1,
                              frames::request_block(
                                  "POST", "/group/Say",
                                  {{"content-type", "application/grpc"}, {"grpc-timeout", "1S"}}),
                              frames::open) +
              frames::data(1, "question", frames::end));
  EXPECT_EQ(H2Peer::find(client.head(), "grpc-status"), "4");
  EXPECT_EQ(group.targets()[0].requests, 1U);
  EXPECT_EQ(group.targets()[0].failures, 0U);
}

// Timeouts::body of the server is far shorter than the pauses that a stream of messages may have.
TEST_P(Http2ProxyCalls, ACallMayPauseBetweenItsMessages) {
  server_options_.timeouts.body = 1ms;
  ScriptedServer server([](Client& wire) {
    H2Peer peer = H2Peer::server(wire);
    std::string all;
    for (std::string word = peer.word(); word != "the end"; word = peer.word()) {
      if (word.starts_with("DATA(1)")) all.append(peer.frame().payload);
      if (word == "DATA(1)!") break;
    }
    EXPECT_EQ(all, "onetwo");
    peer.send(answer(1, "200", "ok"));
    peer.finish();
  });
  H2Peer client = connect_to(server);
  client.send(call() + frames::data(1, "one"));
  // Another upload that sends nothing is ended meanwhile.
  client.send(frames::headers(3, frames::request_block("PUT", "/", {}), frames::open));
  EXPECT_EQ(H2Peer::find(client.head(), ":status"), "408");
  EXPECT_TRUE(client.last().starts_with("HEADERS(3)")) << client.last();
  EXPECT_EQ(client.word(), "DATA(3)!");
  client.ignore(3);
  client.send(frames::data(1, "two", frames::end));
  EXPECT_EQ(H2Peer::find(client.head(), ":status"), "200");
}

INSTANTIATE_TEST_SUITE_P(EveryBackEnd, Http2ProxyCalls, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
