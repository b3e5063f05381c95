// SPDX-License-Identifier: MIT
// `skua serve --proxy`: what is passed on to another server, and what the sandbox says about it.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "cli/serve_fixture.hpp"
#include "skua.hpp"
#include "support/test_server.hpp"

namespace skua::test {
namespace {

class ProxyOption : public ServeTest {
 protected:
  void SetUp() override {
    ServeTest::SetUp();
    upstream_router_.any("/{path...}", [](const Request& request, std::string_view) {
      return Response(request.path().ends_with("/none") ? Status::NotFound : Status::Ok,
                      std::string(name(request.method())) + " " + std::string(request.target()));
    });
    upstream_ = std::make_unique<testing::TestServer>(upstream_router_, BackendChoice::Auto,
                                                      ServerOptions{}, testing::Transport::Tcp);
  }
  [[nodiscard]] std::string url() const {
    return "http://127.0.0.1:" + std::to_string(upstream_->port());
  }
  std::string usage_error(const std::string& value) const {
    Process process({"serve", tree_.string(), "--print-config", "--proxy", value});
    std::string errors = process.errors();
    EXPECT_EQ(process.wait(), 2) << errors;
    return errors.substr(0, errors.find('\n'));
  }

 private:
  Router upstream_router_;
  std::unique_ptr<testing::TestServer> upstream_;
};

TEST_F(ProxyOption, PassesAPathOnAndServesTheRest) {
  tree_.write("404.html", "not here");
  start({"--proxy", "/api=" + url(), "--proxy", "/api/v2/=" + url() + "/new", "--spa",
         "--error-page", "404=404.html", "--header", "X-Own: yes"});
  EXPECT_TRUE(get("/").ends_with("<h1>home</h1>"));
  const std::string answer = get("/api/users?x=1");
  EXPECT_TRUE(answer.ends_with("\r\n\r\nGET /api/users?x=1")) << answer;
  EXPECT_NE(answer.find("\r\nX-Own: yes\r\n"), answer.npos);
  EXPECT_TRUE(get("/api").ends_with("\r\n\r\nGET /api"));
  EXPECT_TRUE(get("/api/v2/users").ends_with("\r\n\r\nGET /new/users"));
  EXPECT_TRUE(ask("POST /api/x HTTP/1.1\r\nContent-Length: 0").ends_with("\r\n\r\nPOST /api/x"));
  EXPECT_TRUE(get("/api/none").ends_with("\r\n\r\nGET /api/none"));  // not 404.html
  EXPECT_EQ(status(ask("POST /apis HTTP/1.1\r\nContent-Length: 0")), "405");
}

TEST_F(ProxyOption, TheSandboxPermitsTheConnections) {
  start({"--proxy", "/api=" + url()});
  const std::string line = process_->line();
  EXPECT_NE(line.find("connections for --proxy (TCP port " + url().substr(17) + ")"), line.npos)
      << line;
  EXPECT_TRUE(get("/api/x").ends_with("\r\n\r\nGET /api/x"));
  process_->signal(SIGTERM);
  EXPECT_EQ(process_->wait(), 0);
}

TEST_F(ProxyOption, ABrokenServerIsReported) {
  start({"--proxy", "/api=unix:" + tree_.string() + "/none.sock"});
  EXPECT_EQ(status(get("/api/x")), "502");
  process_->signal(SIGTERM);
  const std::string errors = process_->errors();
  EXPECT_NE(errors.find("skua: GET /api/x: could not "), errors.npos) << errors;
}

TEST_F(ProxyOption, ANameThatCannotBeResolvedEndsNothing) {
  start({"--proxy", "/api=http://none.invalid:3000"});
  EXPECT_TRUE(get("/").ends_with("<h1>home</h1>"));
  EXPECT_EQ(status(get("/api/x")), "502");
  process_->signal(SIGTERM);
  const std::string errors = process_->errors();
  EXPECT_NE(errors.find("skua: --proxy: cannot resolve the name none.invalid: "), errors.npos);
  EXPECT_NE(errors.find("skua: GET /api/x: could not resolve none.invalid"), errors.npos) << errors;
}

TEST_F(ProxyOption, RefusesWhatItCannotPassOn) {
  EXPECT_EQ(usage_error("/api"), "skua: --proxy: '/api' is not PREFIX=URL");
  EXPECT_EQ(usage_error("/=http://a"),
            "skua: --proxy: '/' is not the beginning of a path, such as /api");
  EXPECT_EQ(usage_error("api=http://a"),
            "skua: --proxy: 'api' is not the beginning of a path, such as /api");
  EXPECT_EQ(usage_error("/api=3000"),
            "skua: --proxy: upstream '3000': it has to begin with http://, https://, "
            "h2c:// or unix:/");
  Process process({"serve", tree_.string(), "--print-config", "--proxy", "/api=http://a", "--proxy",
                   "/api/=http://b"});
  EXPECT_TRUE(process.errors().starts_with("skua: --proxy: '/api' is passed on to two servers\n"));
  EXPECT_EQ(process.wait(), 2);
}

}  // namespace
}  // namespace skua::test
