// SPDX-License-Identifier: MIT
// `skua ws` as scripts see it (pipes) and as people see it (a terminal).
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/blunt_server.hpp"
#include "cli/process.hpp"
#include "skua.hpp"
#include "support/echo_socket.hpp"
#include "support/test_server.hpp"
#include "ws/handshake_key.hpp"

namespace skua::test {
namespace {

using With = Process::With;

class WsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    router_.websocket("/echo", testing::echo);
    router_.websocket("/say",
                      [](const Request& request, WebSocket& socket) -> Task<> {
                        std::string said(request.header("X-Name").value_or("-"));
                        said.append(" ").append(request.header("Authorization").value_or("-"));
                        co_await socket.send(said);
                        co_await socket.receive();
                      },
                      {.subprotocols = {"chat"}});
    router_.websocket("/evil", [](WebSocket& socket) -> Task<> {
      co_await socket.send("\x1b[2Jgone\xc2\x9b");
      socket.close(static_cast<CloseCode>(4000), "no \x1b[31mmore");
      co_return;
    });
    router_.websocket("/ticks", [](WebSocket& socket) -> Task<> {
      for (int i = 1; i <= 3; ++i) co_await socket.send(std::to_string(i));
      const std::string binary("\x00\xff", 2);
      co_await socket.send(bytes(binary));
      socket.ping("p");
      socket.close(CloseCode::Normal, "done");
      co_await socket.receive();
    });
    router_.websocket("/late", [](WebSocket& socket) -> Task<> {
      const auto message = co_await socket.receive();
      if (!message) co_return;
      for (int i = 1; i <= 3; ++i) {
        co_await sleep(50ms);
        co_await socket.send(std::to_string(i));
      }
      socket.close(CloseCode::Normal);
    });
    server_ = std::make_unique<testing::TestServer>(router_, BackendChoice::Auto, ServerOptions(),
                                                    testing::Transport::Tcp);
  }
  std::string url(const std::string& path) const {
    return "ws://127.0.0.1:" + std::to_string(server_->port()) + path;
  }
  std::unique_ptr<Process> start(const std::string& path, std::vector<std::string> more = {},
                                 With with = With::Pipes) const {
    more.insert(more.begin(), {"ws", url(path)});
    return std::make_unique<Process>(std::move(more), with);
  }
  /// Reads stdout until `text` appears.
  static std::string read_until(const Process& process, std::string_view text) {
    std::string all;
    while (all.find(text) == all.npos) {
      const std::string line = process.line();
      if (line.empty()) break;
      all.append(line).append("\n");
    }
    return all;
  }

  Router router_;
  std::unique_ptr<testing::TestServer> server_;
};

TEST_F(WsTest, EachLineIsAMessage) {
  const auto process = start("/echo");
  process->write("first\n");
  EXPECT_EQ(process->line(), "first");
  process->write("a\r\n\nb\nlast without an end");
  process->end_input();
  EXPECT_EQ(process->output(), "a\n\nb\nlast without an end\n");
  EXPECT_EQ(process->errors(), "");
  EXPECT_EQ(process->wait(), 0);
}

TEST_F(WsTest, MessagesOfTheCommandLineAreSentInstead) {
  const auto process = start("/echo", {"-m", "one", "-m", "two"}, With::Output);
  EXPECT_EQ(process->output(), "one\ntwo\n");
  EXPECT_EQ(process->wait(), 0);
}

TEST_F(WsTest, UrlsNeedNoScheme) {
  const std::string place = url("/echo").substr(std::string("ws://").size());
  const std::string port = place.substr(place.find(':'));
  for (const std::string& address : {place, "http://" + place, port}) {
    Process process({"ws", address, "-m", "hello", "-n", "1"});
    EXPECT_EQ(process.output(), "hello\n") << address;
    EXPECT_EQ(process.wait(), 0) << address;
  }
}

// The first answer comes once the command has sent all it has; each later one after that.
TEST_F(WsTest, LateAnswersAreWaitedFor) {
  const auto process = start("/late", {"-m", "go", "-w", "60"}, With::Output);
  EXPECT_EQ(process->output(), "1\n2\n3\n");
  EXPECT_EQ(process->wait(), 0);
}

TEST_F(WsTest, ListeningSendsTheMessagesOfTheCommandLine) {
  const auto process = start("/echo", {"-m", "subscribe", "-l"}, With::Output);
  EXPECT_EQ(process->line(), "subscribe");
  process->signal(SIGTERM);
  EXPECT_EQ(process->wait(), 128 + SIGTERM);
}

// A server that answers the handshake, and nothing after that.
TEST(WsDead, APeerThatIsGoneIsAFailure) {
  const BluntServer server([](std::string_view received) -> BluntServer::Answer {
    constexpr std::string_view name = "Sec-WebSocket-Key: ";
    const std::size_t at = received.find(name);
    if (at == received.npos || !received.ends_with("\r\n\r\n")) return {};
    const std::size_t begin = at + name.size();
    const std::string key(received.substr(begin, received.find("\r\n", begin) - begin));
    return {
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Accept: " +
        ws::accept_key(key) + "\r\n\r\n"};
  });
  Process process(
      {"ws", "127.0.0.1:" + std::to_string(server.port()), "-l", "--ping", "0.1", "--idle", "0.3"});
  EXPECT_NE(process.errors().find("has not answered for"), std::string::npos);
  EXPECT_EQ(process.wait(), 9);
}

TEST_F(WsTest, EndsAfterSoManyMessages) {
  const auto process = start("/ticks", {"-n", "2", "--listen"}, With::Output);
  EXPECT_EQ(process->output(), "1\n2\n");
  EXPECT_EQ(process->wait(), 0);
}

TEST_F(WsTest, FieldsAndCredentialsAreSent) {
  const auto process = start(
      "/say", {"-H", "X-Name: Ada L", "--auth", "ada:pw", "-s", "chat", "-n", "1"}, With::Output);
  EXPECT_EQ(process->output(), "Ada L Basic YWRhOnB3\n");
  EXPECT_EQ(process->wait(), 0);
}

TEST_F(WsTest, EveryEventIsALineOfJson) {
  const auto process = start("/ticks", {"--listen", "--json"}, With::Output);
  EXPECT_EQ(process->output(),
            "{\"event\":\"open\",\"subprotocol\":\"\",\"compressed\":false}\n"
            "{\"event\":\"message\",\"type\":\"text\",\"text\":\"1\"}\n"
            "{\"event\":\"message\",\"type\":\"text\",\"text\":\"2\"}\n"
            "{\"event\":\"message\",\"type\":\"text\",\"text\":\"3\"}\n"
            "{\"event\":\"message\",\"type\":\"binary\",\"base64\":\"AP8=\"}\n"
            "{\"event\":\"ping\",\"text\":\"p\"}\n"
            "{\"event\":\"close\",\"code\":1000,\"reason\":\"done\"}\n");
  EXPECT_EQ(process->wait(), 0);
}

TEST_F(WsTest, BinaryMessagesAreSent) {
  const auto process = start("/echo", {"--binary", "--json", "-m", "\xff"}, With::Output);
  process->line();
  EXPECT_EQ(process->line(), R"({"event":"message","type":"binary","base64":"/w=="})");
}

TEST_F(WsTest, WhatIsNoTextIsNotSentAsOne) {
  const auto process = start("/echo", {"-m", "\xff"}, With::Output);
  EXPECT_EQ(process->errors(), "skua: a message is not UTF-8: send it with --binary\n");
  EXPECT_EQ(process->wait(), 1);
}

TEST_F(WsTest, ABadEndIsSaidAndIsAFailure) {
  const auto process = start("/evil", {"--listen"}, With::Output);
  EXPECT_EQ(process->output(), "\x1b[2Jgone\xc2\x9b\n");  // pipes get the bytes unchanged
  EXPECT_EQ(process->errors(), "skua: " + url("/evil") + " was closed: 4000: no \\x1b[31mmore\n");
  EXPECT_EQ(process->wait(), 1);
}

TEST_F(WsTest, WhoCannotBeReachedIsNamed) {
  const auto refused = start("/nowhere", {"--listen"}, With::Output);
  EXPECT_TRUE(refused->errors().starts_with("skua: could not open a WebSocket at " +
                                            url("/nowhere") +
                                            ": the server answered 404 Not Found\n"));
  EXPECT_EQ(refused->wait(), 10);
  Process no_url({"ws", "ftp://x"});
  EXPECT_NE(no_url.errors().find("it has to begin with ws:// or wss://"), std::string::npos);
  EXPECT_EQ(no_url.wait(), 2);
  Process unknown({"ws", "ws://no-such-host.invalid/", "-l"});
  EXPECT_EQ(unknown.wait(), 6);
  Process nothing({"ws"});
  EXPECT_EQ(nothing.wait(), 2);
  Process bad_field({"ws", "ws://a/", "-H", "no colon"});
  EXPECT_EQ(bad_field.wait(), 2);
}

TEST_F(WsTest, HelpIsGiven) {
  Process help({"ws", "--help"});
  const std::string text = help.output();
  EXPECT_EQ(help.wait(), 0);
  EXPECT_TRUE(text.find("Usage: skua ws ") != text.npos) << text;
}

TEST_F(WsTest, ASignalClosesInOrder) {
  const auto process = start("/echo");
  process->write("x\n");
  EXPECT_EQ(process->line(), "x");
  process->signal(SIGTERM);
  EXPECT_EQ(process->wait(), 128 + SIGTERM);
}

TEST_F(WsTest, ATerminalIsTalkedWith) {
  setenv("TERM", "xterm", 1);
  const auto process = start("/echo", {}, With::Terminal);
  EXPECT_NE(process->errors_until("connected").find("/help lists commands"), std::string::npos);
  process->write("hello\n");
  EXPECT_NE(read_until(*process, "\x1b[32m< ").find("\x1b[32m< \x1b[0mhello"), std::string::npos);
  process->write("//slash\n");
  EXPECT_NE(read_until(*process, "\x1b[32m< ").find("\x1b[0m/slash"), std::string::npos);
  process->write("/binary ab\n");
  EXPECT_NE(read_until(*process, "\x1b[32m< ").find("binary, 2 bytes: 61 62"), std::string::npos);
  process->write("/ping p\n");
  EXPECT_NE(process->errors_until("pong").find("pong: p"), std::string::npos);
  process->write("/what\n");
  const std::string told = process->errors_until("//TEXT");
  EXPECT_NE(told.find("unknown command /what"), std::string::npos) << told;
  EXPECT_NE(told.find("/close [CODE [REASON]]"), std::string::npos) << told;
  process->write("/close 1 x\n");
  EXPECT_NE(process->errors_until("the code must be").find("1000 to 1014"), std::string::npos);
  process->write("/close 1000 bye\n");
  EXPECT_NE(process->errors_until("closed").find("closed 1000"), std::string::npos);
  EXPECT_EQ(process->wait(), 0);
}

TEST_F(WsTest, ATerminalIsNotCommanded) {
  const auto process = start("/evil", {"--color", "never"}, With::Terminal);
  const std::string shown = process->line();
  EXPECT_EQ(shown, "< \\x1b[2Jgone\\x9b\r");
}

}  // namespace
}  // namespace skua::test
