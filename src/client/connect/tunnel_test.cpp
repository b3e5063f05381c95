// SPDX-License-Identifier: MIT
// A tunnel over an in-memory stream: the test plays the proxy.
#include "client/connect/tunnel.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "loop/clock.hpp"
#include "skua/credentials.hpp"
#include "support/memory_stream.hpp"

namespace skua::client {
namespace {

constexpr const char* established = "HTTP/1.1 200 Connection established\r\n\r\n";
constexpr const char* asks_digest =
    "HTTP/1.1 407 Proxy Authentication Required\r\n"
    "Proxy-Authenticate: Basic realm=\"p\"\r\n"
    "Proxy-Authenticate: Digest realm=\"p\", nonce=\"n1\", algorithm=SHA-256, qop=\"auth\"\r\n"
    "Content-Length: 4\r\n\r\nnope";

class TunnelTest : public testing::Test {
 protected:
  ~TunnelTest() override { drop(); }

  void start(std::string_view proxy = "http://127.0.0.1:3128") {
    if (!access_) access_ = std::make_unique<ProxyAccess>(Proxy::parse(proxy).value());
    drop();
    auto stream = std::make_unique<net::MemoryStream>();
    wire_ = stream.get();
    is_destroyed_ = false;
    wire_->tell_destruction(is_destroyed_);
    tunnel_ = std::make_unique<Tunnel>(*loop_, std::move(stream), origin_, *access_);
    task_ = tunnel_->run("open a tunnel to example.com:443", 30s);
    loop_->post([this] { task_->start(nullptr, nullptr); });
    turn();
  }
  void drop() {
    task_.reset();
    outcome_.reset();
    tunnel_.reset();
    turn();
    EXPECT_TRUE(is_destroyed_);
  }
  void turn() {
    for (int i = 0; i < 4; ++i) {
      if (!is_destroyed_) wire_->pump();
      loop_->run_once(Duration(0));
    }
  }
  /// Returns what the client has sent since the last call.
  std::string request() { return wire_->take_output(); }
  void answer(std::string_view bytes) {
    wire_->feed(bytes);
    turn();
  }
  bool is_over() {
    if (!outcome_ && task_->is_done()) outcome_ = task_->result();
    EXPECT_TRUE(outcome_);
    return outcome_.has_value();
  }
  std::optional<Tunnel::End> end() {
    if (!is_over()) return std::nullopt;
    EXPECT_TRUE(*outcome_) << outcome_->error().text;
    return *outcome_ ? std::optional(**outcome_) : std::nullopt;
  }
  Problem problem() {
    if (!is_over()) return {};
    EXPECT_FALSE(*outcome_);
    return *outcome_ ? Problem() : outcome_->error();
  }
  /// Returns the text of the problem that an answer causes.
  std::string why(std::string_view bytes) {
    start();
    answer(bytes);
    return problem().text;
  }
  void expect_open() {
    EXPECT_EQ(end(), Tunnel::End::Open);
    EXPECT_FALSE(wire_->is_receiving());
    const std::unique_ptr<net::Stream> stream = tunnel_->take_stream();
    ASSERT_EQ(stream.get(), wire_);
    task_.reset();
    tunnel_.reset();
    stream->listen(nobody_);
    stream->close();
    wire_->pump();
    wire_ = nullptr;
  }

  struct Nobody final : net::StreamSink {
    void on_receive(std::span<char> /*bytes*/) override {}
    void on_receive_end(Error /*error*/) override {}
    void on_sent(std::size_t /*count*/) override {}
    void on_send_failed(Error /*error*/) override {}
    void on_closed() override {}
  };

  loop::ManualClock clock_;
  std::unique_ptr<loop::Loop> loop_ =
      *loop::Loop::create({.backend = BackendChoice::Poll, .clock = &clock_});
  Origin origin_{.host = "example.com", .port = 443, .is_secure = true};
  Nobody nobody_;
  std::unique_ptr<ProxyAccess> access_;
  net::MemoryStream* wire_ = nullptr;
  bool is_destroyed_ = true;
  std::unique_ptr<Tunnel> tunnel_;
  std::optional<Task<Result<Tunnel::End, Problem>>> task_;
  std::optional<Result<Tunnel::End, Problem>> outcome_;
};

TEST_F(TunnelTest, AsksForTheOrigin) {
  start();
  EXPECT_EQ(request(), "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n");
  answer(established);
  expect_open();
}

TEST_F(TunnelTest, AsksForAnyPortAndAddress) {
  origin_ = {.host = "::1", .port = 80};
  start();
  EXPECT_EQ(request(), "CONNECT [::1]:80 HTTP/1.1\r\nHost: [::1]:80\r\n\r\n");
}

// RFC 9110 §9.3.6: whatever these fields say.
TEST_F(TunnelTest, ASuccessHasNoContent) {
  start();
  answer("HTTP/1.1 100 Continue\r\n\r\n");
  answer("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n");
  expect_open();
  start();
  answer("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
  expect_open();
}

TEST_F(TunnelTest, SaysWhatTheProxyAnswered) {
  EXPECT_EQ(why("HTTP/1.1 403 No \x1b[31mway\r\nContent-Length: 100000000\r\n\r\n"),
            "could not open a tunnel to example.com:443: the start line is malformed");
  EXPECT_EQ(why("HTTP/1.1 403 No way\r\nContent-Length: 100000000\r\n\r\n"),
            "could not open a tunnel to example.com:443: it answered 403 Forbidden");
  EXPECT_EQ(problem().code(), Errc::ProxyRefused);
  EXPECT_EQ(why("HTTP/1.1 599 X\r\n\r\n"),
            "could not open a tunnel to example.com:443: it answered 599");
  EXPECT_EQ(why("HTTP/1.1 302 Found\r\nLocation: http://login/\r\n\r\n"),
            "could not open a tunnel to example.com:443: it answered 302 Found");
  EXPECT_EQ(why("SSH-2.0-OpenSSH_9.2\r\n"),
            "could not open a tunnel to example.com:443: the start line is malformed");
  EXPECT_EQ(
      why("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"),
      "could not open a tunnel to example.com:443: the server switched to a protocol that was "
      "not asked for");
}

TEST_F(TunnelTest, BytesBehindTheAnswerBelongToNobody) {
  EXPECT_EQ(why(std::string(established) + "x"),
            "could not open a tunnel to example.com:443: it sent more than an answer");
  EXPECT_EQ(problem().code(), Errc::ProxyRefused);
}

TEST_F(TunnelTest, SaysHowTheConnectionEnded) {
  start();
  wire_->finish();
  turn();
  EXPECT_EQ(problem().text,
            "could not open a tunnel to example.com:443: it closed the connection without an "
            "answer");
  EXPECT_EQ(problem().code(), Errc::Closed);
  start();
  wire_->feed("HTTP/1.1 200 ");
  wire_->finish();
  turn();
  EXPECT_EQ(problem().text,
            "could not open a tunnel to example.com:443: it closed the connection in the middle of "
            "its answer");
  start();
  wire_->finish(Errc::Reset);
  turn();
  EXPECT_EQ(problem().code(), Errc::Reset);
}

TEST_F(TunnelTest, HasALimit) {
  start();
  clock_.advance(29s);
  turn();
  answer("HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_FALSE(task_->is_done());
  clock_.advance(1001ms);
  turn();
  EXPECT_EQ(
      problem().text,
      "could not open a tunnel to example.com:443: no answer within 30 s (ClientTimeouts::head)");
  EXPECT_EQ(problem().code(), Errc::TimedOut);
}

TEST_F(TunnelTest, AnAnswerHasABound) {
  start();
  const std::string line = "X: " + std::string(10000, 'x') + "\r\n";
  wire_->feed("HTTP/1.1 200 OK\r\n");
  for (int i = 0; i < 10; ++i) wire_->feed(line);
  turn();
  EXPECT_EQ(problem().code(), Errc::HeadTooLong);
  start();
  for (int i = 0; i < 100; ++i) wire_->feed("HTTP/1.1 102 Processing\r\n\r\n");
  turn();
  EXPECT_EQ(problem().code(), Errc::TooManyInterimResponses);
}

TEST_F(TunnelTest, DroppedItCloses) {
  start();
  EXPECT_FALSE(wire_->is_closed());
  task_.reset();
  tunnel_.reset();
  EXPECT_TRUE(wire_->is_closed());
  turn();
  EXPECT_TRUE(is_destroyed_);
}

TEST_F(TunnelTest, TellsWhoAsksFromTheStart) {
  start("http://user:secret@127.0.0.1:3128");
  EXPECT_EQ(request(),
            "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n"
            "Proxy-Authorization: Basic dXNlcjpzZWNyZXQ=\r\n\r\n");
  answer(established);
  expect_open();
}

TEST_F(TunnelTest, SaysThatItIsNotLetIn) {
  EXPECT_EQ(why(asks_digest),
            "could not open a tunnel to example.com:443: it answered 407 Proxy Authentication "
            "Required, and no name and password are set for it");
  access_.reset();
  start("http://user:secret@127.0.0.1:3128");
  answer("HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=\"p\"\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(problem().text,
            "could not open a tunnel to example.com:443: it answered 407 Proxy Authentication "
            "Required");
  EXPECT_EQ(problem().code(), Errc::ProxyRefused);
  start();
  answer("HTTP/1.1 407 No\r\nProxy-Authenticate: Negotiate\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(problem().code(), Errc::ProxyRefused);
}

class DigestTunnel : public TunnelTest {
 protected:
  void SetUp() override {
    if (!digest_secret(DigestAlgorithm::Sha256, "a", "b", "c")) GTEST_SKIP() << "no OpenSSL";
    start("http://user:secret@127.0.0.1:3128");
    request();
  }
  /// Expects that the last request proves the password, with this nonce and count.
  void expect_digest(const std::string& nonce, std::uint32_t count) {
    const std::string asked = request();
    EXPECT_TRUE(asked.starts_with("CONNECT example.com:443 HTTP/1.1\r\n")) << asked;
    constexpr std::string_view name = "Proxy-Authorization: ";
    const std::size_t begin = asked.find(name);
    ASSERT_NE(begin, std::string::npos) << asked;
    const std::size_t end = asked.find("\r\n", begin);
    const auto field =
        parse_credentials(asked.substr(begin + name.size(), end - begin - name.size()));
    ASSERT_TRUE(field);
    const auto digest = DigestCredentials::from(*field);
    ASSERT_TRUE(digest) << asked;
    EXPECT_EQ(digest->uri, "example.com:443");
    EXPECT_EQ(digest->nonce, nonce);
    EXPECT_EQ(digest->nonce_count, count);
    const auto secret = digest_secret(digest->algorithm, "user", "p", "secret");
    EXPECT_EQ(digest->response, digest->compute(*secret, "CONNECT").value());
  }
};

TEST_F(DigestTunnel, AnswersOnTheSameConnection) {
  answer(asks_digest);
  expect_digest("n1", 1);
  answer(established);
  expect_open();
  start();  // the next tunnel reuses the challenge
  expect_digest("n1", 2);
}

TEST_F(DigestTunnel, AnswersMayComeByteByByteAndRequestsGoSo) {
  for (const auto style :
       {net::MemoryStream::SendStyle::Readiness, net::MemoryStream::SendStyle::Completion}) {
    access_.reset();
    start("http://user:secret@127.0.0.1:3128");
    request();
    wire_->take_at_most(1, style);
    wire_->feed(asks_digest, 1);
    turn();
    expect_digest("n1", 1);
    wire_->feed(established, 1);
    turn();
    expect_open();
  }
}

TEST_F(DigestTunnel, AnswersOnANewConnectionWhereThisOneEnds) {
  for (const char* const last : {"Connection: close\r\nContent-Length: 4\r\n\r\n", "\r\n",
                                 "Content-Length: 100000\r\n\r\n"}) {
    access_.reset();
    start("http://user:secret@127.0.0.1:3128");
    answer(std::string("HTTP/1.1 407 No\r\nProxy-Authenticate: Digest realm=\"p\", nonce=\"n\", "
                       "algorithm=SHA-256, qop=\"auth\"\r\n") +
           last + std::string(70000, 'x'));
    EXPECT_EQ(end(), Tunnel::End::NewConnection) << last;
    start();
    expect_digest("n", 1);
    answer(established);
    expect_open();
  }
}

TEST_F(DigestTunnel, AConnectionThatEndsBetweenBothIsReplaced) {
  wire_->feed(asks_digest);
  wire_->finish();
  turn();
  EXPECT_EQ(end(), Tunnel::End::NewConnection);
  for (int i = 0; i < 2; ++i) {
    start();
    wire_->feed(std::string_view(asks_digest).substr(0, std::string_view(asks_digest).size() - 2));
    wire_->finish(Errc::Reset);
    turn();
    // The first nonce may have expired; the answer to the next one was wrong.
    if (i == 0) {
      EXPECT_EQ(end(), Tunnel::End::NewConnection);
    }
  }
  EXPECT_EQ(problem().code(), Errc::ProxyRefused);
}

TEST_F(DigestTunnel, AWrongPasswordIsToldOnce) {
  answer(asks_digest);
  expect_digest("n1", 1);
  answer(asks_digest);
  EXPECT_EQ(problem().code(), Errc::ProxyRefused);
}

TEST_F(DigestTunnel, AnOldNonceIsReplaced) {
  answer(asks_digest);
  expect_digest("n1", 1);
  answer(
      "HTTP/1.1 407 No\r\nProxy-Authenticate: Digest realm=\"p\", nonce=\"n2\", stale=true, "
      "algorithm=SHA-256, qop=\"auth\"\r\nContent-Length: 0\r\n\r\n");
  expect_digest("n2", 1);
  answer("HTTP/1.1 200 OK\r\nProxy-Authentication-Info: nextnonce=\"n3\"\r\n\r\n");
  expect_open();
  start();
  expect_digest("n3", 1);
}

TEST_F(DigestTunnel, ANonceThatIsOverIsReplacedWhateverItIsCalled) {
  answer(asks_digest);
  expect_digest("n1", 1);
  answer(established);
  expect_open();
  start();
  expect_digest("n1", 2);
  answer(
      "HTTP/1.1 407 No\r\nProxy-Authenticate: Digest realm=\"p\", nonce=\"n2\", "
      "algorithm=SHA-256, qop=\"auth\"\r\nContent-Length: 0\r\n\r\n");
  expect_digest("n2", 1);
  answer(established);
  expect_open();
}

TEST_F(DigestTunnel, AProxyThatIsNeverContentIsGivenUp) {
  answer(asks_digest);
  for (int i = 0; i < 2 && !task_->is_done(); ++i) {
    request();
    answer(
        "HTTP/1.1 407 No\r\nProxy-Authenticate: Digest realm=\"p\", nonce=\"n\", stale=true, "
        "algorithm=SHA-256, qop=\"auth\"\r\nContent-Length: 0\r\n\r\n");
  }
  EXPECT_EQ(problem().text,
            "could not open a tunnel to example.com:443: it answered 407 Proxy Authentication "
            "Required");
}

}  // namespace
}  // namespace skua::client
