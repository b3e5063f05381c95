// SPDX-License-Identifier: MIT
// The file of defaults of `skua get` and its siblings.
#include <string>
#include <vector>

#include "cli/get_fixture.hpp"
#include "settings/settings_file.hpp"

namespace skua::test {
namespace {

class GetConfig : public GetFixture {
 protected:
  void SetUp() override {
    if (!cli::has_settings_files()) GTEST_SKIP() << "built without toml++";
  }
  // The curl command of `skua get a.test` with more words.
  std::string curl(std::vector<std::string> words = {}) {
    words.insert(words.begin(), {"get", "a.test", "--curl"});
    const Ended ended = run(std::move(words));
    EXPECT_EQ(ended.code, 0) << ended.errors;
    return ended.output;
  }
  std::string refusal(const std::string& text) {
    folder_.write("config/skua/get.toml", text);
    const Ended ended = run({"get", "a.test", "--curl"});
    EXPECT_EQ(ended.code, 2) << ended.output;
    return ended.errors;
  }
};

TEST_F(GetConfig, TheFileOfTheUserSetsDefaults) {
  EXPECT_EQ(curl(), "curl http://a.test -L --compressed\n");
  folder_.write("config/skua/get.toml",
                "timeout = 5\nfail = true\nheader = [\"X-A: 1\", \"X-B: 2\"]\nhttp2 = true\n");
  EXPECT_EQ(curl(),
            "curl http://a.test -H 'X-A: 1' -H 'X-B: 2' -L --compressed --http2-prior-knowledge -m "
            "5 --fail-with-body\n");
  EXPECT_EQ(curl({"--timeout", "7", "-H", "X-C: 3", "--http1.1"}),
            "curl http://a.test -H 'X-C: 3' -L --compressed --http1.1 -m 7 --fail-with-body\n");
  EXPECT_EQ(curl({"--no-config"}), "curl http://a.test -L --compressed\n");
  const Ended posted = run({"post", "a.test", "--curl"});
  EXPECT_TRUE(contains(posted.output, "-X POST http://a.test -H 'X-A: 1'"));
  EXPECT_EQ(run({"curl", "a.test", "--resolve", "x"}).code, 2);  // takes none of it
}

TEST_F(GetConfig, OtherFilesMayBeNamed) {
  folder_.write("config/skua/get.toml", "timeout = 1\n");
  folder_.write("other.toml", "timeout = 2\n");
  EXPECT_TRUE(contains(curl({"--config", "other.toml"}), "-m 2"));
  setenv("SKUA_CONFIG", "other.toml", 1);
  EXPECT_TRUE(contains(curl(), "-m 2"));
  setenv("SKUA_CONFIG", "", 1);
  EXPECT_EQ(curl(), "curl http://a.test -L --compressed\n");
  setenv("SKUA_CONFIG", "missing.toml", 1);
  const Ended missing = run({"get", "a.test", "--curl"});
  EXPECT_EQ(missing.code, 2);
  EXPECT_TRUE(contains(missing.errors, "missing.toml"));
  unsetenv("SKUA_CONFIG");
}

TEST_F(GetConfig, MistakesNameFileLineAndKey) {
  EXPECT_TRUE(contains(refusal("\ntimeuot = 5\n"),
                       "get.toml:2:1: unknown key 'timeuot', did you mean 'timeout'?"));
  EXPECT_TRUE(contains(refusal("timeout = \"x\"\n"), "get.toml:1:11: timeout"));
  EXPECT_TRUE(contains(refusal("fail = [1]\n"), "get.toml:1:8: fail takes one value"));
  EXPECT_TRUE(contains(refusal("timeout = true\n"), "get.toml:1:11: timeout needs a value"));
  EXPECT_TRUE(contains(refusal("json = true\nform = true\n"), "cannot be used together"));
  EXPECT_TRUE(contains(refusal("url = \"b.test\"\n"), "unknown key 'url'"));
  EXPECT_TRUE(contains(refusal("method = \"PUT\"\n"), "unknown key 'method'"));
  EXPECT_TRUE(contains(refusal("config = \"x\"\n"), "unknown key 'config'"));
  EXPECT_TRUE(contains(refusal("[table]\n"), "get.toml:1"));
  EXPECT_TRUE(contains(refusal("\x01\xff"), "get.toml:1"));
}

}  // namespace
}  // namespace skua::test
