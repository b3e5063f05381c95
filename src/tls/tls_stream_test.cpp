// SPDX-License-Identifier: MIT
// The stream's contract: which callbacks come, when and how often, however bytes are split.
#include "tls/tls_stream.hpp"

#include <cstdio>

#include "support/tls_pair.hpp"

namespace skua::tls {
namespace {

using Style = net::MemoryStream::SendStyle;

std::string pattern(std::size_t size_bytes) {
  std::string text(size_bytes, '\0');
  for (std::size_t i = 0; i < size_bytes; ++i) text[i] = static_cast<char>('a' + i * 31 % 26);
  return text;
}

class Stream : public TlsVersionsTest {};
INSTANTIATE_TEST_SUITE_P(Versions, Stream, testing::Values(TlsVersion::Tls12, TlsVersion::Tls13),
                         version_name);

TEST_P(Stream, CarriesBytesBothWaysInWhateverPieces) {
  const std::string up = pattern(70'000);
  const std::string down = pattern(50'001);
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{1400}, 100_KiB}) {
    for (const bool is_random : {false, true}) {
      const auto both = pair();
      both->piece_bytes = piece;
      both->is_random = is_random;
      both->client.send(up);
      both->server.send(down);
      both->start();
      EXPECT_EQ(both->server.received, up);
      EXPECT_EQ(both->client.received, down);
      EXPECT_TRUE(both->client.is_all_sent());
      EXPECT_TRUE(both->server.is_all_sent());
    }
  }
}

TEST_P(Stream, CarriesMuchThroughStreamsThatTakeLittle) {
  const std::string much = pattern(3_MiB);
  for (const Style style : {Style::Readiness, Style::Completion}) {
    for (const std::size_t most : {std::size_t{1500}, std::size_t{65'536}, 1_MiB}) {
      for (const bool tries_first : {false, true}) {
        const auto both = pair();
        both->server.wire->take_at_most(most, style);
        both->client.wire->take_at_most(most, style);
        both->server.tries_first = both->client.tries_first = tries_first;
        both->client.send(much);
        both->server.send(much);
        both->client.finish();
        both->server.finish();
        both->start();
        EXPECT_TRUE(both->server.received == much);
        EXPECT_TRUE(both->client.received == much);
        EXPECT_EQ(both->server.receive_end.value_or(Errc::Reset).code(), Errc::None);
        EXPECT_EQ(both->client.receive_end.value_or(Errc::Reset).code(), Errc::None);
      }
    }
  }
}

TEST_P(Stream, ATryTakesWhatItEncryptsAndHoldsWhatIsNotTaken) {
  const std::string much = pattern(1_MiB);
  const net::Slice slice{much.data(), much.size()};
  const auto both = started();
  both->server.wire->take_at_most(20'000);
  const net::Sent sent = both->server.stream->try_send({&slice, 1});
  EXPECT_TRUE(sent.is_pending);
  EXPECT_GE(sent.bytes, 16'384U);
  EXPECT_LE(sent.bytes, 64_KiB) << "no more is held than a burst";
  EXPECT_EQ(both->server.stream->try_send({&slice, 1}).bytes, 0U);
}

TEST_P(Stream, ATryTakesNothingBeforeTheHandshake) {
  const auto both = pair();
  const net::Slice slice{"early", 5};
  EXPECT_EQ(both->client.stream->try_send({&slice, 1}).bytes, 0U);
  both->start();
  EXPECT_EQ(both->client.stream->try_send({&slice, 1}).bytes, 5U);
  both->run();
  EXPECT_EQ(both->server.received, "early");
}

TEST_P(Stream, TakesOneByteAtATime) {
  for (const Style style : {Style::Readiness, Style::Completion}) {
    const auto both = pair();
    both->server.wire->take_at_most(1, style);
    both->client.wire->take_at_most(1, style);
    both->client.send("question");
    both->server.send("answer");
    both->start();
    EXPECT_EQ(both->server.received, "question");
    EXPECT_EQ(both->client.received, "answer");
  }
}

TEST_P(Stream, PutsSmallSlicesIntoOneRecord) {
  const auto both = started();
  both->server.wire->take_output();
  const std::string small(100, 'x');
  const std::string large(20'000, 'y');
  const std::vector<net::Slice> slices{{small.data(), 100},
                                       {small.data(), 0},
                                       {small.data(), 50},
                                       {large.data(), 20'000},
                                       {small.data(), 1}};
  const std::size_t sends = both->server.wire->send_count();
  EXPECT_EQ(both->server.stream->send(slices), 20'151U);
  EXPECT_EQ(both->server.wire->send_count(), sends + 1);
  EXPECT_LE(both->server.wire->output().size(), 20'151U + 2 * 29);  // two records
  both->run();
  EXPECT_TRUE(both->client.received == small + small.substr(0, 50) + large + "x");
  EXPECT_EQ(both->server.stream->send({}), 0U);
}

TEST_P(Stream, StopsHandingOverWhenToldSo) {
  const std::string much = pattern(300'000);
  const auto both = started();
  both->client.send(much);
  both->server.pauses_after_bytes = 1;
  std::size_t before = 0;
  int pauses = 0;
  while (both->server.received.size() < much.size()) {
    both->run();
    ASSERT_GT(both->server.received.size(), before);
    ASSERT_LE(both->server.received.size(), before + Engine::record_bytes);
    before = both->server.received.size();
    ++pauses;
    EXPECT_FALSE(both->server.wire->is_receiving());
    both->run();
    ASSERT_EQ(both->server.received.size(), before);
    both->server.receive();
  }
  EXPECT_GE(pauses, 300'000 / 16'384);
  EXPECT_TRUE(both->server.received == much);
}

TEST_P(Stream, KeepsTheEndForWhoPauses) {
  const auto both = started();
  both->server.pauses_after_bytes = 1;
  both->client.send(std::string(40'000, 'z'));
  both->client.finish();
  for (int i = 0; i < 3; ++i) {
    both->run();
    EXPECT_FALSE(both->server.receive_end);
    both->server.receive();
  }
  both->run();
  EXPECT_EQ(both->server.received.size(), 40'000U);
  ASSERT_TRUE(both->server.receive_end);
  EXPECT_EQ(both->server.end(), Errc::None);
}

TEST_P(Stream, EndsEachSideByItself) {
  const auto both = started();
  both->client.send("last words");
  both->client.finish();
  both->run();
  EXPECT_EQ(both->server.received, "last words");
  ASSERT_TRUE(both->server.receive_end);
  EXPECT_EQ(both->server.end(), Errc::None);
  EXPECT_FALSE(both->client.receive_end);
  both->server.send("and mine");
  both->server.finish();
  both->run();
  EXPECT_EQ(both->client.received, "and mine");
  ASSERT_TRUE(both->client.receive_end);
  EXPECT_EQ(both->client.end(), Errc::None);
}

TEST_P(Stream, AnEndWithoutCloseNotifyIsATruncation) {
  const auto both = started();
  both->client.send("half of");
  both->run();
  both->server.wire->finish();
  both->run();
  EXPECT_EQ(both->server.received, "half of");
  EXPECT_EQ(both->server.end(), Errc::TlsTruncated);
  const auto reset = started();
  reset->server.wire->finish(Errc::Reset);
  reset->run();
  EXPECT_EQ(reset->server.end(), Errc::Reset);
}

// A truncated response must not look complete to a client that waits for the end.
TEST_P(Stream, CloseAloneSaysNoCloseNotify) {
  const auto both = started();
  both->server.send("half of");
  both->server.wire->take_output();
  both->server.close();
  EXPECT_EQ(both->server.wire->output(), "");
}

TEST_P(Stream, TheHandshakeSurvivesEveryPieceAndEndsAtEveryPoint) {
  const auto whole = started();
  const std::size_t size = whole->carried_to_server.size();
  ASSERT_GT(size, 200U);
  for (std::size_t cut = 0; cut < size; cut += 11) {
    const auto both = pair();
    both->server.receive();
    both->client.receive();
    both->is_cut = true;
    both->run();
    const std::string hello = both->carried_to_server;
    if (cut >= hello.size()) break;
    both->server.wire->feed(std::string_view(hello).substr(0, cut), 3);
    both->server.wire->finish();
    both->run();
    EXPECT_EQ(both->server.established, 0);
    EXPECT_EQ(both->server.end(), Errc::TlsHandshakeFailed);
    EXPECT_EQ(both->server.receive_end->context(), "the peer closed");
  }
}

TEST_P(Stream, ASendBeforeTheHandshakeFailsWithIt) {
  client_options.authorities = authorities().other_root.certificate;
  const auto both = pair();
  both->client.send("hello");
  both->start();
  ASSERT_TRUE(both->client.send_failure);
  EXPECT_EQ(both->client.send_failure->code(), Errc::TlsCertificate);
  EXPECT_EQ(both->client.end(), Errc::TlsCertificate);
  EXPECT_EQ(both->server.received, "");
}

TEST_P(Stream, SendsRangesOfFiles) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), std::fclose);
  const std::string content = pattern(200'000);
  std::fwrite(content.data(), 1, content.size(), file.get());
  std::fflush(file.get());
  const auto both = started();
  EXPECT_EQ(both->server.stream->send_file(::fileno(file.get()), 100, 150'000), 150'000U);
  both->run();
  EXPECT_TRUE(both->client.received == content.substr(100, 150'000));
}

TEST_P(Stream, AFileThatIsTooShortIsAFailedSend) {
  struct Sink final : net::StreamSink {
    void on_receive(std::span<char>) override {}
    void on_receive_end(Error) override {}
    void on_sent(std::size_t) override {}
    void on_send_failed(Error error) override { failure = error.code(); }
    void on_closed() override {}
    std::optional<Errc> failure;
  } sink;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), std::fclose);
  std::fputs("0123456789", file.get());
  std::fflush(file.get());
  const auto both = started();
  both->server.stream->listen(sink);
  EXPECT_LT(both->server.stream->send_file(::fileno(file.get()), 5, 100), 100U);
  EXPECT_FALSE(sink.failure);
  both->run();
  EXPECT_EQ(sink.failure, Errc::TruncatedBody);
  both->server.stream->listen(both->server);
}

TEST_P(Stream, RefusesGarbage) {
  std::minstd_rand random(7);
  for (int round = 0; round < 200; ++round) {
    const auto both = pair();
    both->is_cut = true;
    std::string garbage(1 + random() % 300, '\0');
    for (char& octet : garbage) octet = static_cast<char>(random());
    if (round % 2 == 0) garbage.insert(0, std::string("\x16\x03\x01\x00\xf0\x01\x00\x00\xec", 9));
    both->server.wire->feed(garbage, 1 + random() % 50);
    both->server.wire->finish();
    both->server.receive();
    both->run();
    EXPECT_EQ(both->server.established, 0);
    EXPECT_NE(both->server.end(), Errc::None);
  }
}

TEST_P(Stream, RecordsThatWereChangedEndIt) {
  const auto both = started();
  both->client.send("hello");
  std::string record = both->client.wire->take_output();
  record.back() = static_cast<char>(record.back() ^ 1);
  both->server.wire->feed(record);
  both->run();
  EXPECT_EQ(both->server.received, "");
  EXPECT_EQ(both->server.end(), Errc::TlsFailed);
  EXPECT_EQ(both->client.end(), Errc::TlsFailed);
  EXPECT_EQ(both->client.receive_end->context(), "bad record mac");
  both->server.send("no use");
  both->run();
  EXPECT_TRUE(both->server.send_failure);
}

TEST_P(Stream, PlainHttpIsKnownAndCanBeAnswered) {
  const auto both = pair();
  both->is_cut = true;
  both->server.wire->feed("GET / HTTP/1.1\r\nHost: example.com\r\n\r\n");
  both->server.receive();
  both->run();
  EXPECT_EQ(both->server.end(), Errc::PlainHttp);
  EXPECT_FALSE(both->server.stream->is_secure());
  const net::Slice answer{"HTTP/1.1 400 \r\n\r\n", 17};
  EXPECT_EQ(both->server.stream->send({&answer, 1}), 17U);
  EXPECT_EQ(both->server.wire->output(), "HTTP/1.1 400 \r\n\r\n");
  both->server.finish();
  EXPECT_TRUE(both->server.wire->is_write_shut());
}

/// A conversation in which the n-th operation of one side fails. Everything must end in order.
void converse(TlsPair& both) {
  const std::string text = pattern(100'000);
  both.client.send(text);
  both.server.send(text);
  both.client.finish();
  both.server.finish();
  both.start();
}

TEST_P(Stream, SurvivesTheFailureOfAnyOperation) {
  for (const Style style : {Style::Readiness, Style::Completion}) {
    for (const bool at_server : {true, false}) {
      for (std::uint64_t n = 1; n < 500; ++n) {
        TlsPair both(server_context(), client_context()->connect("example.com"), at_server ? n : 0,
                     at_server ? 0 : n);
        both.piece_bytes = 9'000;
        both.server.wire->take_at_most(5'000, style);
        both.client.wire->take_at_most(5'000, style);
        converse(both);
        TlsPeer& failing = at_server ? both.server : both.client;
        if (failing.fault->operation_count() < n) {
          EXPECT_EQ(failing.received.size(), 100'000U);
          EXPECT_GT(n, 25U);
          break;
        }
        const bool is_told = failing.send_failure || failing.end() != Errc::None;
        EXPECT_TRUE(is_told || failing.is_all_sent()) << n;
      }
    }
  }
}

TEST_P(Stream, MayBeClosedInAnyCall) {
  for (const bool at_server : {true, false}) {
    for (int n = 1; n < 500; ++n) {
      const auto both = pair();
      both->piece_bytes = 9'000;
      both->server.wire->take_at_most(5'000, Style::Completion);
      both->client.wire->take_at_most(5'000, Style::Readiness);
      TlsPeer& closing = at_server ? both->server : both->client;
      int calls = 0;
      closing.after_call = [&] {
        if (++calls == n) closing.close();
      };
      converse(*both);
      closing.after_call = nullptr;  // it refers to `calls`, and `both` lives longer
      if (calls < n) break;
      EXPECT_EQ(closing.closed, 1) << n;
    }
  }
}

TEST_P(Stream, MayBeDestroyedBetweenAnyTwoCalls) {
  for (std::size_t steps = 0; steps < 60; ++steps) {
    const auto loop = *loop::Loop::create({.backend = BackendChoice::Poll});
    TlsPeer server(*loop, server_context());
    TlsPeer client(*loop, client_context()->connect("example.com"));
    server.wire->take_at_most(300, Style::Completion);
    server.receive();
    client.receive();
    client.send(pattern(1000));
    server.send(pattern(1000));
    for (std::size_t i = 0; i < steps; ++i) {
      if (i % 3 == 0) server.wire->pump_once();
      if (i % 3 == 1) client.wire->pump_once();
      if (i % 3 == 2) loop->run_once(Duration(0));
      server.wire->feed(client.wire->take_output());
      client.wire->feed(server.wire->take_output());
    }
  }
}

}  // namespace
}  // namespace skua::tls
