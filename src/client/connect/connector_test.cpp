// SPDX-License-Identifier: MIT
// Connections over real sockets, on every back end that this machine has.
#include "client/connect/connector.hpp"

#include "support/connector_fixture.hpp"
#include "support/temporary_directory.hpp"

namespace skua::client {
namespace {

INSTANTIATE_TEST_SUITE_P(Every, ConnectorTest, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

TEST(Origin, SaysWhereItIs) {
  EXPECT_EQ((Origin{.host = "example.com", .port = 443}).to_string(), "example.com:443");
  EXPECT_EQ((Origin{.host = "::1", .port = 80}).to_string(), "[::1]:80");
  EXPECT_EQ((Origin{.host = "[::1]", .port = 80}).to_string(), "[::1]:80");
  EXPECT_EQ((Origin{.host = "x", .unix_path = "/run/x"}).to_string(), "unix:/run/x");
}

TEST_P(ConnectorTest, ConnectsByNameAndByNumber) {
  for (const char* const host : {"example.com", "127.0.0.1", "localhost"}) {
    origin_.host = host;
    auto outcome = connected();
    ASSERT_TRUE(outcome) << outcome.error().text;
    EXPECT_FALSE((*outcome)->is_secure());
    EXPECT_EQ((*outcome)->peer().port(), origin_.port);
    expect_echo(*std::move(outcome), accepted());
  }
}

TEST_P(ConnectorTest, SaysThatItWasRefused) {
  listener_.close();
  const Problem refused = problem();
  EXPECT_EQ(refused.error.code(), Errc::Refused);
  EXPECT_EQ(refused.text, "could not connect to example.com:" + std::to_string(origin_.port) +
                              ": the connection was refused");
}

TEST_P(ConnectorTest, FindsTheOnlyAddressThatAnswers) {
  // Nothing listens on the others.
  found_ = {*Address::parse("127.0.0.2", 0), *Address::parse("127.0.0.3", 0),
            *Address::parse("127.0.0.1", 0)};
  auto outcome = connected();
  ASSERT_TRUE(outcome) << outcome.error().text;
  expect_echo(*std::move(outcome), accepted());
}

TEST_P(ConnectorTest, ASlowAddressLosesToTheNext) {
  found_ = {*Address::parse("192.0.2.1", 0), *Address::parse("127.0.0.1", 0)};
  use(hanging());
  Connecting task = started();
  turn_until([this] { return hanging_ != nullptr; });
  EXPECT_FALSE(task.is_done());
  advance(260ms);
  auto outcome = finished(task);
  ASSERT_TRUE(outcome) << outcome.error().text;
  EXPECT_TRUE(hanging_->is_closed());
  hanging_->pump();
  expect_echo(*std::move(outcome), accepted());
}

TEST_P(ConnectorTest, EveryPhaseHasItsLimit) {
  std::promise<void> gate;
  gate_ = gate.get_future().share();
  Connecting resolving = started();
  advance(5100ms);
  ASSERT_TRUE(resolving.is_done());
  const auto no_name = resolving.result();
  ASSERT_FALSE(no_name);
  EXPECT_EQ(no_name.error().text,
            "could not resolve example.com: no answer within 5 s (ClientTimeouts::resolve)");
  gate.set_value();

  use(hanging());
  origin_.host = "192.0.2.1";
  Connecting connecting = started();
  turn_until([this] { return hanging_ != nullptr; });
  advance(10'100ms);
  ASSERT_TRUE(connecting.is_done());
  const auto no_connection = connecting.result();
  ASSERT_FALSE(no_connection);
  EXPECT_EQ(no_connection.error().code(), Errc::TimedOut);
  EXPECT_EQ(no_connection.error().text,
            "could not connect to 192.0.2.1:" + std::to_string(origin_.port) +
                ": no answer within 10 s (ClientTimeouts::connect)");
  EXPECT_TRUE(hanging_->is_closed());
  hanging_->pump();
}

TEST_P(ConnectorTest, ConnectsToAUnixSocket) {
  const support::TemporaryDirectory folder;
  origin_.unix_path = (folder.path() / "socket").string();
  EXPECT_EQ(problem().error.code(), Errc::NotFound);
  listen(*Address::unix_path(origin_.unix_path));
  auto outcome = connected();
  ASSERT_TRUE(outcome) << outcome.error().text;
  expect_echo(*std::move(outcome), accepted());
  origin_.unix_path.assign(200, 'x');
  EXPECT_EQ(problem().error.code(), Errc::InvalidAddress);
}

TEST_P(ConnectorTest, DroppedWhileItResolves) {
  std::promise<void> gate;
  gate_ = gate.get_future().share();
  {
    const Connecting task = started();
  }
  gate.set_value();
  settle();
}

TEST_P(ConnectorTest, DroppedWhileItConnectsItClosesAllAttempts) {
  use(hanging());
  origin_.host = "192.0.2.1";
  {
    const Connecting task = started();
    turn_until([this] { return hanging_ != nullptr; });
    EXPECT_FALSE(hanging_->is_closed());
  }
  EXPECT_TRUE(hanging_->is_closed());
  hanging_->pump();
}

// However far it got, it leaves nothing behind, and a server that it reached sees the close.
TEST_P(ConnectorTest, DroppedAfterAnyTurn) {
  if (crypto_is_there()) use_tls();
  origin_.host = "127.0.0.1";
  for (int turns = 0; turns < 12; ++turns) {
    {
      Connecting task = started();
      for (int i = 0; i < turns && !task.is_done(); ++i) loop_->run_once(10ms);
      if (task.is_done()) {
        auto outcome = task.result();
        ASSERT_TRUE(outcome) << outcome.error().text;
        net::close_detached(*std::move(outcome));
      }
    }
    settle();
    if (has_caller()) expect_closed(accepted());
  }
}

}  // namespace
}  // namespace skua::client
