// SPDX-License-Identifier: MIT
// Options of `skua serve` that change what is served for a path, and how.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "cli/serve_fixture.hpp"
#include "coding/coding.hpp"
#include "skua/credentials.hpp"

namespace skua::test {
namespace {

class SiteTest : public ServeTest {
 protected:
  // Returns what is printed on stderr for an invalid command line.
  std::string usage_error(const std::vector<std::string>& options) const {
    std::vector<std::string> arguments = {"serve", tree_.string(), "--print-config"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    Process process(std::move(arguments));
    std::string errors = process.errors();
    EXPECT_EQ(process.wait(), 2) << errors;
    return errors.substr(0, errors.find('\n'));
  }
};

TEST_F(SiteTest, AnApplicationAnswersItsOwnPaths) {
  start({"--spa"});
  for (const char* path : {"/users", "/users/7", "/v1.2/users/", "/plain/none?q=a.b"}) {
    const std::string page = get(path);
    EXPECT_EQ(status(page), "200") << path;
    EXPECT_NE(page.find("\r\nCache-Control: no-cache\r\n"), page.npos) << path;
    EXPECT_NE(page.find("\r\nVary: Accept\r\n"), page.npos) << path;
    EXPECT_TRUE(page.ends_with("\r\n\r\n<h1>home</h1>")) << path;
  }
  EXPECT_TRUE(get("/plain/c.txt").ends_with("\r\n\r\nc"));
  EXPECT_EQ(status(get("/plain/")), "200");  // a listing
  for (const char* path : {"/app.js", "/users/app.css", "/.env", "/.git/config"}) {
    EXPECT_EQ(status(get(path)), "404") << path;
  }
  EXPECT_EQ(status(ask("GET /users HTTP/1.1\r\nAccept: application/json")), "404");
  EXPECT_EQ(status(ask("GET /users HTTP/1.1\r\nAccept: text/html,*/*;q=0.8")), "200");
  EXPECT_EQ(status(ask("POST /users HTTP/1.1\r\nContent-Length: 0")), "405");
  EXPECT_TRUE(ask("HEAD /users HTTP/1.1").ends_with("\r\n\r\n"));
}

TEST_F(SiteTest, AnApplicationMayHaveAnyPage) {
  tree_.write("app/start.html", "start");
  start({"--spa=app/start.html"});
  EXPECT_TRUE(get("/users").ends_with("\r\n\r\nstart"));
  EXPECT_TRUE(get("/").ends_with("<h1>home</h1>"));
}

TEST_F(SiteTest, SaysThatThePageOfAnApplicationIsMissing) {
  EXPECT_EQ(usage_error({"--spa=../index.html"}),
            "skua: --spa: '../index.html' is not the name of a file in DIR");
  EXPECT_EQ(usage_error({"--spa=plain/"}),
            "skua: --spa: 'plain/' is not the name of a file in DIR");
  Process process({"serve", tree_.string(), "--port", "0", "--spa=none.html"});
  EXPECT_EQ(process.errors(),
            "skua: --spa: cannot read the file " + tree_.string() + "/none.html\n");
  EXPECT_EQ(process.wait(), 1);
}

TEST_F(SiteTest, AddsHeadersByPath) {
  tree_.write("api/a.wasm", "w");
  start({"--header", "X-All: one, two", "--header", "Cross-Origin-Embedder-Policy: require-corp",
         "--header", "X-Kind: page [*.html]", "--header", "X-Kind: api [/api/**]", "--header",
         "Content-Type: application/x-own [*.wasm]"});
  const auto has = [](const std::string& response, const std::string& line) {
    return response.find("\r\n" + line + "\r\n") != response.npos;
  };
  const std::string home = get("/");  // the index
  EXPECT_TRUE(has(home, "X-All: one, two"));
  EXPECT_TRUE(has(home, "Cross-Origin-Embedder-Policy: require-corp"));
  EXPECT_TRUE(has(home, "X-Kind: page"));
  const std::string wasm = get("/api/a.wasm");
  EXPECT_TRUE(has(wasm, "X-Kind: api"));
  EXPECT_TRUE(has(wasm, "Content-Type: application/x-own"));
  EXPECT_EQ(wasm.find("application/wasm"), wasm.npos);
  const std::string none = get("/none");
  EXPECT_EQ(status(none), "404");
  EXPECT_TRUE(has(none, "X-All: one, two"));
  EXPECT_FALSE(has(none, "X-Kind: page"));
}

TEST_F(SiteTest, CachesByPath) {
  tree_.write("assets/app.123.js", "js");
  start({"--spa", "--cache", "/assets/**=immutable", "--cache", "*.html=no-cache", "--cache",
         "*.txt=60", "--cache", "/plain/**=no-store"});
  const auto rule = [this](const std::string& target, const std::string& more = "") {
    const std::string response = ask("GET " + target + " HTTP/1.1" + more);
    const std::string_view name = "\r\nCache-Control: ";
    const std::size_t begin = response.find(name);
    if (begin == response.npos) return std::string("none");
    const std::size_t value = begin + name.size();
    return response.substr(value, response.find("\r\n", value) - value);
  };
  EXPECT_EQ(rule("/assets/app.123.js"), "max-age=31536000, immutable");
  EXPECT_EQ(rule("/assets/app.123.js", "\r\nRange: bytes=0-0"), "max-age=31536000, immutable");
  EXPECT_EQ(rule("/assets/app.123.js", "\r\nIf-None-Match: *"), "max-age=31536000, immutable");
  EXPECT_EQ(rule("/assets/app.999.js"), "none");  // 404
  EXPECT_EQ(rule("/assets/view"), "no-cache");    // the page of the application
  EXPECT_EQ(rule("/"), "no-cache");
  EXPECT_EQ(rule("/a%20b.txt"), "max-age=60");
  EXPECT_EQ(rule("/plain/c.txt"), "no-store");  // the later rule wins
  EXPECT_EQ(rule("/plain/"), "no-cache");       // a listing
}

TEST_F(SiteTest, LetsOtherOriginsReadResponses) {
  start({"--cors"});
  const std::string origin = "\r\nOrigin: https://example.com";
  EXPECT_NE(ask("GET / HTTP/1.1" + origin).find("\r\nAccess-Control-Allow-Origin: *\r\n"),
            std::string::npos);
  const std::string preflight =
      ask("OPTIONS /a HTTP/1.1" + origin +
          "\r\nAccess-Control-Request-Method: GET\r\nAccess-Control-Request-Headers: x-a");
  EXPECT_EQ(status(preflight), "204");
  EXPECT_NE(preflight.find("\r\nAccess-Control-Allow-Headers: x-a\r\n"), preflight.npos);
  start({"--cors=https://example.com"});
  const std::string own = "\r\nAccess-Control-Allow-Origin: https://example.com\r\n";
  EXPECT_NE(ask("GET / HTTP/1.1" + origin).find(own), std::string::npos);
  EXPECT_EQ(ask("GET / HTTP/1.1\r\nOrigin: https://evil.example").find("Allow-Origin"),
            std::string::npos);
}

TEST_F(SiteTest, ServesOtherFilesForPaths) {
  start({"--rewrite", "/app/*=/index.html", "--rewrite", "/short/*=/plain/*", "--rewrite",
         "/index.html=/a b.txt", "--rewrite", "/folder*=/plain*", "--rewrite", "/up*=/.*"});
  EXPECT_TRUE(get("/app/x").ends_with("<h1>home</h1>"));  // a result is not rewritten again
  EXPECT_TRUE(get("/short/c.txt").ends_with("\r\n\r\nc"));
  EXPECT_TRUE(get("/index.html").ends_with("\r\n\r\nhello"));
  EXPECT_EQ(status(get("/folder")), "404");  // neither redirected nor listed
  for (const char* path : {"/up./.env", "/upenv", "/short/none", "/short/"}) {
    EXPECT_EQ(status(get(path)), "404") << path;
  }
}

TEST_F(SiteTest, RedirectsPaths) {
  start({"--redirect", "/old/*=/plain/*", "--redirect", "/x=https://example.com/y 308"});
  const std::string moved = get("/old/c.txt?q=1");
  EXPECT_EQ(status(moved), "302");
  EXPECT_NE(moved.find("\r\nLocation: /plain/c.txt?q=1\r\n"), moved.npos);
  const std::string away = get("/x");
  EXPECT_EQ(status(away), "308");
  EXPECT_NE(away.find("\r\nLocation: https://example.com/y\r\n"), away.npos);
}

TEST_F(SiteTest, SendsPagesOfItsOwnForErrors) {
  tree_.write("404.html", "<h1>no such gull</h1>");
  tree_.write("405.html", "<h1>read only</h1>");
  start({"--error-page", "404=404.html", "--error-page", "405=405.html"});
  const std::string none = get("/none");
  EXPECT_EQ(status(none), "404");
  EXPECT_TRUE(none.ends_with("\r\n\r\n<h1>no such gull</h1>"));
  EXPECT_NE(none.find("\r\nContent-Type: text/html"), none.npos);
  // Conditions and ranges are for the file that is missing.
  EXPECT_EQ(status(ask("GET /none HTTP/1.1\r\nIf-None-Match: *")), "404");
  EXPECT_TRUE(ask("GET /none HTTP/1.1\r\nRange: bytes=0-1").ends_with("<h1>no such gull</h1>"));
  EXPECT_TRUE(ask("HEAD /none HTTP/1.1").ends_with("\r\n\r\n"));
  const std::string refused = ask("POST / HTTP/1.1\r\nContent-Length: 0");
  EXPECT_EQ(status(refused), "405");
  EXPECT_NE(refused.find("\r\nAllow: "), refused.npos);
  EXPECT_TRUE(refused.ends_with("<h1>read only</h1>"));
}

TEST_F(SiteTest, CompressesText) {
  if (!coding::is_available(coding::Coding::Gzip)) GTEST_SKIP() << "built without zlib";
  constexpr std::size_t streamed_bytes = 200'000;
  tree_.write("long.html", std::string(20'000, 'x'));
  tree_.write("longer.html", std::string(streamed_bytes, 'x'));
  start({"--compress"});
  const auto chosen = [this](const std::string& accepted,
                             const std::string& target = "/long.html") {
    const std::string response = ask("GET " + target + " HTTP/1.1\r\nAccept-Encoding: " + accepted);
    const std::string_view name = "\r\nContent-Encoding: ";
    const std::size_t begin = response.find(name);
    if (begin == response.npos) return std::string("none");
    return response.substr(begin + name.size(),
                           response.find("\r\n", begin + 2) - begin - name.size());
  };
  EXPECT_EQ(chosen("identity"), "none");
  EXPECT_EQ(chosen("gzip, br;q=0, zstd;q=0"), "gzip");
  EXPECT_EQ(chosen("gzip;q=0"), "none");
  EXPECT_EQ(chosen("gzip", "/longer.html"), "gzip");
  EXPECT_EQ(chosen("gzip", "/plain/"), "gzip");  // the listing
}

TEST_F(SiteTest, SendsPrecompressedFiles) {
  tree_.write("app.js", "script");
  tree_.write("app.js.gz", "short");
  start({"--precompressed"});
  const std::string accepts = "GET /app.js HTTP/1.1\r\nAccept-Encoding: gzip";
  const std::string coded = ask(accepts);
  EXPECT_NE(coded.find("\r\nContent-Encoding: gzip\r\n"), coded.npos) << coded;
  EXPECT_TRUE(coded.ends_with("\r\n\r\nshort"));
  EXPECT_TRUE(get("/app.js").ends_with("\r\n\r\nscript"));
}

TEST_F(SiteTest, RequiresALogin) {
  const Environment environment("SKUA_AUTH", "ada:pass:word");
  start({"--cors", "--redirect", "/old=/"});
  const auto ask_as = [this](const std::string& login, const std::string& target = "/") {
    const std::string credentials =
        BasicCredentials{login.substr(0, login.find(':')), login.substr(login.find(':') + 1)}
            .field()
            .value();
    return ask("GET " + target + " HTTP/1.1\r\nAuthorization: " + credentials);
  };
  const std::string refused = get("/");
  EXPECT_EQ(status(refused), "401");
  EXPECT_NE(refused.find("\r\nWWW-Authenticate: Basic realm=\"skua\""), refused.npos);
  EXPECT_EQ(status(get("/none")), "401");
  EXPECT_EQ(status(get("/old")), "401");
  for (const char* login :
       {"ada:pass", "ada:", ":pass:word", "Ada:pass:word", "eve:x", "ada:pass:wore"}) {
    EXPECT_EQ(status(ask_as(login)), "401") << login;
  }
  EXPECT_TRUE(ask_as("ada:pass:word").ends_with("<h1>home</h1>"));
  EXPECT_EQ(status(ask_as("ada:pass:word", "/old")), "302");
  // Preflights carry no credentials.
  EXPECT_EQ(status(ask("OPTIONS / HTTP/1.1\r\nOrigin: https://example.com\r\n"
                       "Access-Control-Request-Method: GET")),
            "204");
}

TEST_F(SiteTest, KeepsALoginToItself) {
  for (const char* login : {"", "secret", ":secret", "secret:", "ada:sec\nret"}) {
    const Environment environment("SKUA_AUTH", login);
    const std::string error = usage_error({});
    EXPECT_TRUE(error.starts_with("skua: SKUA_AUTH: the value ")) << error;
    EXPECT_EQ(error.find("sec"), error.npos) << error;
  }
  const Environment environment("SKUA_AUTH", "ada:secret");
  Process process({"serve", "--print-config"});
  const std::string text = process.output();
  EXPECT_NE(text.find("# SKUA_AUTH in the environment requires a login"), text.npos);
  EXPECT_EQ(text.find("secret"), text.npos);
}

TEST_F(SiteTest, SaysWhichRuleIsMalformed) {
  const std::pair<std::vector<std::string>, std::string> cases[] = {
      {{"--header", "nonsense"}, "--header: 'nonsense' does not start with a name and a colon"},
      {{"--header", "X-A:"}, "--header: 'X-A:' has no value"},
      {{"--header", "X A: b"},
       "--header: 'X A: b' is not a header: header: the name is not a token"},
      {{"--header", "X-A: b\r\nX-B: c"}, "--header: 'X-A: b"},
      {{"--header", "Content-Length: 5"}, "--header: header Content-Length"},
      {{"--header", "X-A: b [a/b]"},
       "--header: the glob 'a/b' must start with a slash, as it contains one"},
      {{"--header", "X-A: b []"}, "--header: the glob is empty"},
      {{"--header", "X-A: b [/\n]"}, "--header: the glob contains a control character"},
      {{"--cache", "immutable"}, "--cache: 'immutable' is not GLOB=RULE"},
      {{"--cache", "=60"}, "--cache: the glob is empty"},
      {{"--cache", "*.js=public, max-age=5"}, "--cache: 'public, max-age=5' is not immutable"},
      {{"--header", "X-A: b [*.html"},
       "--header: 'X-A: b [*.html' has a bracket that is not closed"},
      {{"--cache", "*.js=x"}, "--cache: 'x' is not immutable, no-cache, no-store or a number of"},
      {{"--cache", "*.js=-1"}, "--cache: '-1' is not"},
      {{"--cache", "*.js=31536001"}, "--cache: '31536001' is not"},
      {{"--cache", "*.js="}, "--cache: '' is not"},
      {{"--redirect", "/a=//evil.example"},
       "--redirect: '//evil.example' is neither a path nor an http or https URL"},
      {{"--redirect", "/a=/b", "--redirect", "/b=/a"},
       "--redirect: '/b=/a' could send clients in circles"},
      {{"--rewrite", "/a=/../b"}, "--rewrite: '/../b' is not a path such as /new/*"},
      {{"--error-page", "404=../x"}, "--error-page: '../x' is not the name of a file in DIR"},
      {{"--cors=example.com"},
       "--cors: cors: example.com is not an origin, like https://example.com"},
  };
  for (const auto& [options, text] : cases) {
    const std::string error = usage_error(options);
    EXPECT_TRUE(error.starts_with("skua: " + text)) << error << "\n" << text;
  }
}

TEST_F(SiteTest, PrintsItsRules) {
  Process process({"serve", "--spa", "--header", "X-A:b [*.js]", "--header", "X-B: c", "--cache",
                   "*.js=60", "--cors", "--rewrite", "/a=/b", "--redirect", "/c=/d", "--error-page",
                   "404=e.html", "--print-config"});
  const std::string text = process.output();
  EXPECT_EQ(process.wait(), 0);
  for (const char* line :
       {"\nspa = true\n", "\nheader = [\"X-A:b [*.js]\", \"X-B: c\"]\n",
        "\ncache = [\"*.js=60\"]\n", "\ncors = true\n", "\nerror-page = [\"404=e.html\"]\n"}) {
    EXPECT_NE(text.find(line), text.npos) << line << text;
  }
}

}  // namespace
}  // namespace skua::test
