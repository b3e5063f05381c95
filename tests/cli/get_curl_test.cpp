// SPDX-License-Identifier: MIT
// `skua curl`: takes a command line of curl, and sends its request.
#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/blunt_server.hpp"
#include "cli/get_fixture.hpp"
#include "coding/coding.hpp"

namespace skua::test {
namespace {

using Words = std::vector<std::string>;

// Answers each request with itself: its bytes are the output of the command.
class CurlCommand : public GetFixture {
 protected:
  CurlCommand() : server_([this](std::string_view received) { return answer(received); }) {}

  BluntServer::Answer answer(std::string_view received) {
    request_ += received;
    if (!is_complete(request_)) return {};
    std::string text = "HTTP/1.1 200 OK\r\nContent-Length: ";
    text.append(std::to_string(request_.size())).append("\r\n\r\n").append(request_);
    request_.clear();
    return {text};
  }
  static bool is_complete(const std::string& request) {
    const std::size_t head = request.find("\r\n\r\n");
    if (head == request.npos) return false;
    constexpr std::string_view length = "\r\nContent-Length: ";
    if (const std::size_t at = request.find(length); at < head) {
      return request.size() >= head + 4 + std::stoul(request.substr(at + length.size()));
    }
    return request.find("chunked") > head || request.ends_with("\r\n0\r\n\r\n");
  }
  [[nodiscard]] std::string at(const std::string& path = "/") const {
    return "127.0.0.1:" + std::to_string(server_.port()) + path;
  }
  Ended curl(Words words) {
    words.insert(words.begin(), "curl");
    return run(std::move(words));
  }
  // The error of a command line that is not sent.
  std::string refusal(Words words) {
    const Ended ended = curl(std::move(words));
    EXPECT_EQ(ended.code, 2) << ended.errors;
    EXPECT_EQ(ended.output, "");
    return ended.errors;
  }
  // A request, with its fields sorted: their order means nothing.
  static std::string sorted(const std::string& request) {
    const std::size_t head = request.find("\r\n\r\n");
    if (head == request.npos) return request;
    std::vector<std::string> lines;
    for (std::size_t begin = 0; begin < head + 2;) {
      const std::size_t end = request.find("\r\n", begin);
      lines.push_back(request.substr(begin, end - begin));
      begin = end + 2;
    }
    std::ranges::sort(lines);
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    return text + request.substr(head);
  }

  std::string request_;  // of the server's thread
  BluntServer server_;
};

TEST_F(CurlCommand, ACommandLineOfChromeIsSent) {
  const Ended sent = curl(
      {at("/api?a=1"), "-H", "accept: application/json", "-H", "accept-language: en-US,en;q=0.9",
       "-H", "content-type: application/json", "-b", "sid=1; theme=dark", "-H",
       "sec-ch-ua: \"Chromium\";v=\"130\"", "--data-raw", "{\"a\":\"@b\"}", "--compressed"});
  EXPECT_EQ(sent.code, 0) << sent.errors;
  EXPECT_EQ(sent.errors, "");
  EXPECT_TRUE(sent.output.starts_with("POST /api?a=1 HTTP/1.1\r\nHost: 127.0.0.1:")) << sent.output;
  for (const std::string_view field :
       {"accept: application/json", "content-type: application/json", "Cookie: sid=1; theme=dark",
        "sec-ch-ua: \"Chromium\";v=\"130\"", "Content-Length: 10"}) {
    EXPECT_TRUE(contains(sent.output, "\r\n" + std::string(field)));
  }
  EXPECT_EQ(sent.output.find("\r\nAccept-Encoding: ") != std::string::npos,
            coding::is_available(coding::Coding::Gzip));
  EXPECT_EQ(sent.output.find("Accept: */*"), std::string::npos);
  EXPECT_TRUE(sent.output.ends_with("\r\n\r\n{\"a\":\"@b\"}"));
}

TEST_F(CurlCommand, ACommandLineOfFirefoxIsSent) {
  const Ended sent =
      curl({"http://" + at("/form"), "--compressed", "-X", "POST", "-H", "User-Agent: Mozilla/5.0",
            "-H", "Accept-Encoding: gzip, deflate, br", "-H", "Connection: keep-alive", "-H",
            "Content-Length: 7", "-H", "Cookie: a=b", "--data-raw", "a=b\nc=d"});
  EXPECT_EQ(sent.code, 0);
  EXPECT_TRUE(contains(sent.errors, "ignoring the header Content-Length: the content decides it"));
  EXPECT_TRUE(contains(sent.output, "\r\nUser-Agent: Mozilla/5.0\r\n"));
  EXPECT_TRUE(contains(sent.output, "\r\nConnection: keep-alive\r\n"));
  EXPECT_TRUE(contains(sent.output, "\r\nContent-Type: application/x-www-form-urlencoded\r\n"));
  EXPECT_EQ(sent.output.find("deflate"), std::string::npos);  // skua asks for what it can decode
  EXPECT_TRUE(sent.output.ends_with("\r\n\r\na=b\nc=d"));
}

TEST_F(CurlCommand, MethodsFollowTheContent) {
  folder_.write("file", "1\n2");
  const std::pair<Words, std::string> cases[] = {
      {{at()}, "GET / "},
      {{at(), "-d", "a"}, "POST / "},
      {{at(), "-F", "a=b"}, "POST / "},
      {{at("/f/"), "-T", "file"}, "PUT /f/file "},
      {{at(), "-XPATCH", "-d", "a"}, "PATCH / "},
      {{at(), "--request", "PURGE"}, "PURGE / "},
      {{"--url", at("/x"), "-sSL"}, "GET /x "},
      {{at("/?a=1#f"), "-G", "-d", "b=2", "--data-urlencode", "c=x y"}, "GET /?a=1&b=2&c=x%20y "},
  };
  for (const auto& [words, line] : cases) {
    const Ended sent = curl(words);
    EXPECT_TRUE(sent.output.starts_with(line)) << sent.output << sent.errors;
  }
  const Ended head = curl({at(), "-I"});
  EXPECT_EQ(head.code, 0);
  EXPECT_TRUE(head.output.starts_with("HTTP/1.1 200 OK\n")) << head.output;
}

TEST_F(CurlCommand, ContentIsPutTogether) {
  folder_.write("file", "1\r\n2\n");
  const std::pair<Words, std::string> cases[] = {
      {{"-d", "a=1", "--data-raw", "@b", "-d", "c"}, "a=1&@b&c"},
      {{"-d", "@file"}, "12"},
      {{"--data-binary", "@file"}, "1\r\n2\n"},
      {{"--data-binary", "@file", "-d", "x"}, "1\r\n2\n&x"},
      {{"--data-raw", "@file"}, "@file"},
      {{"--data-raw", "-"}, "-"},
      {{"--data-raw", ""}, ""},
      {{"--data-raw", "[1,2]"}, "[1,2]"},
      {{"--data-raw", "--silent"}, "--silent"},
      {{"--data-urlencode", "a b&c"}, "a%20b%26c"},
      {{"--data-urlencode", "=a=b"}, "a%3Db"},
      {{"--data-urlencode", "n=\xc3\xa9"}, "n=%C3%A9"},
      {{"--data-urlencode", "n@file"}, "n=1%0D%0A2%0A"},
      {{"--json", "{\"a\":", "--json", "1}"}, "{\"a\":1}"},
      {{"--json", "@file"}, "1\r\n2\n"},
      {{"-T", "file"}, "1\r\n2\n"},
  };
  for (auto [words, content] : cases) {
    words.insert(words.begin(), at());
    const Ended sent = curl(words);
    EXPECT_EQ(sent.code, 0) << sent.errors;
    EXPECT_TRUE(sent.output.ends_with("\r\n\r\n" + content)) << sent.output;
  }
}

TEST_F(CurlCommand, StandardInputIsSent) {
  for (const Words& words : {Words{"-d", "@-"}, {"--data-binary", "@-"}, {"-T", "-"}}) {
    Words all{"curl", at()};
    all.insert(all.end(), words.begin(), words.end());
    const auto process = start(all, Process::With::Pipes);
    process->write("from the pipe");
    process->end_input();
    const Ended sent = end(process);
    EXPECT_EQ(sent.code, 0) << sent.errors;
    EXPECT_TRUE(contains(sent.output, "from the pipe"));
  }
}

TEST_F(CurlCommand, FieldsHaveTheirDefaults) {
  const Ended json = curl(
      {at(), "--json", "1", "-A", "agent", "-e", "http://a.test/;auto", "-u", "a:b", "-r", "0-9"});
  for (const std::string_view field :
       {"Content-Type: application/json", "Accept: application/json", "User-Agent: agent",
        "Referer: http://a.test/", "Authorization: Basic YTpi", "Range: bytes=0-9"}) {
    EXPECT_TRUE(contains(json.output, "\r\n" + std::string(field) + "\r\n"));
  }
  const Ended given = curl({at(), "--json", "1", "-H", "Accept: a/b", "-H", "X-Empty;", "-H",
                            "User-Agent:", "-A", "agent"});
  EXPECT_TRUE(contains(given.output, "\r\nAccept: a/b\r\n"));
  EXPECT_TRUE(contains(given.output, "\r\nX-Empty: \r\n"));
  EXPECT_EQ(given.output.find("User-Agent"), std::string::npos);
  EXPECT_EQ(given.output.find("Accept-Encoding"), std::string::npos);
  folder_.write("lines", "X-A: 1\r\nX-B: 2\n\n");
  EXPECT_TRUE(contains(curl({at(), "-H", "@lines"}).output, "\r\nX-A: 1\r\nX-B: 2\r\n"));
  EXPECT_EQ(curl({at(), "-T", "lines"}).output.find("Content-Type"), std::string::npos);
}

TEST_F(CurlCommand, FormsAreMultipart) {
  folder_.write("a;b.txt", "content");
  const Ended text = curl({at(), "-F", "a=b;c", "--form-string", "d=@e", "-F", "f=<a;b.txt"});
  EXPECT_TRUE(contains(text.output, "\r\nContent-Type: multipart/form-data; boundary="));
  EXPECT_TRUE(contains(text.output, "name=\"a\"\r\n\r\nb;c\r\n"));
  EXPECT_TRUE(contains(text.output, "name=\"d\"\r\n\r\n@e\r\n"));
  EXPECT_TRUE(contains(text.output, "name=\"f\"\r\n\r\ncontent\r\n"));
  const Ended file =
      curl({at(), "-F", "a=@\"a;b.txt\";type=x/y;filename=other.bin", "-F", "b=@\"a;b.txt\""});
  EXPECT_TRUE(contains(file.output, "name=\"a\"; filename=\"other.bin\"\r\nContent-Type: x/y\r\n"));
  EXPECT_TRUE(contains(file.output, "name=\"b\"; filename=\"a;b.txt\"\r\n")) << file.errors;
}

TEST_F(CurlCommand, CookieFilesAreReadAndWrittenSeparately) {
  folder_.write("jar", "127.0.0.1\tFALSE\t/\tFALSE\t0\tsid\t7\n");
  const std::string before = content("jar");
  const Ended sent = curl({at(), "-b", "jar"});
  EXPECT_TRUE(contains(sent.output, "\r\nCookie: sid=7\r\n"));
  EXPECT_EQ(content("jar"), before);
  EXPECT_EQ(curl({at(), "-b", "jar", "-c", "other"}).code, 0);
  EXPECT_TRUE(contains(content("other"), "sid\t7"));
}

TEST_F(CurlCommand, ResponsesAreSaved) {
  const Ended saved = curl({"-so", "file", at()});
  EXPECT_EQ(saved.output, "");
  EXPECT_EQ(saved.errors, "");
  EXPECT_TRUE(content("file").starts_with("GET / HTTP/1.1\r\n"));
  EXPECT_EQ(curl({at("/name"), "-O"}).code, 0);
  EXPECT_TRUE(exists("name"));
}

TEST_F(CurlCommand, UnknownOptionsAreNamed) {
  EXPECT_TRUE(contains(refusal({at(), "--no-such"}), "unknown option --no-such"));
  EXPECT_TRUE(contains(refusal({at(), "-s7"}), "unknown option -7"));
  EXPECT_TRUE(contains(refusal({at(), "-p"}), "--proxytunnel: skua makes tunnels for https://"));
  EXPECT_TRUE(contains(refusal({at(), "-f", "--fail-with-body"}), "cannot be used together"));
  EXPECT_TRUE(contains(refusal({at(), "--proto", "=https"}), "does not begin with https://"));
  EXPECT_TRUE(contains(refusal({"u@" + at(), "--disallow-username-in-url"}), "has a user name"));
  EXPECT_TRUE(contains(refusal({at("/{a")}), "is not closed"));
  EXPECT_TRUE(contains(refusal({at("/a}")}), "closes nothing"));
  EXPECT_TRUE(contains(refusal({at("/[9-1]")}), "is not a range"));
  EXPECT_TRUE(contains(refusal({at("/[0-18446744073709551615]")}), "too many"));
  EXPECT_TRUE(contains(refusal({at("/[1-999]/[1-999]")}), "too many"));
  EXPECT_TRUE(contains(refusal({at(), "-T", "a", "-T", "b"}), "--upload-file"));
  EXPECT_TRUE(contains(refusal({at(), "-z", "next week"}), "--time-cond"));
  EXPECT_TRUE(contains(refusal({at(), "--next"}), "URL is missing"));
  EXPECT_TRUE(contains(refusal({at(), "-9"}), "unknown option -9"));
  EXPECT_TRUE(contains(refusal({}), "URL"));
  EXPECT_TRUE(contains(refusal({at(), "-d"}), "--data needs a value"));
  EXPECT_TRUE(contains(refusal({at(), "-d", "a", "-F", "b=c"}), "cannot be used together"));
  EXPECT_TRUE(contains(refusal({at(), "-F", "=x"}), "'=x' is not NAME=TEXT"));
  EXPECT_TRUE(contains(refusal({at(), "-F", "a=@"}), "has no file name"));
  EXPECT_TRUE(contains(refusal({at(), "-F", "a=@b;c=d"}), "does not know ';c='"));
  EXPECT_TRUE(contains(refusal({at(), "-X", "A B"}), "'A B' is not a method"));
  EXPECT_TRUE(contains(refusal({at(), "-X", "CONNECT"}), "CONNECT"));
  EXPECT_TRUE(contains(refusal({at(), "-m", "x"}), "--max-time: 'x' is not a number"));
  EXPECT_TRUE(contains(refusal({at(), "-m", "nan"}), "--max-time"));
  EXPECT_TRUE(contains(refusal({at(), "-u", "name"}), "has no password"));
  EXPECT_TRUE(contains(refusal({at(), "-H", "no colon"}), "no colon"));
  EXPECT_TRUE(contains(refusal({at(), "-H", "A: b\r\nC: d"}), "not a header"));
  EXPECT_TRUE(contains(refusal({at(), "-A", "a\x01"}), "not a header"));
  EXPECT_TRUE(contains(refusal({at(), "-e", "a\r\nb"}), "not a header"));
  EXPECT_TRUE(contains(refusal({at(), "-b", "a=\x7f"}), "not a header"));
  EXPECT_TRUE(contains(refusal({at(), "-C", "5"}), "--continue-at"));
  EXPECT_TRUE(contains(refusal({at(), "-r", "0-1", "-o", "x"}), "--range"));
  EXPECT_TRUE(contains(refusal({at(), "--connect-to", "a:1:b:2"}), "equal ports"));
  EXPECT_TRUE(contains(refusal({at(), "-x", "ftp://a"}), "http"));
  EXPECT_TRUE(contains(refusal({at(), "-d", "@missing"}), "cannot read missing"));
  EXPECT_EQ(server_.requests(), 0U);
}

TEST_F(CurlCommand, OptionsWithoutEffectAreNoted) {
  const Ended noted = curl({at(), "--globoff", "-#", "--no-keepalive"});
  EXPECT_EQ(noted.code, 0);
  EXPECT_EQ(noted.errors, "skua: ignoring --no-keepalive\n");
  EXPECT_EQ(curl({at(), "-s", "--no-keepalive"}).errors, "");
}

// Answers by the path: /404, /302 and so on.
class CurlOutcome : public GetFixture {
 protected:
  CurlOutcome() {
    router_.get("/{code}", [](Request& request) {
      const std::string name(request.path().substr(1));
      if (name == "302") return Response::redirect("/ok", Status::Found);
      if (name == "404") return Response(Status::NotFound, "the error page\n");
      if (name == "503") return Response(Status::ServiceUnavailable, "busy\n");
      if (request.header("If-None-Match") == "\"v1\"") return Response(Status::NotModified);
      if (request.header("If-Modified-Since")) return Response(Status::NotModified);
      return Response(Status::Ok, name + "\n").header("ETag", "\"v1\"");
    });
    start_server();
  }
  Ended curl(Words words) {
    words.insert(words.begin(), "curl");
    return run(std::move(words));
  }
};

TEST_F(CurlOutcome, ErrorsEndAsWithCurl) {
  struct Case {
    Words words;
    const char* path;
    int code;
    const char* output;
  };
  const Case cases[] = {
      {{}, "/404", 0, "the error page\n"},
      {{"-f"}, "/404", 4, ""},
      {{"-fsSL"}, "/404", 4, ""},
      {{"-f"}, "/503", 5, ""},
      {{"-f"}, "/ok", 0, "ok\n"},
      {{"-f"}, "/302", 0, ""},
      {{"--fail-with-body"}, "/404", 4, "the error page\n"},
      {{"--fail-with-body"}, "/ok", 0, "ok\n"},
      {{"-L"}, "/302", 0, "ok\n"},
      {{"-L", "--max-redirs", "0"}, "/302", 10, ""},
      {{"-L", "--max-redirs", "0"}, "/ok", 0, "ok\n"},
      {{"--max-redirs", "0"}, "/302", 0, ""},
      {{"--max-filesize", "2"}, "/ok", 10, ""},
      {{"--max-filesize", "3"}, "/ok", 0, "ok\n"},
      {{"-w", "%{http_code}", "-o", "/dev/null"}, "/404", 0, "404"},
      {{"-f", "-w", "%{http_code} %{exitcode}", "-o", "/dev/null"}, "/404", 4, "404 4"},
      {{"-s", "-I", "-o", "/dev/null", "-w", "%{http_code}"}, "/ok", 0, "200"},
      {{"--proto", "=http,https"}, "/ok", 0, "ok\n"},
  };
  for (const auto& [words, path, code, output] : cases) {
    Words all = words;
    all.push_back(url(path));
    const Ended ended = curl(all);
    std::string shown;
    for (const std::string& word : all) shown += word + " ";
    EXPECT_EQ(ended.code, code) << shown << ended.errors;
    EXPECT_EQ(ended.output, output) << shown;
    EXPECT_FALSE(ended.errors.empty() && code != 0 && ended.output.empty()) << shown;
  }
}

TEST_F(CurlOutcome, FilesHaveWhatCurlSaves) {
  struct Case {
    Words words;
    const char* path;
    int code;
    std::optional<std::string> saved;
  };
  const Case cases[] = {
      {{}, "/ok", 0, "ok\n"},
      {{}, "/404", 0, "the error page\n"},
      {{"--fail-with-body"}, "/404", 4, "the error page\n"},
      {{"-f"}, "/404", 4, std::nullopt},
      {{"-L", "--max-redirs", "0"}, "/302", 10, std::nullopt},
      {{"-L"}, "/302", 0, "ok\n"},
  };
  for (const auto& [words, path, code, saved] : cases) {
    Words all = words;
    all.insert(all.end(), {"-s", "-o", "file", url(path)});
    EXPECT_EQ(curl(all).code, code) << path;
    EXPECT_EQ(exists("file"), saved.has_value()) << path;
    EXPECT_EQ(content("file"), saved.value_or("")) << path;
    std::filesystem::remove(folder_ / "file");
  }
}

TEST_F(CurlOutcome, EachUrlHasItsOutput) {
  EXPECT_EQ(curl({"-s", "-o", "A", "-o", "B", url("/1"), url("/2"), url("/3")}).output, "3\n");
  EXPECT_EQ(content("A"), "1\n");
  EXPECT_EQ(content("B"), "2\n");
  const Ended more = curl({"-o", "C", "-o", "D", url("/1")});
  EXPECT_TRUE(contains(more.errors, "ignoring --output D: there is no URL for it"));
  EXPECT_EQ(content("C"), "1\n");
  EXPECT_FALSE(exists("D"));
  EXPECT_EQ(curl({"-s", "-O", "-o", "E", url("/f1"), url("/2")}).code, 0);
  EXPECT_EQ(content("f1") + content("E"), "f1\n2\n");
  EXPECT_EQ(curl({"-s", "-O", url("/f2"), url("/f3")}).output, "f3\n");
  EXPECT_EQ(curl({"-s", "--remote-name-all", url("/f4"), url("/f5")}).output, "");
  EXPECT_EQ(content("f4") + content("f5"), "f4\nf5\n");
  EXPECT_EQ(curl({"-s", "--create-dirs", "--output-dir", "x/y", "-o", "z", url("/1")}).code, 0);
  EXPECT_EQ(content("x/y/z"), "1\n");
}

TEST_F(CurlOutcome, PatternsStandForUrls) {
  const std::pair<Words, std::string> cases[] = {
      {{url("/{a,b}")}, "a\nb\n"},
      {{url("/[1-3]")}, "1\n2\n3\n"},
      {{url("/[08-12:2]")}, "08\n10\n12\n"},
      {{url("/[a-c]{1,2}")}, "a1\na2\nb1\nb2\nc1\nc2\n"},
      {{url("/a\\{b\\}")}, "a{b}\n"},
      {{"-g", url("/[a]")}, "[a]\n"},
      {{url("/ok"), "--next", url("/2")}, "ok\n2\n"},
      {{"-f", url("/404"), "--next", url("/404")}, "the error page\n"},
      {{"--fail-early", "-f", url("/404"), url("/ok")}, ""},
      {{"-f", url("/404"), url("/ok")}, "ok\n"},
  };
  for (const auto& [words, output] : cases) EXPECT_EQ(curl(words).output, output);
  EXPECT_EQ(curl({"-s", "-o", "#1-#2.#3", url("/{a,b}[1-2]")}).output, "");
  EXPECT_EQ(content("a-1.#3") + content("b-2.#3"), "a1\nb2\n");
}

TEST_F(CurlOutcome, HeadsAndTagsAreSaved) {
  EXPECT_EQ(curl({"-sL", "-D", "heads", "-o", "/dev/null", url("/302")}).code, 0);
  EXPECT_TRUE(content("heads").starts_with("HTTP/1.1 302 Found\r\n"));
  EXPECT_TRUE(contains(content("heads"), "\r\n\r\nHTTP/1.1 200 OK\r\n"));
  EXPECT_TRUE(content("heads").ends_with("\r\n\r\n"));
  const Ended both = curl({"-D", "-", url("/ok")});
  EXPECT_TRUE(both.output.starts_with("HTTP/1.1 200 OK\r\n"));
  EXPECT_TRUE(both.output.ends_with("\r\n\r\nok\n"));
  const Words words{"-s", "--etag-compare", "tag", "--etag-save", "tag", "-o", "file", url("/ok")};
  EXPECT_EQ(curl(words).code, 0);
  EXPECT_EQ(content("tag"), "\"v1\"\n");
  EXPECT_EQ(content("file"), "ok\n");
  folder_.write("file", "kept");
  const Ended again = curl(words);
  EXPECT_EQ(again.code, 0) << again.errors;
  EXPECT_EQ(content("file"), "kept");
  EXPECT_EQ(content("tag"), "\"v1\"\n");
  for (const char* time : {"Sun, 06 Nov 1994 08:49:37 GMT", "tag"}) {
    EXPECT_EQ(curl({"-z", time, "-f", "-w", "%{http_code}", url("/ok")}).output, "304");
  }
  EXPECT_EQ(curl({"-z", "missing", url("/ok")}).output, "ok\n");
}

// Splits a line as a POSIX shell does, with $'...' for octal escapes.
Words split(const std::string& line) {
  Words words;
  for (std::size_t i = 0; i < line.size();) {
    std::string word;
    for (; i < line.size() && line[i] != ' '; ++i) {
      if (line[i] == '\\') {
        word += line[++i];
      } else if (line[i] == '\'') {
        for (++i; line[i] != '\''; ++i) word += line[i];
      } else if (line.compare(i, 2, "$'") == 0) {
        for (i += 2; line[i] != '\''; ++i) {
          if (line[i] != '\\') {
            word += line[i];
          } else if (line[i + 1] == '\\' || line[i + 1] == '\'') {
            word += line[++i];
          } else {
            word += static_cast<char>(std::stoi(line.substr(i + 1, 3), nullptr, 8));
            i += 3;
          }
        }
      } else {
        word += line[i];
      }
    }
    words.push_back(word);
    ++i;
  }
  return words;
}

TEST_F(CurlCommand, WhatCurlPrintsIsTheSameRequest) {
  folder_.write("logins", "machine 127.0.0.1 login ada password secret\n");
  folder_.write("file", "content\n");
  folder_.write("jar", "127.0.0.1\tFALSE\t/\tFALSE\t0\tsid\t7\n");
  const Words cases[] = {
      {"get", at("/a?b=1"), "q==x y", "X-A:it's", "User-Agent:"},
      {"get", at(), "-a", "user:pass word", "Accept:a/b"},
      {"get", at(), "--bearer", "tok", "--cookie-jar", "jar", "--raw"},
      {"get", at("/[1]{2}"), "--http1.1", "--timeout", "9.5", "--retry", "1"},
      {"get", at(), "--netrc-file", "logins"},
      {"get", at(), "-4", "--interface", "127.0.0.1", "--limit-rate", "1M"},
      {"post", at(), "n=Ada\n\x01", "b:=[1,2]"},
      {"post", at(), "-f", "a=b c&d", "e=f"},
      {"post", at()},
      {"put", at(), "--data", "@file"},
      {"request", "BREW", at(), "--data", "it's", "--type", "x/y"},
      {"patch", at(), "--data", "[]", "--no-follow", "--max-redirects", "3"},
  };
  for (const Words& words : cases) {
    Words asking = words;
    asking.emplace_back("--curl");
    const Ended printed = run(asking);
    std::string line = printed.output;
    ASSERT_TRUE(line.starts_with("curl ") && line.ends_with("\n")) << line << printed.errors;
    line.pop_back();
    const Ended sent = run(words);
    const Ended again = run(split(line));
    EXPECT_EQ(again.code, 0) << again.errors;
    EXPECT_EQ(sorted(again.output), sorted(sent.output)) << line;
  }
}

}  // namespace
}  // namespace skua::test
