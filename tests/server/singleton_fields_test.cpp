// SPDX-License-Identifier: MIT
// No kind of response repeats a singleton field, over either protocol. RFC 9110 §5.3
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/ascii.hpp"
#include "coding/coding.hpp"
#include "skua.hpp"
#include "support/temporary_directory.hpp"
#include "support/test_server.hpp"

namespace skua {
namespace {

using testing::Answer;
using testing::Client;
using testing::Transport;

class SingletonFields : public ::testing::TestWithParam<Transport> {
 protected:
  SingletonFields() {
    for (const char* const name : {"a.txt", "a.html", "a.json", "a.css", "a.mjs", "a.svg", "a.wasm",
                                   "a.unknown", "sub/index.html"}) {
      folder_.write(name, "small");
      folder_.write(std::string("large.") + name, std::string(300'000, 'l'));
    }
    folder_.make("listed");
    router_.files("/files", folder_.string(), {.max_age = 1h, .listing = true});
    router_.get("/text", [] { return "text"; });
    router_.get("/html", [] { return Response::html("html"); });
    router_.get("/json", [] { return Response::json("{}"); });
    router_.get("/css", [] { return Response(Status::Ok, "css", "text/css"); });
    router_.get("/typed", [] { return Response("x").header("Content-Type", "text/css"); });
    router_.get("/own", [] {
      return Response("own").header("Date", "now").header("Server", "own").header("Vary", "A");
    });
    router_.get("/replaced", [] { return Response("x").header("X-A", "1").header("X-A", "2"); });
    router_.get("/cookies", [] { return Response("c").cookie("a", "1").cookie("b", "2"); });
    router_.get("/empty", [] { return Status::NoContent; });
    router_.get("/moved", [] { return Response::redirect("/text"); });
    router_.get("/failed", []() -> Response { throw HttpError(Status::Conflict, "why"); });
    router_.get("/broken", []() -> Response { throw 1; });
    router_.get("/later", []() -> Task<Response> {
      co_await yield();
      co_return Response(Status::Ok, "later", "text/css");
    });
    const auto produce = [](BodyWriter& out) -> Task<> { co_await out.write("stream"); };
    router_.get("/plain-stream", [=] { return Response::stream(Response::plain_text, produce); });
    router_.get("/css-stream", [=] { return Response::stream("text/css", produce); });
    router_.get("/plain-long", [=] { return Response::stream(Response::plain_text, produce, 6); });
    router_.get("/css-long", [=] { return Response::stream("text/css", produce, 6); });
    router_.get("/prepared", PreparedResponse("prepared"));
    router_.get("/prepared-css", PreparedResponse(Response(Status::Ok, "css", "text/css")));
    router_.get("/prepared-own", PreparedResponse(Response(Status::Ok, "css", "text/css")
                                                      .header("Date", "now")
                                                      .header("Server", "own")
                                                      .header("ETag", "\"1\"")));
    router_.get("/amended", [this] {
      return Response(prepared_).header("Content-Type", "text/plain").header("X-B", "3");
    });
    router_.get("/amended-too", [this] { return Response(prepared_).header("X-C", "3"); });
    Router around;
    if (coding::is_available(coding::Coding::Gzip)) around.use(compression());
    around.use(security_headers()).use(request_id());
    around.files("/files", folder_.string());
    around.get("/page", [] { return Response::html(std::string(5'000, 'p')); });
    router_.mount("/around", std::move(around));
  }

  /// Returns all requests, each as a request line and its fields.
  static std::vector<std::string> requests() {
    const std::vector<std::string> paths{
        "/text",          "/html",        "/json",        "/css",          "/typed",
        "/own",           "/replaced",    "/cookies",     "/empty",        "/moved",
        "/failed",        "/broken",      "/later",       "/plain-stream", "/css-stream",
        "/plain-long",    "/css-long",    "/prepared",    "/prepared-css", "/prepared-own",
        "/amended",       "/amended-too", "/around/page", "/none",         "/files/none",
        "/files/listed/", "/files/",      "/files/sub",   "/files/sub/",   "/%zz"};
    std::vector<std::string> all;
    for (const std::string& path : paths) {
      for (const char* const method : {"GET ", "HEAD ", "OPTIONS ", "POST "}) {
        all.push_back(method + path + " HTTP/1.1\r\n");
      }
    }
    for (const char* const name : {"a.txt", "a.html", "a.json", "a.css", "a.mjs", "a.svg", "a.wasm",
                                   "a.unknown", "large.a.txt", "large.a.css", "large.a.wasm"}) {
      for (const char* const folder : {"/files/", "/around/files/"}) {
        for (const char* const fields :
             {"", "Range: bytes=1-2\r\n", "Range: bytes=0-0,2-3\r\n", "Range: bytes=900000-\r\n",
              "If-None-Match: *\r\n", "If-Match: \"x\"\r\n", "Accept-Encoding: gzip\r\n"}) {
          for (const char* const method : {"GET ", "HEAD "}) {
            all.push_back(std::string(method) + folder + name + " HTTP/1.1\r\n" + fields);
          }
        }
      }
    }
    return all;
  }

  support::TemporaryDirectory folder_;
  PreparedResponse prepared_{Response(Status::Ok, "css", "text/css").header("X-B", "2")};
  Router router_;
};

TEST_P(SingletonFields, ComeOnceInEveryKindOfResponse) {
  testing::TestServer server(router_, BackendChoice::Poll, {}, GetParam());
  std::map<int, int> statuses;
  for (const std::string& request : requests()) {
    Client client = server.connect();
    client.send(request + "Host: a\r\nConnection: close\r\n\r\n");
    const auto answer = client.answer(request.starts_with("HEAD "));
    ASSERT_TRUE(answer) << request;
    ++statuses[answer->status];
    std::map<std::string, int> counts;
    std::string_view lines = answer->head;
    lines.remove_prefix(lines.find("\r\n") + 2);
    while (lines.size() > 2) {
      const std::string_view line = lines.substr(0, lines.find("\r\n"));
      std::string name(line.substr(0, line.find(':')));
      for (char& c : name) c = ascii::to_lower(c);
      ++counts[name];
      lines.remove_prefix(line.size() + 2);
    }
    for (const auto& [name, count] : counts) {
      EXPECT_TRUE(count == 1 || name == "set-cookie") << request << answer->head;
    }
    EXPECT_EQ(counts["date"], 1) << request << answer->head;
    EXPECT_EQ(counts["content-type"], answer->body.empty() ? counts["content-type"] : 1)
        << request << answer->head;
  }
  for (const int status : {200, 204, 206, 303, 304, 400, 404, 405, 409, 412, 416, 500}) {
    EXPECT_GT(statuses[status], 0) << status;
  }
}

INSTANTIATE_TEST_SUITE_P(Protocols, SingletonFields,
                         ::testing::Values(Transport::Tcp, Transport::H2));

}  // namespace
}  // namespace skua
