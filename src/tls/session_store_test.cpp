// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#ifdef SKUA_HAS_TLS

#include <ctime>
#include <string>

#include "tls/session_store.hpp"

namespace skua::tls {
namespace {

SessionPointer session() { return SessionPointer(SSL_SESSION_new()); }

TEST(SessionStore, GivesTheNewestOfAServerOnce) {
  SessionStore store;
  SessionPointer first = session();
  SessionPointer second = session();
  const SSL_SESSION* const older = first.get();
  const SSL_SESSION* const newer = second.get();
  store.keep("a:443", std::move(first));
  store.keep("b:443", session());
  store.keep("a:443", std::move(second));
  EXPECT_EQ(store.take("a:443").get(), newer);
  EXPECT_EQ(store.take("a:443").get(), older);
  EXPECT_EQ(store.take("a:443"), nullptr);
  EXPECT_EQ(store.take("a:444"), nullptr);
  EXPECT_EQ(store.size(), 1U);
}

TEST(SessionStore, KeepsAFewPerServerAndManyInAll) {
  SessionStore store;
  for (std::size_t i = 0; i < 10; ++i) store.keep("a:443", session());
  EXPECT_EQ(store.size(), SessionStore::max_per_server);
  for (std::size_t i = 0; i < 2 * SessionStore::most; ++i) {
    store.keep(std::to_string(i) + ":443", session());
  }
  EXPECT_EQ(store.size(), SessionStore::most);
  EXPECT_EQ(store.take("a:443"), nullptr);
  EXPECT_EQ(store.take("0:443"), nullptr);
  EXPECT_NE(store.take(std::to_string(2 * SessionStore::most - 1) + ":443"), nullptr);
}

TEST(SessionStore, ForgetsAServer) {
  SessionStore store;
  store.keep("a:443", session());
  store.keep("b:443", session());
  store.keep("a:443", session());
  store.forget("a:443");
  EXPECT_EQ(store.take("a:443"), nullptr);
  EXPECT_NE(store.take("b:443"), nullptr);
}

TEST(SessionStore, ForgetsWhatIsTooOld) {
  SessionStore store;
  SessionPointer old = session();
  SSL_SESSION_set_time(old.get(), static_cast<long>(std::time(nullptr)) - 100);
  SSL_SESSION_set_timeout(old.get(), 99);
  store.keep("a:443", std::move(old));
  EXPECT_EQ(store.take("a:443"), nullptr);
  EXPECT_EQ(store.size(), 0U);
}

}  // namespace
}  // namespace skua::tls

#endif
