// SPDX-License-Identifier: MIT
// Forms and uploads, as a client sees them over a real socket, on every back end.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "skua.hpp"
#include "support/temporary_directory.hpp"
#include "support/test_server.hpp"

namespace skua {
namespace {

using testing::Answer;
using testing::Client;
using testing::TestServer;

std::string post(std::string_view path, std::string_view type, std::string_view body) {
  std::string out("POST ");
  out.append(path).append(" HTTP/1.1\r\nHost: test\r\nContent-Type: ").append(type);
  out.append("\r\nContent-Length: ").append(std::to_string(body.size())).append("\r\n\r\n");
  return out.append(body);
}

std::string written(MultipartWriter& writer) {
  std::string content(writer.length_bytes().value_or(0) + 1, '\0');
  content.resize(writer.read(content).value());
  return content;
}

// Describes the upload part by part, and saves its files to the folder.
Task<Response> upload(Request& request, std::string folder) {
  Multipart parts = request.multipart({.parts = 3});
  std::string said;
  for (;;) {
    const auto next = co_await parts.next();
    if (!next) co_return next.error();
    if (!*next) co_return Response(said);
    Part part = **next;
    if (part.name() == "skipped") continue;
    if (part.filename()) {
      const auto saved = co_await part.save(folder + "/" + part.safe_filename());
      if (!saved) co_return saved.error();
      said.append(part.name()).append(" ").append(std::to_string(*saved)).append(";");
    } else {
      const auto text = co_await part.text(10);
      if (!text) co_return text.error();
      said.append(part.name()).append("=").append(*text).append(";");
    }
  }
}

class Forms : public ::testing::TestWithParam<BackendChoice> {
 protected:
  Forms() {
    router_.post("/form", [](Request& request) -> Task<Response> {
      const auto form = co_await request.form();
      if (!form) co_return form.error();
      co_return Response(form->to_string());
    });
    router_.post("/plain", [](const Request& request) -> Result<std::string> {
      const auto form = Form::parse_content(request.content_type(), request.body());
      if (!form) return form.error();
      return form->to_string();
    });
    router_.post("/upload",
                 [folder = folder_.string()](Request& request) { return upload(request, folder); });
  }

  Answer ask(std::string_view bytes) {
    Client client = server().connect();
    client.send(bytes);
    return client.answer().value_or(Answer{});
  }
  TestServer& server() {
    if (!server_) server_.emplace(router_, GetParam());
    return *server_;
  }

  support::TemporaryDirectory folder_;
  Router router_;
  std::optional<TestServer> server_;
};

TEST_P(Forms, AreReadInBothWaysThatBrowsersSendThem) {
  MultipartWriter writer;
  writer.field("a", "1").memory("f", "x", "text/plain", "a file").field("b c", "2 3");
  const std::string type = writer.content_type();
  const std::string content = written(writer);
  for (const std::string_view path : {"/form", "/plain"}) {
    EXPECT_EQ(ask(post(path, "application/x-www-form-urlencoded", "a=1&b+c=2%203")).body,
              "a=1&b+c=2+3");
    EXPECT_EQ(ask(post(path, type, content)).body, "a=1&b+c=2+3");
    EXPECT_EQ(ask(post(path, "text/plain", "a=1")).status, 415);
    EXPECT_EQ(ask(post(path, "multipart/form-data", "a=1")).status, 400);
    EXPECT_EQ(ask(post(path, type, content.substr(0, content.size() - 5))).status, 400);
  }
}

TEST_P(Forms, UploadsAreSavedWhileTheyArrive) {
  MultipartWriter writer;
  const std::string large(3'000'000, '\r');
  writer.field("title", "Holidays").memory("photo", "../a.png", "image/png", large);
  writer.memory("skipped", "b", "text/plain", large);
  const Answer answer = ask(post("/upload", writer.content_type(), written(writer)));
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, "title=Holidays;photo 3000000;");
  std::ifstream saved(folder_ / "a.png", std::ios::binary);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(saved), {}), large);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 1);
}

TEST_P(Forms, WhatIsWrongWithAnUploadIsAnswered) {
  const auto status = [&](auto add) {
    MultipartWriter writer;
    add(writer);
    return ask(post("/upload", writer.content_type(), written(writer))).status;
  };
  EXPECT_EQ(status([](MultipartWriter& it) { it.field("a", "b"); }), 200);
  EXPECT_EQ(status([](MultipartWriter& it) { it.field("a", "longer than ten"); }), 413);
  EXPECT_EQ(status([](MultipartWriter& it) {
              for (int i = 0; i < 4; ++i) it.field("a", "b");
            }),
            413);
  EXPECT_EQ(ask(post("/upload", "multipart/mixed; boundary=b", "--bx")).status, 400);
  EXPECT_EQ(ask(post("/upload", "text/plain", "--b--")).status, 415);
}

TEST_P(Forms, NothingIsLeftOfAnUploadWhoseClientGoesAway) {
  MultipartWriter writer;
  writer.memory("photo", "a.png", "image/png", std::string(1'000'000, 'x'));
  const std::string request = post("/upload", writer.content_type(), written(writer));
  Client client = server().connect();
  client.send(std::string_view(request).substr(0, 700'000));
  client.reset();
  server_.reset();  // waits for its threads
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

INSTANTIATE_TEST_SUITE_P(Backends, Forms, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
