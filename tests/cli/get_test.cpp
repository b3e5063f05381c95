// SPDX-License-Identifier: MIT
// `skua get` and its siblings as scripts see them (pipes) and as people see them (a terminal).
#include <sys/stat.h>

#include <atomic>
#include <string>
#include <thread>

#include "cli/blunt_server.hpp"
#include "cli/get_fixture.hpp"
#include "crypto/digest.hpp"
#include "get/words.hpp"

namespace skua::test {
namespace {

using With = Process::With;

// The request as text: its request line, the relevant fields, and the content.
std::string described(const Request& request) {
  std::string text(name(request.method()));
  text.append(" ").append(request.target()).append("\n");
  for (const char* field : {"X-Name", "Accept", "User-Agent", "Authorization", "Content-Type",
                            "Content-Length", "Cookie"}) {
    if (const auto value = request.header(field)) {
      text.append(field).append(": ").append(*value).append("\n");
    }
  }
  return text.append("\n").append(request.body());
}

class GetTest : public GetFixture {
 protected:
  void SetUp() override {
    for (const Method method :
         {Method::Get, Method::Post, Method::Put, Method::Patch, Method::Delete}) {
      router_.route(method, "/echo", described);
    }
    router_.get("/json", [] { return Response::json(R"({"a":[1,"b"]})"); });
    router_.get("/bytes",
                [] { return Response(Status::Ok, "\xfe\xff\x1b[2J", "application/octet-stream"); });
    router_.get("/evil", [] { return "a\x1b[31mb\r\n"; });
    router_.get("/status/{code}", [](int code) { return Response(static_cast<Status>(code)); });
    router_.get("/moved", [] { return Response::redirect("/json", Status::Found); });
    router_.get("/round", [] { return Response::redirect("/round", Status::Found); });
    router_.get("/cookie", [](const Request& request) {
      const std::string told(request.header("Cookie").value_or("none"));
      return Response(told + "\n").header("Set-Cookie", "id=7; Max-Age=1000");
    });
    router_.get("/private", [](const Request& request) {
      if (request.header("Authorization")) return Response("welcome\n");
      return Response(Status::Unauthorized).header("WWW-Authenticate", "Basic realm=\"x\"");
    });
    router_.get("/slow", [](const Request&) -> Task<Response> {
      co_await sleep(60s);
      co_return "late";
    });
    start_server();
  }
  [[nodiscard]] std::string errors_path() const { return (folder_ / "errors").string(); }
};

TEST_F(GetTest, PrintsTheContentAsItIs) {
  const Ended json = run({"get", url("/json")});
  EXPECT_EQ(json.output, R"({"a":[1,"b"]})");
  EXPECT_EQ(json.errors, "");
  EXPECT_EQ(json.code, 0);
  EXPECT_EQ(run({"get", url("/bytes")}).output, "\xfe\xff\x1b[2J");
  EXPECT_EQ(run({"get", url("/evil")}).output, "a\x1b[31mb\r\n");
}

TEST_F(GetTest, AUrlNeedNoScheme) {
  const std::string port = std::to_string(server_->port());
  EXPECT_EQ(run({"get", "127.0.0.1:" + port + "/json"}).code, 0);
  EXPECT_EQ(run({"get", "localhost:" + port + "/json"}).code, 0);
  EXPECT_EQ(run({"get", ":" + port + "/json"}).output, R"({"a":[1,"b"]})");
}

TEST_F(GetTest, ItemsGoToTheWire) {
  const Ended got =
      run({"get", url("/echo?a=1"), "X-Name:Ada L", "q==x y&z", "Accept:text/css", "User-Agent:"});
  EXPECT_EQ(got.output, "GET /echo?a=1&q=x+y%26z\nX-Name: Ada L\nAccept: text/css\n\n");
  const Ended posted = run({"post", url("/echo"), "name=Ada", "born:=1815", "User-Agent:x"});
  EXPECT_TRUE(contains(posted.output, "POST /echo\n"));
  EXPECT_TRUE(contains(posted.output, "Content-Type: application/json\nContent-Length: 26\n"));
  EXPECT_TRUE(posted.output.ends_with("\n\n{\"name\":\"Ada\",\"born\":1815}")) << posted.output;
}

TEST_F(GetTest, SeveralUrlsAreGotInTurn) {
  const Ended ended = run({"get", url("/json"), "X-Name:Ada", url("/echo"), "--fail"});
  EXPECT_TRUE(ended.output.starts_with("{\"a\":[1,\"b\"]}GET /echo\nX-Name: Ada\n"))
      << ended.output;
  EXPECT_EQ(ended.code, 0);
  const Ended failing =
      run({"get", url("/status/404"), url("/json"), url("/status/500"), "--fail"});
  EXPECT_EQ(failing.output, "404 Not Found\n{\"a\":[1,\"b\"]}500 Internal Server Error\n");
  EXPECT_EQ(failing.code, 4) << "the first failure";
}

TEST_F(GetTest, UrlsCanBeInAFile) {
  folder_.write("list", "# two\r\n\n  " + url("/json") + "\r\n" + url("/status/204"));
  EXPECT_EQ(run({"get", "--input-file", "list"}).output, R"({"a":[1,"b"]})");
  EXPECT_EQ(run({"get", url("/json"), "--input-file", "list"}).output,
            R"({"a":[1,"b"]}{"a":[1,"b"]})");
  EXPECT_EQ(run({"get", "-d", "--input-file", "list"}).code, 0);
  EXPECT_EQ(content("json"), R"({"a":[1,"b"]})");
  folder_.write("bad", "a.test\n\x1b[2J:\n");
  const Ended bad = run({"get", "--input-file", "bad"});
  EXPECT_EQ(bad.errors, "skua: bad:2: '\\x1b[2J:' is not a URL: invalid syntax\n");
  EXPECT_EQ(bad.code, 2);
  folder_.write("none", "#\n");
  EXPECT_EQ(run({"get", "--input-file", "none"}).errors, "skua: none has no URL\n");
  EXPECT_EQ(run({"get", "--input-file", "missing"}).code, 11);
}

TEST_F(GetTest, EachCommandIsAMethod) {
  for (const auto& [command, method] :
       {std::pair("post", "POST"), std::pair("put", "PUT"), std::pair("patch", "PATCH"),
        std::pair("delete", "DELETE")}) {
    const Ended ended = run({command, url("/echo"), "a=b"});
    EXPECT_TRUE(ended.output.starts_with(std::string(method) + " /echo\n")) << ended.output;
    EXPECT_TRUE(ended.output.ends_with("{\"a\":\"b\"}"));
    EXPECT_EQ(ended.code, 0);
  }
  const Ended head = run({"head", url("/json")});
  EXPECT_TRUE(head.output.starts_with("HTTP/1.1 200 OK\n")) << head.output;
  EXPECT_TRUE(contains(head.output, "Content-Length: 13\n"));
  EXPECT_EQ(head.output.find("\n\n"), std::string::npos);
}

TEST_F(GetTest, ARequestMayHaveAnyMethod) {
  const Ended options = run({"request", "OPTIONS", url("/json"), "-i"});
  EXPECT_EQ(options.code, 0) << options.errors;
  EXPECT_TRUE(contains(options.output, "Allow: GET, HEAD, OPTIONS\n"));
  const Ended put = run({"request", "put", url("/echo"), "a=b"});
  EXPECT_TRUE(put.output.starts_with("PUT /echo\n")) << put.output;
  EXPECT_TRUE(put.output.ends_with("{\"a\":\"b\"}")) << put.output;
  const Ended got = run({"request", "GET", url("/echo"), "a=b"});
  EXPECT_TRUE(run({"get", "-X", "put", url("/echo"), "a=b"}).output.starts_with("PUT /echo\n"));
  EXPECT_TRUE(run({"post", url("/echo"), "--method=DELETE"}).output.starts_with("DELETE /echo\n"));
  EXPECT_TRUE(run({"get", "-X", "HEAD", url("/json")}).output.starts_with("HTTP/1.1 200 OK\n"));
  EXPECT_TRUE(got.output.ends_with("{\"a\":\"b\"}")) << got.output;
}

TEST_F(GetTest, AMethodNeedNotBeKnown) {
  const BluntServer server([](std::string_view received) {
    const std::string line(received.substr(0, received.find("\r\n")));
    return BluntServer::Answer{"HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(line.size()) +
                               "\r\n\r\n" + line};
  });
  const std::string place = ":" + std::to_string(server.port()) + "/cup";
  EXPECT_EQ(run({"request", "brew", place}).output, "BREW /cup HTTP/1.1");
  EXPECT_EQ(run({"get", "-X", "M-SEARCH", place}).output, "M-SEARCH /cup HTTP/1.1");
}

TEST_F(GetTest, InputThatIsNotSentIsNotIgnoredInSilence) {
  std::atomic<bool> is_written{false};
  const BluntServer server([&is_written](std::string_view) {
    while (!is_written) std::this_thread::yield();
    return BluntServer::Answer{"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"};
  });
  const auto told = [&](const std::string& command, const std::string& input) {
    is_written = false;
    const auto process = start({command, ":" + std::to_string(server.port()) + "/"}, With::Pipes);
    process->write(input);
    is_written = true;
    return end(process).errors;
  };
  EXPECT_EQ(told("post", "text"),
            "skua: WARNING: standard input was not sent; use --data - to send it\n");
  EXPECT_EQ(told("post", ""), "");
  EXPECT_EQ(told("get", "text"), "") << "stdin may belong to a shell loop";
}

TEST_F(GetTest, FormsAreSent) {
  const Ended form = run({"post", "--form", url("/echo"), "a=1 2", "b=x&y"});
  EXPECT_TRUE(contains(form.output, "Content-Type: application/x-www-form-urlencoded"));
  EXPECT_TRUE(form.output.ends_with("\n\na=1+2&b=x%26y")) << form.output;
  folder_.write("sea.png", "PNG");
  const Ended file = run({"post", url("/echo"), "title=Sea", "photo@sea.png"});
  EXPECT_TRUE(contains(file.output, "Content-Type: multipart/form-data; boundary="));
  EXPECT_TRUE(
      contains(file.output, "name=\"photo\"; filename=\"sea.png\"\r\nContent-Type: image/png\r\n"));
}

TEST_F(GetTest, ContentIsATextAFileOrTheInput) {
  EXPECT_TRUE(run({"post", url("/echo"), "--data", "[1,2]"})
                  .output.ends_with("Content-Type: application/json\nContent-Length: 5\n\n[1,2]"));
  EXPECT_TRUE(run({"put", url("/echo"), "--data", "x", "--type", "text/css"})
                  .output.ends_with("Content-Type: text/css\nContent-Length: 1\n\nx"));
  EXPECT_TRUE(run({"post", url("/echo"), "--form", "--data", "a=1"})
                  .output.ends_with("Content-Type: application/x-www-form-urlencoded\n"
                                    "Content-Length: 3\n\na=1"));
  folder_.write("a.html", "<p>");
  const Ended file = run({"post", url("/echo"), "--data", "@a.html"});
  EXPECT_TRUE(
      file.output.ends_with("Content-Type: text/html; charset=utf-8\nContent-Length: 3\n\n<p>"))
      << file.output;
  const auto again = start({"post", url("/echo"), "--data", "@-"}, With::Pipes);
  again->write("at");
  again->end_input();
  EXPECT_TRUE(end(again).output.ends_with("\n\nat"));
  const auto process = start({"post", url("/echo"), "--data", "-"}, With::Pipes);
  process->write("piece ");
  process->write("by piece");
  process->end_input();
  const Ended input = end(process);
  EXPECT_TRUE(input.output.ends_with("Content-Type: application/octet-stream\n\npiece by piece"))
      << input.output;
}

TEST_F(GetTest, WhatMakesNoSenseIsRefused) {
  const std::pair<std::vector<std::string>, std::string> cases[] = {
      {{"get", url("/"), "a=1"},
       "get sends no content: use `skua post`, or name==value for a query parameter"},
      {{"get", url("/"), "word"}, "'word' is not Name:value, "},
      {{"post", url("/"), url("/")}, "multiple URLs work only with get and head"},
      {{"get", url("/"), url("/"), "-o", "file"}, "--output takes only one URL"},
      {{"get", "--input-file", "list", "-o", "file"}, "--output takes only one URL"},
      {{"get", "ftp://a/"}, "'ftp://a/' is not a URL: it must begin with http:// or https://"},
      {{"get", "http://a b/"}, "'http://a b/' is not a URL: invalid syntax"},
      {{"post", url("/"), "a=1", "--data", "x"}, "--data and data items cannot be used together"},
      {{"post", url("/"), "a@b", "--json"},
       "name@FILE sends a form and cannot be used with --json"},
      {{"post", url("/"), "a=1", "a=2"}, "'a' is given twice"},
      {{"get", url("/"), "-a", "x"}, "'x' does not start with a name and a colon"},
      {{"get", url("/"), "-a", "x:y", "--bearer", "z"},
       "--auth and --bearer cannot be used together"},
      {{"get", url("/"), "--resolve", "a:b:c"}, "'a:b:c' is not HOST:PORT:ADDRESS"},
      {{"get", url("/"), "--proxy", "nonsense://x"}, "could not use the proxy nonsense://x: only "},
      {{"head", url("/"), "-d"}, "head has no content to save"},
      {{"get", url("/"), "--timeout", "nan"}, "'nan' is not a number from 0.001 to 1000000"},
      {{"get", url("/"), "--max-size", "-1"}, "'-1' is not a size"},
      {{"get", url("/"), "--max-size", "99999999999999999999"},
       "'99999999999999999999' is not a size"},
      {{"get"}, "URL is missing"},
      {{"get", "-5", url("/")}, "unknown option -5"},
      {{"get", "-4", "-6", url("/")}, "--ipv4 and --ipv6 cannot be used together"},
      {{"get", "--interface", "::1", "-4", url("/")}, "'::1' is not an IPv4 address"},
      {{"post", "-d", "a=b", url("/")},
       "'a=b' is not a URL; the URL comes first: skua post URL a=b (-d means --download; use "
       "--data to send text)"},
      {{"request", "TWO WORDS", url("/")}, "'TWO WORDS' is not a method"},
      {{"get", "-X", "", url("/")}, "'' is not a method"},
      {{"request", "connect", url("/")}, "CONNECT is for proxies: use --proxy"},
      {{"request", "GET", "-X", "PUT", url("/")}, "METHOD and --method cannot be used together"},
      {{"request", "TRACE", url("/"), "a=b"}, "TRACE sends no content"},
      {{"request", "POST"}, "URL is missing"},
  };
  for (const auto& [words, text] : cases) {
    const Ended ended = run(words);
    EXPECT_TRUE(contains(ended.errors, text));
    EXPECT_EQ(ended.code, 2) << text;
    EXPECT_EQ(ended.output, "");
  }
}

TEST_F(GetTest, TheStatusCountsWhereItIsWanted) {
  for (const auto& [status, code] : {std::pair(204, 0), std::pair(404, 4), std::pair(503, 5)}) {
    const std::string path = "/status/" + std::to_string(status);
    EXPECT_EQ(run({"get", url(path)}).code, 0) << status;
    EXPECT_EQ(run({"get", url(path), "--fail"}).code, code) << status;
  }
  EXPECT_EQ(run({"get", url("/moved"), "--fail", "--no-follow"}).code, 3);
  EXPECT_EQ(run({"get", url("/moved"), "--no-follow"}).code, 0);
}

TEST_F(GetTest, RedirectsAreFollowed) {
  EXPECT_EQ(run({"get", url("/moved")}).output, R"({"a":[1,"b"]})");
  const Ended round = run({"get", url("/round"), "--max-redirects", "3"});
  EXPECT_EQ(round.code, 10);
  EXPECT_TRUE(round.errors.starts_with("skua: ")) << round.errors;
}

TEST_F(GetTest, FailuresHaveCodes) {
  EXPECT_EQ(run({"get", "http://name.invalid/"}).code, 6);
  const ClosedPort closed;
  const Ended refused = run({"get", "127.0.0.1:" + std::to_string(closed.number())});
  EXPECT_EQ(refused.code, 7);
  EXPECT_TRUE(refused.errors.starts_with("skua: ")) << refused.errors;
  EXPECT_EQ(run({"get", url("/slow"), "--timeout", "0.05"}).code, 9);
  EXPECT_EQ(run({"get", url("/json"), "--max-size", "5"}).code, 10);
  EXPECT_EQ(run({"get", url("/json"), "-o", "no/such/file"}).code, 11);
  EXPECT_EQ(run({"post", url("/echo"), "--data", "@missing"}).code, 11);
  EXPECT_EQ(run({"post", url("/echo"), "a=@missing"}).code, 11);
  EXPECT_EQ(run({"get", url("/json"), "--unix", folder_.string() + "/nobody"}).code, 7);
}

TEST_F(GetTest, HostsCanBeReachedWithoutTheProxyOfTheEnvironment) {
  setenv("http_proxy", "http://127.0.0.1:1", 1);
  setenv("NO_PROXY", "other.invalid", 1);
  EXPECT_EQ(run({"get", "http://name.invalid/"}).code, 7);
  EXPECT_EQ(run({"get", "http://name.invalid/", "--no-proxy", "name.invalid"}).code, 6);
  EXPECT_EQ(run({"get", "http://other.invalid/", "--no-proxy", "name.invalid"}).code, 7);
  unsetenv("NO_PROXY");
}

TEST_F(GetTest, DescriptorsThatAreClosedAreGivenToNothingElse) {
  const auto code_of = [this](const std::string& rest) {
    const std::string command = testing::program_path("skua") + " " + rest + " 2>" + errors_path();
    return WEXITSTATUS(std::system(command.c_str()));  // NOLINT(concurrency-mt-unsafe)
  };
  EXPECT_EQ(code_of("get " + url("/json") + " >&-"), 11);
  EXPECT_TRUE(contains(content("errors"), "Bad file descriptor"));
  EXPECT_EQ(code_of("post " + url("/echo") + " --data - >" + errors_path() + " <&-"), 11);
  EXPECT_TRUE(contains(content("errors"), "Bad file descriptor"));
}

TEST_F(GetTest, CtrlCEndsWhatWritesToNobody) {
  router_.get("/long", [] { return std::string(1'000'000, 'x'); });
  start_server();
  const auto process = start({"get", url("/long"), "-v"});
  EXPECT_TRUE(contains(process->errors_until("< HTTP/1.1"), "200"));
  process->signal(SIGINT);
  EXPECT_EQ(process->wait(), 130);
}

TEST(GetOptions, AUrlIsWhatAPersonMeans) {
  const std::pair<std::string, std::string> cases[] = {
      {"example.com", "http://example.com"},
      {"https://example.com/a", "https://example.com/a"},
      {"HTTPS://example.com/", "https://example.com/"},
      {"localhost:8080/x", "http://localhost:8080/x"},
      {":8080/x", "http://localhost:8080/x"},
      {":/x", "http://localhost/x"},
      {"[::1]:80/x", "http://[::1]:80/x"},
      {"a.example/?to=http://b", "http://a.example/?to=http://b"},
      {"a.example/x y", "http://a.example/x%20y"},
  };
  for (const auto& [text, whole] : cases) {
    const Result<Url, Problem> url = cli::parse_url_argument(text);
    EXPECT_EQ(url ? url->to_string() : url.error().text, whole);
  }
  for (const char* text : {"", "ftp://a/", "http://", "a b", ":x/", "http://a:b:c/"}) {
    EXPECT_FALSE(cli::parse_url_argument(text)) << text;
  }
}

TEST(GetOptions, AnAddressIsGivenToAHost) {
  const HostOverride four = cli::parse_override("a.example:443:127.0.0.1");
  EXPECT_EQ(four.host, "a.example");
  EXPECT_EQ(four.port, 443);
  EXPECT_EQ(four.address, "127.0.0.1");
  const HostOverride six = cli::parse_override("a.example:*:[::1]");
  EXPECT_EQ(six.port, 0);
  EXPECT_EQ(six.address, "::1");
}

TEST_F(GetTest, CredentialsAreSent) {
  EXPECT_TRUE(contains(run({"get", url("/echo"), "--auth", "ada:p:w"}).output,
                       "Authorization: Basic YWRhOnA6dw==\n"));
  EXPECT_TRUE(contains(run({"get", url("/echo"), "--bearer", "tok"}).output,
                       "Authorization: Bearer tok\n"));
  EXPECT_EQ(run({"get", url("/private"), "--auth", "a:b", "--digest"}).output, "welcome\n");
  const Ended without = run({"get", url("/echo"), "--auth", "a:b", "--digest"});
  EXPECT_EQ(without.output.find("Authorization"), std::string::npos);
}

TEST_F(GetTest, CookiesAreKeptInAFile) {
  EXPECT_EQ(run({"get", url("/cookie"), "--cookie-jar", "jar"}).output, "none\n");
  EXPECT_TRUE(contains(content("jar"), "id\t7"));
  EXPECT_EQ(run({"get", url("/cookie"), "--cookie-jar", "jar"}).output, "id=7\n");
  EXPECT_EQ(run({"get", url("/cookie")}).output, "none\n");
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(run({"get", url("/cookie"), "--cookie-jar", "pipe"}).code, 11);
}

TEST_F(GetTest, HeadsCanBeSeen) {
  const Ended included = run({"get", url("/json"), "-i"});
  EXPECT_TRUE(included.output.starts_with("HTTP/1.1 200 OK\n")) << included.output;
  EXPECT_TRUE(included.output.ends_with("\n\n{\"a\":[1,\"b\"]}")) << included.output;
  EXPECT_EQ(included.errors, "");
  const Ended verbose = run({"get", url("/json"), "-v", "X-Name:Ada", "q==1"});
  EXPECT_EQ(verbose.output, R"({"a":[1,"b"]})");
  EXPECT_TRUE(verbose.errors.starts_with("> GET /json?q=1 HTTP/1.1\n> Host: 127.0.0.1:"))
      << verbose.errors;
  EXPECT_TRUE(contains(verbose.errors, "> X-Name: Ada\n"));
  EXPECT_TRUE(contains(verbose.errors, "< HTTP/1.1 200 OK\n< "));
  const Ended secret = run({"get", url("/echo"), "-v", "--bearer", "tok"});
  EXPECT_EQ(secret.errors.find("tok"), std::string::npos);
  const Ended items = run({"get", url("/echo"), "-v", "authorization:Bearer tok", "Cookie:a=tok"});
  EXPECT_TRUE(contains(items.output, "Authorization: Bearer tok\n"));
  EXPECT_TRUE(contains(items.errors, "> authorization: ...\n> Cookie: ...\n"));
}

TEST_F(GetTest, StepsAreTimed) {
  const Ended timed = run({"get", url("/json"), "--timing"});
  EXPECT_TRUE(contains(timed.errors, "connect  "));
  EXPECT_TRUE(contains(timed.errors, "\ntotal  "));
}

TEST_F(GetTest, ATerminalShowsJsonInLinesAndColours) {
  const Ended shown = run({"get", url("/json")}, With::Terminal);
  EXPECT_EQ(
      shown.output,
      "{\r\n  \x1b[34m\"a\"\x1b[0m: [\r\n    \x1b[36m1\x1b[0m,\r\n    \x1b[32m\"b\"\x1b[0m\r\n"
      "  ]\r\n}\r\n");
  EXPECT_EQ(run({"get", url("/json"), "--colour", "never"}, With::Terminal).output,
            "{\r\n  \"a\": [\r\n    1,\r\n    \"b\"\r\n  ]\r\n}\r\n");
  EXPECT_EQ(run({"get", url("/json"), "--raw"}, With::Terminal).output, "{\"a\":[1,\"b\"]}\r\n");
  setenv("NO_COLOR", "1", 1);
  EXPECT_EQ(run({"get", url("/json")}, With::Terminal).output.find('\x1b'), std::string::npos);
}

TEST_F(GetTest, ATerminalIsNotCommanded) {
  EXPECT_EQ(run({"get", url("/evil")}, With::Terminal).output, "a\\x1b[31mb\r\n");
  const Ended binary = run({"get", url("/bytes")}, With::Terminal);
  EXPECT_EQ(binary.output, "");
  EXPECT_EQ(binary.errors,
            "skua: the content is binary (application/octet-stream, 6 B): save it with -d or -o "
            "FILE, or print it with -o -\n");
  EXPECT_EQ(binary.code, 0);
  EXPECT_EQ(run({"get", url("/bytes"), "-o", "-"}, With::Terminal).output, "\xfe\xff\x1b[2J");
}

TEST_F(GetTest, AVersionCanBeWanted) {
  EXPECT_TRUE(contains(run({"get", url("/json"), "-i", "--http1.1"}).output, "HTTP/1.1 200 OK\n"));
  EXPECT_EQ(run({"get", url("/json"), "--http1.1", "--http2"}).code, 2);
}

TEST_F(GetTest, WhoTheServerIsCounts) {
  if (!crypto::is_available()) GTEST_SKIP() << "built without OpenSSL";
  ServerOptions options;
  options.tls.self_signed = true;
  testing::TestServer secure(router_, BackendChoice::Auto, std::move(options),
                             testing::Transport::Tls);
  const std::string place = "https://127.0.0.1:" + std::to_string(secure.port()) + "/json";
  const Ended unknown = run({"get", place});
  EXPECT_EQ(unknown.code, 8);
  EXPECT_EQ(unknown.output, "");
  EXPECT_TRUE(contains(unknown.errors, "certificate"));
  EXPECT_TRUE(contains(unknown.errors,
                       "\nUse --ca FILE to trust its CA, or -k to accept any certificate.\n"));
  const Ended insecure = run({"get", place, "--insecure", "--http1.1"});
  EXPECT_EQ(insecure.output, R"({"a":[1,"b"]})");
  EXPECT_TRUE(contains(insecure.errors, "skua: WARNING: --insecure"));
  EXPECT_EQ(run({"get", url("/json"), "--ca", "missing.pem"}).code, 0);
  EXPECT_EQ(run({"get", place, "--ca", "missing.pem"}).code, 8);
}

TEST_F(GetTest, CtrlCEndsIt) {
  const auto process = start({"get", url("/slow"), "-v"});
  process->signal(SIGINT);
  const Ended ended = end(process);
  EXPECT_EQ(ended.code, 130);
  EXPECT_EQ(ended.output, "");
}

TEST_F(GetTest, HelpNamesItemsAndCodes) {
  const Ended help = run({"get", "--help"});
  EXPECT_EQ(help.code, 0);
  for (const char* text :
       {"Usage: skua get ", "name:=json", "--max-redirects COUNT [10]", "10 (protocol, limit)"}) {
    EXPECT_TRUE(contains(help.output, text));
  }
}

}  // namespace
}  // namespace skua::test
