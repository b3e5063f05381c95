// SPDX-License-Identifier: MIT
#include "net/tcp_stream.hpp"

#include <memory>

#include <gtest/gtest.h>

#include "support/recording_sink.hpp"

namespace skua::net {
namespace {

/// Owns its stream, like a connection.
struct Owner final : RecordingSink {
  Owner(loop::Backend& backend, Socket socket)
      : stream(std::make_unique<TcpStream>(backend, std::move(socket))) {
    stream->listen(*this);
  }
  void on_closed() override {
    ++closed;
    stream.reset();
  }
  std::unique_ptr<TcpStream> stream;
};

TEST(TcpStream, CarriesBytesAndKnowsItsAddresses) {
  const auto backend = *loop::Backend::create(BackendChoice::Auto);
  const Socket listening = *create_listener(*Address::parse("127.0.0.1:0"));
  const Address address = local_address(listening.descriptor());
  auto client = TcpSocket::connect_to(address, 10s).value();
  Owner owner(*backend, Socket(bsd::accept_one(listening.descriptor())));
  EXPECT_EQ(owner.stream->local(), address);
  EXPECT_EQ(owner.stream->peer(), local_address(client.descriptor()));

  owner.stream->start_receive();
  ASSERT_EQ(bsd::send(client.descriptor(), "ping", 4, 0), 4);
  while (owner.received.empty()) backend->turn(Duration(-1));
  EXPECT_EQ(owner.received, "ping|");
  EXPECT_EQ(send_text(*owner.stream, "pong"), 4U);
  owner.stream->shutdown_write();
  std::string got(4, '\0');
  EXPECT_TRUE(client.receive_all(got, 10s));
  EXPECT_EQ(got, "pong");
  EXPECT_EQ(client.receive(got, 10s).error().code(), Errc::Closed);
  client.close();
  while (!owner.receive_end) backend->turn(Duration(-1));
  owner.stream->close();
  while (owner.closed == 0) backend->turn(Duration(-1));
  EXPECT_EQ(owner.stream, nullptr);
}

TEST(TcpStream, IsSmall) { EXPECT_LE(sizeof(TcpStream), 64U); }

}  // namespace
}  // namespace skua::net
