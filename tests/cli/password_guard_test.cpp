// SPDX-License-Identifier: MIT
#include "serve/auth/password_guard.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/hashes.hpp"
#include "router/tree.hpp"
#include "serve/auth/password_hash.hpp"
#include "skua/async.hpp"
#include "skua/router.hpp"
#include "skua/testing.hpp"

namespace skua::cli {
namespace {

class PasswordGuardTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_password_hashes()) GTEST_SKIP() << "this build has no libcrypt";
    auto file = PasswordFile::parse(std::string("ada:") + test::hashes::bcrypt);
    ASSERT_TRUE(file);
    file_ = std::make_shared<const PasswordFile>(*std::move(file));
    const auto also = [](std::string_view user, std::string_view password) {
      return user == "eve" && password == "plain";
    };
    router_.use(PasswordGuard("skua", file_, also));
    router_.get("/", [](const Request& request) { return auth::user(request)->name; });
  }
  static testing::FakeRequest request(const std::string& user, const std::string& password) {
    testing::FakeRequest fake("GET /");
    fake.header("Authorization", BasicCredentials{user, password}.field().value());
    return fake;
  }
  [[nodiscard]] Response ask(const std::string& user, const std::string& password) const {
    testing::FakeRequest fake = request(user, password);
    return router_.handle(fake.request());
  }
  Task<> count(std::vector<std::size_t>& by_status, std::string user) const {
    testing::FakeRequest fake = request(user, "secret");
    const router::Match match = router_.match(Method::Get, "/");
    auto running = router_.start(match, fake.request());
    const Response response = co_await running;
    ++by_status.at(code(response.status()));
  }
  Task<> ask_often(std::vector<std::size_t>& by_status, std::string user) const {
    Scope scope;
    for (int i = 0; i < 100; ++i) scope.spawn(count(by_status, user));
    co_await scope.join();
  }

  std::shared_ptr<const PasswordFile> file_;
  Router router_;
};

TEST_F(PasswordGuardTest, LetsUsersInWithTheirNames) {
  EXPECT_EQ(ask("ada", "secret").body(), "ada");
  EXPECT_EQ(ask("ada", "secret").body(), "ada") << "now without a hash";
  EXPECT_EQ(ask("eve", "plain").body(), "eve");
}

TEST_F(PasswordGuardTest, RefusesAllOthers) {
  const Response refused = ask("ada", "wrong");
  EXPECT_EQ(refused.status(), Status::Unauthorized);
  EXPECT_EQ(refused.header("WWW-Authenticate"), R"(Basic realm="skua", charset="UTF-8")");
  EXPECT_EQ(ask("bob", "secret").status(), Status::Unauthorized);
  EXPECT_EQ(ask("eve", "secret").status(), Status::Unauthorized);
  EXPECT_EQ(ask("ada", "plain").status(), Status::Unauthorized);
  EXPECT_EQ(testing::call(router_, "GET /").status(), Status::Unauthorized);
  testing::FakeRequest nonsense("GET /");
  nonsense.header("Authorization", "Basic ???");
  EXPECT_EQ(router_.handle(nonsense.request()).status(), Status::Unauthorized);
}

TEST_F(PasswordGuardTest, HashesABoundedNumberAtOnce) {
  std::vector<std::size_t> by_status(600);
  run(ask_often(by_status, "mallory"));
  EXPECT_EQ(by_status[401], 64U);
  EXPECT_EQ(by_status[503], 36U);
  EXPECT_EQ(ask("bob", "secret").status(), Status::Unauthorized) << "all of them have ended";
}

// Strangers can order hashes, but not the threads that read and write files.
TEST_F(PasswordGuardTest, HashesWhileAllThreadsForFilesAreBusy) {
  std::promise<void> go;
  const std::shared_future<void> gone = go.get_future().share();
  const auto hold = [gone] { gone.wait(); };
  std::vector<std::size_t> by_status(600);
  const auto log_in = [&]() -> Task<> {
    Scope held;
    for (int i = 0; i < 8; ++i) held.spawn(offload(hold));
    auto counting = count(by_status, "ada");
    co_await counting;
    go.set_value();
    co_await held.join();
  };
  run(log_in());
  EXPECT_EQ(by_status[200], 1U);
}

TEST_F(PasswordGuardTest, WhoOftenGetsItWrongHasToWait) {
  EXPECT_EQ(ask("ada", "secret").status(), Status::Ok);
  for (int i = 0; i < 30; ++i) ASSERT_EQ(ask("mallory", "secret").status(), Status::Unauthorized);
  const Response refused = ask("mallory", "another");
  EXPECT_EQ(refused.status(), Status::TooManyRequests);
  EXPECT_EQ(refused.header("Retry-After"), "5");
  EXPECT_EQ(ask("bob", "secret").status(), Status::Unauthorized) << "of another name";
  EXPECT_EQ(ask("ada", "secret").status(), Status::Ok) << "it is verified already";
}

TEST_F(PasswordGuardTest, LetsAnyNumberInOnceTheLoginIsVerified) {
  EXPECT_EQ(ask("ada", "secret").status(), Status::Ok);
  std::vector<std::size_t> by_status(600);
  run(ask_often(by_status, "ada"));
  EXPECT_EQ(by_status[200], 100U);
}

}  // namespace
}  // namespace skua::cli
