// SPDX-License-Identifier: MIT
#include "sockets/proxied_stream.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/close_detached.hpp"
#include "support/memory_stream.hpp"
#include "support/recording_sink.hpp"

namespace skua::sockets {
namespace {

using net::MemoryStream;

constexpr std::string_view header = "PROXY TCP4 192.0.2.1 198.51.100.2 50123 443\r\n";

std::string header_and(std::string_view rest) { return std::string(header).append(rest); }

class Sink final : public net::RecordingSink {
 public:
  void on_established() override {
    ++established;
    if (closes != nullptr) closes->close();
  }
  int established = 0;
  net::Stream* closes = nullptr;
};

struct Owner final : ProxiedStreamOwner {
  void on_bad_proxy_header(Error why, const Address&) noexcept override {
    contexts.emplace_back(why.context());
  }
  std::vector<std::string> contexts{};
};

class ProxiedStreams : public ::testing::Test {
 protected:
  ProxiedStreams() {
    auto made = std::make_unique<MemoryStream>();
    inner_ = made.get();
    stream_ = std::make_unique<ProxiedStream>(std::move(made), owner_);
    stream_->listen(sink_);
    stream_->start_receive();
  }
  [[nodiscard]] std::string received() const {
    std::string all;
    for (const char c : sink_.received) {
      if (c != '|') all += c;
    }
    return all;
  }

  Owner owner_;
  Sink sink_;
  MemoryStream* inner_ = nullptr;
  std::unique_ptr<ProxiedStream> stream_;
};

TEST_F(ProxiedStreams, PassOnWhatFollowsTheHeaderWhateverThePieces) {
  const std::string all = header_and("GET / HTTP/1.1\r\n");
  for (std::size_t split = 1; split < all.size(); ++split) {
    Sink sink;
    Owner owner;
    auto made = std::make_unique<MemoryStream>();
    MemoryStream& inner = *made;
    ProxiedStream stream(std::move(made), owner);
    stream.listen(sink);
    stream.start_receive();
    EXPECT_FALSE(stream.is_established() || stream.is_handshaking());
    inner.feed(all.substr(0, split));
    inner.pump();
    EXPECT_EQ(stream.is_established(), split >= header.size());
    EXPECT_EQ(stream.is_handshaking(), split < header.size());
    inner.feed(all.substr(split));
    inner.pump();
    EXPECT_EQ(sink.established, 1);
    std::string got;
    for (const char c : sink.received) got += c == '|' ? std::string() : std::string(1, c);
    EXPECT_EQ(got, "GET / HTTP/1.1\r\n") << split;
    EXPECT_EQ(stream.peer().to_string(), "192.0.2.1:50123");
    EXPECT_EQ(stream.local().to_string(), "198.51.100.2:443");
    stream.close();
    inner.pump();
    EXPECT_EQ(sink.closed, 1);
  }
}

TEST_F(ProxiedStreams, TakeAHeaderByteByByte) {
  inner_->feed(header_and("abc"), 1);
  inner_->pump();
  EXPECT_EQ(sink_.received, "a|b|c|");
  EXPECT_EQ(sink_.established, 1);
  EXPECT_TRUE(owner_.contexts.empty());
}

TEST_F(ProxiedStreams, PassOnARestInOnePieceWithoutTheHeader) {
  inner_->feed(header_and("abc"));
  inner_->pump();
  EXPECT_EQ(sink_.received, "abc|");
}

TEST_F(ProxiedStreams, TakeOnlyOneHeader) {
  inner_->feed(std::string(header) + std::string(header));
  inner_->pump();
  EXPECT_EQ(received(), header);
}

TEST_F(ProxiedStreams, KeepTheirOwnAddressesIfTheHeaderNamesNone) {
  inner_->feed("PROXY UNKNOWN\r\nabc");
  inner_->pump();
  EXPECT_EQ(sink_.received, "abc|");
  EXPECT_TRUE(stream_->is_established());
  EXPECT_EQ(stream_->peer(), inner_->peer());
  EXPECT_EQ(stream_->local(), inner_->local());
}

TEST_F(ProxiedStreams, EndAtAMalformedHeaderOnce) {
  inner_->feed("GET / HTTP/1.1\r\n");
  inner_->feed("more");
  inner_->finish();
  inner_->pump();
  EXPECT_EQ(sink_.receive_end, Errc::MalformedProxyHeader);
  EXPECT_EQ(sink_.received, "");
  EXPECT_EQ(sink_.established, 0);
  EXPECT_EQ(owner_.contexts, std::vector<std::string>{"the beginning"});
  EXPECT_FALSE(stream_->is_established() || stream_->is_handshaking());
}

TEST_F(ProxiedStreams, EndInTheMiddleOfAHeader) {
  inner_->feed(header.substr(0, 20));
  inner_->finish();
  inner_->pump();
  EXPECT_EQ(sink_.receive_end, Errc::MalformedProxyHeader);
  EXPECT_EQ(owner_.contexts, std::vector<std::string>{"the end"});
}

TEST_F(ProxiedStreams, EndQuietlyBeforeTheFirstByte) {
  inner_->finish();
  inner_->pump();
  EXPECT_EQ(sink_.receive_end, Errc::None);
  EXPECT_TRUE(owner_.contexts.empty()) << "a health check";
}

TEST_F(ProxiedStreams, ReportAResetAsSuch) {
  inner_->feed(header.substr(0, 20));
  inner_->finish(Errc::Reset);
  inner_->pump();
  EXPECT_EQ(sink_.receive_end, Errc::Reset);
  EXPECT_TRUE(owner_.contexts.empty());
}

TEST_F(ProxiedStreams, PassOnTheEnd) {
  inner_->feed(header);
  inner_->finish();
  inner_->pump();
  EXPECT_EQ(sink_.established, 1);
  EXPECT_EQ(sink_.received, "");
  EXPECT_EQ(sink_.receive_end, Errc::None);
}

TEST_F(ProxiedStreams, MayBeClosedAtTheEndOfTheHeader) {
  sink_.closes = stream_.get();
  inner_->feed(header_and("abc"));
  inner_->pump();
  EXPECT_EQ(sink_.received, "");
  EXPECT_EQ(sink_.closed, 1);
}

TEST_F(ProxiedStreams, AreDestroyedWithTheirSocketIfNobodyUsesThem) {
  bool is_destroyed = false;
  inner_->tell_destruction(is_destroyed);
  inner_->feed(header.substr(0, 20));
  inner_->pump();
  MemoryStream& inner = *inner_;
  net::close_detached(std::move(stream_));
  inner.pump_once();
  EXPECT_TRUE(is_destroyed);
}

TEST_F(ProxiedStreams, PassOnWhatIsSent) {
  inner_->feed(header);
  inner_->pump();
  inner_->take_at_most(2, MemoryStream::SendStyle::Completion);
  EXPECT_EQ(net::send_text(*stream_, "hello"), 2U);
  inner_->pump();
  EXPECT_EQ(sink_.sent, 2U);
  EXPECT_EQ(inner_->output(), "hell");
  inner_->fail_send(Errc::Reset);
  EXPECT_EQ(net::send_text(*stream_, "o"), 0U);
  inner_->pump();
  EXPECT_EQ(sink_.send_failure, Errc::Reset);
}

TEST_F(ProxiedStreams, KnowWhetherTheClientUsesTls) {
  std::string binary("\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x14", 16);
  binary += std::string("\xc0\0\2\1\xc6\x33\x64\2\xc3\xcb\1\xbb", 12);
  binary += std::string("\x20\0\5\1\0\0\0\0", 8);
  inner_->feed(binary + "abc");
  inner_->pump();
  EXPECT_TRUE(stream_->is_client_secure());
  EXPECT_FALSE(stream_->is_secure()) << "the connection itself is in clear text";
  EXPECT_EQ(stream_->peer().to_string(), "192.0.2.1:50123");
  EXPECT_EQ(received(), "abc");
}

}  // namespace
}  // namespace skua::sockets
