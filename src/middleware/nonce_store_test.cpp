// SPDX-License-Identifier: MIT
#include "middleware/nonce_store.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <thread>

#include "crypto/digest.hpp"

namespace skua::middleware {
namespace {

using Use = NonceStore::Use;

class Nonces : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!crypto::is_available()) GTEST_SKIP() << "built without OpenSSL";
  }

  loop::ManualClock clock_;
  NonceStore store_{"a key", 4, 60s, clock_, clock_.now()};
};

TEST_F(Nonces, AreNeverTheSame) {
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) {
    const std::string nonce = store_.make().value();
    EXPECT_EQ(nonce.size(), 32U);
    EXPECT_TRUE(seen.insert(nonce).second);
  }
}

TEST_F(Nonces, TakeEveryCountOnce) {
  const std::string nonce = store_.make().value();
  for (const std::uint32_t count : {1U, 2U, 3U, 7U, 5U, 4U, 6U, 70U, 100U, 99U, 0xffffffffU}) {
    EXPECT_EQ(store_.use(nonce, count), Use::Fresh) << count;
    EXPECT_EQ(store_.use(nonce, count), Use::Replayed) << count;
  }
  EXPECT_EQ(store_.use(nonce, 101), Use::Replayed) << "too far behind to know";
  EXPECT_EQ(store_.use(nonce, 0xffffffff - 63), Use::Fresh);
  EXPECT_EQ(store_.use(nonce, 0xffffffff - 64), Use::Replayed);
}

TEST_F(Nonces, Age) {
  const std::string nonce = store_.make().value();
  clock_.advance(59s);
  EXPECT_EQ(store_.use(nonce, 1), Use::Fresh);
  clock_.advance(2s);
  EXPECT_EQ(store_.use(nonce, 2), Use::Stale);
}

TEST_F(Nonces, OfOthersAreStale) {
  NonceStore other("another key", 4, 60s, clock_, clock_.now());
  EXPECT_EQ(store_.use(other.make().value(), 1), Use::Stale);
  const std::string nonce = store_.make().value();
  for (std::size_t i = 0; i < nonce.size(); ++i) {
    std::string changed = nonce;
    changed[i] = changed[i] == 'A' ? 'B' : 'A';
    EXPECT_EQ(store_.use(changed, 1), Use::Stale) << i;
    EXPECT_EQ(store_.use(nonce.substr(0, i), 1), Use::Stale) << i;
  }
  EXPECT_EQ(store_.use(nonce, 1), Use::Fresh);
}

TEST_F(Nonces, OfAStoreWithTheSameKeyAndStartAreGood) {
  clock_.advance(1h);
  NonceStore here("a key", 4, 60s, clock_, loop::Instant());
  NonceStore there("a key", 4, 60s, clock_, loop::Instant());
  const std::string nonce = here.make().value();
  EXPECT_EQ(there.use(nonce, 1), Use::Fresh);
  EXPECT_EQ(there.use(nonce, 1), Use::Replayed);
  EXPECT_EQ(here.use(nonce, 1), Use::Fresh) << "it has not heard of that";
  clock_.advance(61s);
  EXPECT_EQ(there.use(nonce, 2), Use::Stale);
}

TEST_F(Nonces, TheOldestAreForgottenAndNeverNewAgain) {
  std::vector<std::string> nonces;
  for (int i = 0; i < 6; ++i) nonces.push_back(store_.make().value());
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(store_.use(nonces[static_cast<std::size_t>(i)], 1), Use::Fresh);
  EXPECT_EQ(store_.use(nonces[0], 1), Use::Stale) << "forgotten";
  EXPECT_EQ(store_.use(nonces[0], 2), Use::Stale);
  EXPECT_EQ(store_.use(nonces[1], 1), Use::Replayed) << "still known";
  EXPECT_EQ(store_.use(nonces[5], 1), Use::Fresh);
  EXPECT_EQ(store_.use(nonces[1], 2), Use::Stale);
}

TEST_F(Nonces, ThreadsAgreeOnWhoWasFirst) {
  NonceStore store("a key", 65536, 60s, clock_, clock_.now());
  const std::string nonce = store.make().value();
  std::atomic<int> fresh = 0;
  const auto use_all = [&] {
    for (std::uint32_t count = 1; count <= 60; ++count) {
      fresh += store.use(nonce, count) == Use::Fresh ? 1 : 0;
    }
  };
  std::thread first(use_all);
  std::thread second(use_all);
  first.join();
  second.join();
  EXPECT_EQ(fresh, 60);
}

}  // namespace
}  // namespace skua::middleware
