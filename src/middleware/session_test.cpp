// SPDX-License-Identifier: MIT
#include "skua/session.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "crypto/digest.hpp"
#include "middleware/session_keeper.hpp"
#include "skua/router.hpp"
#include "skua/testing.hpp"

namespace skua {
namespace {

using testing::FakeRequest;

const std::string first_key(32, 'a');
const std::string second_key(32, 'b');

// Simulates a browser with one cookie, and the time.
class Sessions : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!crypto::is_available()) GTEST_SKIP() << "built without OpenSSL";
    use({.keys = {first_key}});
  }

  void use(SessionOptions options) {
    keeper_.emplace(std::move(options), [this] { return now_; });
  }

  // Opens the session, calls `handle`, and saves it. Reports whether a cookie was set.
  template <class F>
  bool visit(const F& handle) {
    FakeRequest fake("GET /");
    if (!cookie_.empty()) fake.header("Cookie", "a=b; " + cookie_);
    keeper_->open(fake.request());
    handle(fake.request());
    response_ = Response("x");
    keeper_->save(fake.request(), response_);
    const auto set = response_.header("Set-Cookie");
    if (!set) return false;
    attributes_ = set->substr(set->find(';'));
    cookie_ =
        attributes_.find("Max-Age=0") != std::string::npos ? "" : set->substr(0, set->find(';'));
    return true;
  }
  bool set(std::string_view name, std::string_view value) {
    return visit([&](Request& request) { session(request).set(name, value); });
  }
  std::string get(std::string_view name) {
    std::string value;
    visit([&](const Request& request) { value = session(request).get(name).value_or("nothing"); });
    return value;
  }

  std::chrono::sys_seconds now_{1'700'000'000s};
  std::optional<middleware::SessionKeeper> keeper_;
  std::string cookie_;
  std::string attributes_;
  Response response_;
};

TEST_F(Sessions, RememberWhatWasSet) {
  EXPECT_EQ(get("name"), "nothing");
  EXPECT_TRUE(cookie_.empty()) << "no cookie without a session";
  EXPECT_TRUE(set("name", "Ada"));
  EXPECT_TRUE(cookie_.starts_with("__Host-session="));
  EXPECT_EQ(attributes_, "; Max-Age=86400; Path=/; Secure; HttpOnly; SameSite=Lax");
  EXPECT_EQ(cookie_.find("Ada"), cookie_.npos);
  EXPECT_EQ(get("name"), "Ada");
  EXPECT_FALSE(set("name", "Ada")) << "nothing changed";
  const std::string bytes("\0\xff;\r\n", 5);
  EXPECT_TRUE(set("bytes", bytes));
  EXPECT_TRUE(set("", ""));
  EXPECT_EQ(get("bytes"), bytes);
  EXPECT_EQ(get(""), "");
  EXPECT_TRUE(set("name", "Bob"));
  EXPECT_EQ(get("name"), "Bob");
  EXPECT_TRUE(visit([](Request& request) { session(request).erase("name"); }));
  EXPECT_EQ(get("name"), "nothing");
  EXPECT_FALSE(visit([](Request& request) { session(request).erase("name"); }));
}

TEST_F(Sessions, MayLastForEver) {
  constexpr auto never = std::chrono::seconds::max();
  for (const auto& [idle, lifetime] : {std::pair{never, 0s}, {never, never}, {86'400s, never}}) {
    use({.keys = {first_key}, .idle = idle, .lifetime = lifetime});
    cookie_.clear();
    EXPECT_TRUE(set("name", "Ada"));
    EXPECT_EQ(get("name"), "Ada");
    now_ += 12h - 1s;
    EXPECT_EQ(get("name"), "Ada");
    now_ += 1s;
  }
}

TEST_F(Sessions, AreForgottenWhenCleared) {
  set("name", "Ada");
  EXPECT_TRUE(visit([](Request& request) { session(request).clear(); }));
  EXPECT_TRUE(cookie_.empty());
  EXPECT_FALSE(visit([](Request& request) { session(request).clear(); })) << "no session to clear";
  set("name", "Ada");
  EXPECT_TRUE(visit([](Request& request) { session(request).erase("name"); }));
  EXPECT_TRUE(cookie_.empty());
}

TEST_F(Sessions, AreRenewedHalfWayAndExpire) {
  set("name", "Ada");
  const std::string first = cookie_;
  now_ += 11h;
  EXPECT_FALSE(visit([](Request&) {}));
  now_ += 1h;
  EXPECT_TRUE(visit([](Request&) {})) << "half-way";
  now_ += 23h;
  EXPECT_EQ(get("name"), "Ada");
  cookie_ = first;
  EXPECT_EQ(get("name"), "nothing") << "35 hours old";
}

TEST_F(Sessions, EndAfterTheirLifetimeWhateverHappens) {
  use({.keys = {first_key}, .idle = 10h, .lifetime = 24h});
  set("name", "Ada");
  for (int hour = 5; hour < 24; hour += 5) {
    now_ += 5h;
    EXPECT_EQ(get("name"), "Ada") << hour;
  }
  EXPECT_EQ(attributes_.substr(0, 15), "; Max-Age=14400") << "four hours are left";
  now_ += 4h;
  EXPECT_EQ(get("name"), "nothing");
  set("name", "Ada");
  now_ += 9h;
  EXPECT_TRUE(visit([](Request& request) { session(request).regenerate(); }));
  now_ += 9h;
  visit([](Request&) {});
  now_ += 9h;
  EXPECT_EQ(get("name"), "Ada") << "begun anew";
}

TEST_F(Sessions, HaveAnIdUntilTheyBeginAnew) {
  const auto id = [this] {
    std::string found;
    visit([&](Request& request) { found = session(request).id(); });
    return found;
  };
  EXPECT_EQ(id(), "");
  set("name", "Ada");
  const std::string first = id();
  EXPECT_EQ(first.size(), 22U);
  set("more", "x");
  EXPECT_EQ(id(), first);
  visit([](Request& request) { session(request).regenerate(); });
  EXPECT_NE(id(), first);
  EXPECT_EQ(get("name"), "Ada");
  visit([](Request& request) {
    session(request).clear();
    session(request).set("a", "b");
  });
  EXPECT_NE(id(), first);
}

TEST_F(Sessions, NothingForgedIsOpened) {
  set("name", "Ada");
  const std::string good = cookie_;
  const std::size_t begin = good.find('=') + 1;
  for (std::size_t i = begin; i < good.size(); ++i) {
    cookie_ = good;
    cookie_[i] = cookie_[i] == 'A' ? 'B' : 'A';
    EXPECT_EQ(get("name"), "nothing") << i;
    cookie_ = good.substr(0, i);
    EXPECT_EQ(get("name"), "nothing") << i;
  }
  cookie_ = good + "A";
  EXPECT_EQ(get("name"), "nothing");
  for (const char* const value : {"", "x", "AQ", "AQAAAAA", "=", "\"\""}) {
    cookie_ = "__Host-session=" + std::string(value);
    EXPECT_EQ(get("name"), "nothing") << value;
  }
  cookie_ = good;
  now_ -= 2min;
  EXPECT_EQ(get("name"), "nothing") << "sealed in the future";
}

TEST_F(Sessions, AreBoundToTheNameOfTheirCookie) {
  set("name", "Ada");
  use({.keys = {first_key}, .name = "other"});
  cookie_.replace(0, cookie_.find('='), "__Host-other");
  EXPECT_EQ(get("name"), "nothing");
}

TEST_F(Sessions, KeysAreChangedWithoutLosingAny) {
  set("name", "Ada");
  const std::string old = cookie_;
  use({.keys = {second_key, first_key}});
  EXPECT_TRUE(visit([](Request&) {})) << "sealed with the new key";
  use({.keys = {second_key}});
  EXPECT_EQ(get("name"), "Ada");
  cookie_ = old;
  EXPECT_EQ(get("name"), "nothing") << "its key is gone";
}

TEST_F(Sessions, FitIntoOneCookie) {
  std::size_t size = 0;
  visit([&](Request& request) {
    for (size = 1; size < 5000; ++size) {
      try {
        session(request).set("n", std::string(size, 'x'));
      } catch (const std::length_error&) {
        break;
      }
    }
  });
  EXPECT_GT(size, 2800U);
  EXPECT_LE(response_.header("Set-Cookie")->size(), 4096U);
  EXPECT_EQ(get("n"), std::string(size - 1, 'x')) << "a value that did not fit changed nothing";
  EXPECT_THROW(set("m", ""), std::length_error);
  EXPECT_TRUE(set("n", "small"));
  EXPECT_TRUE(set("m", ""));
}

TEST_F(Sessions, KeepAnswersOutOfSharedCaches) {
  visit([](Request&) {});
  EXPECT_FALSE(response_.header("Vary")) << "nobody asked for the session";
  get("name");
  EXPECT_EQ(response_.header("Vary"), "Cookie");
  EXPECT_EQ(response_.header("Cache-Control"), "private");
}

TEST_F(Sessions, AreOneObjectForARouter) {
  Router router;
  router.use(sessions({.keys = {first_key}, .secure = false, .same_site = SameSite::Strict}));
  router.get("/", [](const Request& request) {
    return std::string(session(request).get("name").value_or("nobody"));
  });
  router.post("/{name}", [](Request& request, std::string_view name) {
    session(request).set("name", name);
    return Response("hello").header("Cache-Control", "no-store");
  });
  const Response hello = testing::call(router, "POST /Ada");
  const std::string cookie(hello.header("Set-Cookie").value_or(""));
  EXPECT_TRUE(cookie.starts_with("session="));
  EXPECT_TRUE(cookie.ends_with("; Path=/; HttpOnly; SameSite=Strict"));
  EXPECT_EQ(hello.header("Cache-Control"), "no-store");
  FakeRequest again("GET /");
  again.header("Cookie", cookie.substr(0, cookie.find(';')));
  EXPECT_EQ(router.handle(again.request()).body(), "Ada");
  EXPECT_EQ(testing::call(router, "GET /").body(), "nobody");
}

TEST_F(Sessions, AreSetUpRightly) {
  for (const SessionOptions& wrong :
       {SessionOptions{}, SessionOptions{.keys = {"short"}},
        SessionOptions{.keys = {first_key, std::string(31, 'x')}},
        SessionOptions{.keys = {first_key}, .name = "a b"},
        SessionOptions{.keys = {first_key}, .name = ""},
        SessionOptions{.keys = {first_key}, .name = std::string(65, 'n')},
        SessionOptions{.keys = {first_key}, .idle = 0s},
        SessionOptions{.keys = {first_key}, .lifetime = -1s},
        SessionOptions{.keys = {first_key}, .secure = false, .same_site = SameSite::None}}) {
    EXPECT_THROW((void)sessions(wrong), std::invalid_argument);
  }
  FakeRequest fake("GET /");
  EXPECT_THROW((void)session(fake.request()), std::logic_error);
}

TEST(SessionsWithoutOpenSsl, AreRefusedAtSetUp) {
  if (crypto::is_available()) GTEST_SKIP() << "built with OpenSSL";
  EXPECT_THROW((void)sessions({.keys = {first_key}}), std::invalid_argument);
}

}  // namespace
}  // namespace skua
