// SPDX-License-Identifier: MIT
// Hostile clients: bare OpenSSL, set up to ask for things that a server must refuse.
#include "support/tls_pair.hpp"

#ifdef SKUA_HAS_TLS

#include "tls/openssl.hpp"

namespace skua::tls {
namespace {

/// A server, and a client that is bare OpenSSL.
class HostilePeer : public TlsTest {
 protected:
  using Setup = std::function<void(SSL_CTX*)>;

  void begin(int version, const Setup& setup = {}) {
    context_.reset(SSL_CTX_new(TLS_client_method()));
    SSL_CTX_set_security_level(context_.get(), 0);
    SSL_CTX_set_min_proto_version(context_.get(), version);
    SSL_CTX_set_max_proto_version(context_.get(), version);
    if (setup) setup(context_.get());
    ssl_.reset(SSL_new(context_.get()));
    in_ = BIO_new(BIO_s_mem());
    out_ = BIO_new(BIO_s_mem());
    SSL_set_bio(ssl_.get(), in_, out_);
    SSL_set_connect_state(ssl_.get());
    server_ = std::make_unique<TlsPeer>(*loop_, server_context());
    server_->receive();
  }
  ~HostilePeer() override {
    if (!server_ || server_->wire == nullptr) return;
    server_->close();
    server_->wire->pump();
  }
  /// Carries the client's bytes to the server, and the server's back.
  void carry() {
    for (int i = 0; i < 3; ++i) {
      char* data = nullptr;
      const long size = BIO_get_mem_data(out_, &data);
      if (size > 0) server_->wire->feed({data, static_cast<std::size_t>(size)});
      (void)BIO_reset(out_);
      server_->wire->pump();
      loop_->run_once(Duration(0));
      const std::string answer = server_->wire->take_output();
      if (!answer.empty()) BIO_write(in_, answer.data(), static_cast<int>(answer.size()));
    }
  }
  bool continue_handshake() {
    int result = -1;
    for (int i = 0; i < 8 && result != 1; ++i) {
      result = SSL_do_handshake(ssl_.get());
      carry();
    }
    ERR_clear_error();
    return result == 1 && server_->established == 1;
  }
  bool offers(int version, const char* suites) {
    begin(version, [&](SSL_CTX* context) {
      if (version == TLS1_3_VERSION) return;
      EXPECT_EQ(SSL_CTX_set_cipher_list(context, suites), 1) << suites;
    });
    return continue_handshake();
  }
  void write(std::string_view text) {
    SSL_write(ssl_.get(), text.data(), static_cast<int>(text.size()));
  }

  std::unique_ptr<loop::Loop> loop_ = *loop::Loop::create({.backend = BackendChoice::Poll});
  ContextPointer context_;
  SslPointer ssl_;
  BIO* in_ = nullptr;
  BIO* out_ = nullptr;
  std::unique_ptr<TlsPeer> server_;
};

TEST_F(HostilePeer, OldVersionsAreRefused) {
  for (const int version : {TLS1_VERSION, TLS1_1_VERSION}) {
    EXPECT_FALSE(offers(version, "ALL:@SECLEVEL=0"));
    EXPECT_EQ(server_->end(), Errc::TlsHandshakeFailed);
    EXPECT_EQ(server_->receive_end->context(), "the peer's version of TLS is too old");
  }
}

TEST_F(HostilePeer, SuitesWithoutForwardSecrecyOrAuthenticationAreRefused) {
  EXPECT_TRUE(offers(TLS1_2_VERSION, "ECDHE-ECDSA-AES256-GCM-SHA384"));
  EXPECT_TRUE(offers(TLS1_2_VERSION, "ECDHE-ECDSA-CHACHA20-POLY1305"));
  for (const char* suites : {"ECDHE-ECDSA-AES128-SHA256", "ECDHE-ECDSA-AES128-SHA", "AES128-SHA",
                             "AES128-GCM-SHA256", "ECDHE-ECDSA-AES128-CCM", "aNULL"}) {
    EXPECT_FALSE(offers(TLS1_2_VERSION, suites)) << suites;
    EXPECT_EQ(server_->end(), Errc::TlsHandshakeFailed);
    EXPECT_EQ(server_->receive_end->context(), "the peer offers no acceptable cipher suite");
  }
}

TEST_F(HostilePeer, ChaChaIsPreferredForWhoPrefersIt) {
  EXPECT_TRUE(
      offers(TLS1_2_VERSION, "ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-ECDSA-AES128-GCM-SHA256"));
  EXPECT_EQ(server_->stream->engine().cipher(), "ECDHE-ECDSA-CHACHA20-POLY1305");
  EXPECT_TRUE(
      offers(TLS1_2_VERSION, "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-ECDSA-AES128-GCM-SHA256"));
  EXPECT_EQ(server_->stream->engine().cipher(), "ECDHE-ECDSA-AES128-GCM-SHA256");
}

TEST_F(HostilePeer, OnlyGoodGroupsAreTaken) {
  for (const char* group : {"X25519", "P-256", "P-384"}) {
    begin(TLS1_3_VERSION, [&](SSL_CTX* context) { SSL_CTX_set1_groups_list(context, group); });
    EXPECT_TRUE(continue_handshake()) << group;
  }
  begin(TLS1_3_VERSION, [](SSL_CTX* context) { SSL_CTX_set1_groups_list(context, "P-521"); });
  EXPECT_FALSE(continue_handshake());
}

TEST_F(HostilePeer, RenegotiationIsRefused) {
  begin(TLS1_2_VERSION);
  ASSERT_TRUE(continue_handshake());
  SSL_renegotiate(ssl_.get());
  SSL_do_handshake(ssl_.get());
  carry();
  ERR_clear_error();
  char octet = 0;
  EXPECT_LE(SSL_read(ssl_.get(), &octet, 1), 0);
  // A warning, after which the client gives up; the server would continue.
  EXPECT_EQ(ERR_GET_REASON(ERR_peek_error()), SSL_R_NO_RENEGOTIATION);
  ERR_clear_error();
  EXPECT_EQ(server_->established, 1);
}

// OpenSSL answers each of these updates, as it does attempts to renegotiate TLS 1.2.
TEST_F(HostilePeer, AnswersAreNotKeptForAPeerThatDoesNotRead) {
  begin(TLS1_3_VERSION);
  ASSERT_TRUE(continue_handshake());
  server_->wire->take_at_most(0);
  for (int i = 0; i < 10'000 && !server_->receive_end; ++i) {
    ASSERT_EQ(SSL_key_update(ssl_.get(), SSL_KEY_UPDATE_REQUESTED), 1);
    write("x");
    if (i % 50 == 0) carry();
  }
  ASSERT_TRUE(server_->receive_end);
  EXPECT_EQ(server_->end(), Errc::TlsFailed);
  EXPECT_EQ(server_->receive_end->context(), "the peer does not read");
}

TEST_F(HostilePeer, KeyUpdatesAreTakenButNotWithoutEnd) {
  begin(TLS1_3_VERSION);
  ASSERT_TRUE(continue_handshake());
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(SSL_key_update(ssl_.get(), SSL_KEY_UPDATE_REQUESTED), 1);
    write("x");
    carry();
  }
  EXPECT_EQ(server_->received.size(), 100U);
  EXPECT_FALSE(server_->receive_end);
  for (int i = 0; i < 2000 && !server_->receive_end; ++i) {
    ASSERT_EQ(SSL_key_update(ssl_.get(), SSL_KEY_UPDATE_NOT_REQUESTED), 1);
    SSL_do_handshake(ssl_.get());
    if (i % 50 == 0) carry();
  }
  carry();
  EXPECT_EQ(server_->end(), Errc::TlsFailed);
  EXPECT_EQ(server_->receive_end->context(), "the peer sends records without data");
}

TEST_F(HostilePeer, ALongHelloInDripsCostsNoMoreThanItsSize) {
  begin(TLS1_2_VERSION);
  // One record per byte: the message claims to be long, and is never complete.
  std::string drips;
  for (int i = 0; i < 4000; ++i)
    drips += std::string("\x16\x03\x01\x00\x01", 5) + (i == 0 ? '\1' : '\0');
  server_->wire->feed(drips, 1);
  server_->wire->pump();
  loop_->run_once(Duration(0));
  EXPECT_EQ(server_->end(), Errc::TlsHandshakeFailed);
  EXPECT_EQ(server_->established, 0);
}

TEST_F(HostilePeer, AServerNameThatIsNoneIsRefused) {
  begin(TLS1_3_VERSION);
  // OpenSSL sends any name it is given, up to a NUL.
  SSL_set_tlsext_host_name(ssl_.get(), "Not A Host/../name");
  EXPECT_TRUE(continue_handshake());
  EXPECT_EQ(server_->stream->engine().server_name(), "not a host/../name");
  EXPECT_FALSE(server_->stream->engine().covers("not a host/../name"));
}

}  // namespace
}  // namespace skua::tls

#endif
