// SPDX-License-Identifier: MIT
// File uploads, including files that change while they are sent.
#include <gtest/gtest.h>

#include <filesystem>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "base/disk.hpp"
#include "client_fixture.hpp"
#include "net/socket.hpp"
#include "support/scripted_server.hpp"
#include "support/temporary_directory.hpp"

namespace skua {
namespace {

namespace fs = std::filesystem;

class ClientUpload : public testing::ClientTest {
 protected:
  ClientUpload() {
    folder_.write("file", std::string(size, 'x'));
    router_.post("/", [](Request& request) -> Task<std::string> {
      std::size_t count = 0;
      while (auto piece = co_await request.read()) count += piece->size();
      co_return std::to_string(count);
    });
    // At this point most of the file is unread: it does not fit in the buffers between the peers.
    router_.post("/shrinks", [this](Request& request) -> Task<std::string> {
      co_await request.read();
      fs::resize_file(source_, 1000);
      while (co_await request.read()) {
      }
      co_return "all";
    });
  }

  static constexpr std::size_t size = 16'000'000;
  const support::TemporaryDirectory folder_;
  const fs::path source_ = folder_ / "file";
};

TEST_P(ClientUpload, AFormsFileThatShrinksIsAProblem) {
  run([&](Client& client) -> Task<> {
    auto text = co_await client.post(url("/shrinks")).file("file", source_.string()).text();
    EXPECT_FALSE(text);
    if (!text) {
      EXPECT_EQ(text.error().code(), Errc::TruncatedBody) << text.error().text;
    }
    auto next = co_await client.post(url("/")).body("abc").text();
    EXPECT_EQ(next.value_or("none"), "3");
  });
}

TEST_P(ClientUpload, AFormMayHoldFilesThatAreTexts) {
  router_.post("/form", [](Request& request) -> Task<std::string> {
    auto parts = request.multipart();
    std::string said;
    while (true) {
      auto next = co_await parts.next();
      if (!next || !*next) break;
      Part part = **next;
      auto text = co_await part.text();
      said.append(part.name()).append("=").append(part.filename().value_or("-")).append("=");
      said.append(part.content_type()).append("=").append(text.value_or("?")).append("|");
    }
    co_return said;
  });
  run([&](Client& client) -> Task<> {
    auto text = co_await client.post(url("/form"))
                    .field("title", "Notes")
                    .file_of("note", "a.txt", "hello", "text/x-note")
                    .file_of("data", "b.bin", "1")
                    .text();
    EXPECT_EQ(text.value_or("none"),
              "title=-==Notes|note=a.txt=text/x-note=hello|"
              "data=b.bin=application/octet-stream=1|");
    MultipartWriter parts;
    parts.field("own", "part").memory("f", "c.txt", "text/plain", "content");
    text = co_await client.post(url("/form")).multipart(std::move(parts)).text();
    EXPECT_EQ(text.value_or("none"), "own=-==part|f=c.txt=text/plain=content|");
  });
}

TEST_P(ClientUpload, TrailersAreTheSameInEveryVersion) {
  router_.post("/trailers", [](Request& request) -> Task<std::string> {
    while (co_await request.read()) continue;
    co_return std::string(request.trailer("X-Sum").value_or("none"));
  });
  run([&](Client& client) -> Task<> {
    const auto produce = [](BodyWriter& out) -> Task<> {
      co_await out.write("abc");
      out.trailer("X-Sum", "1");
      out.trailer("x-sum", "2");
    };
    auto text = co_await client.post(url("/trailers")).stream("text/plain", produce).text();
    EXPECT_EQ(text.value_or("failed"), "1");  // the first of two
    text = co_await client.post(url("/trailers")).stream("text/plain", produce, 3).text();
    EXPECT_EQ(text.value_or("failed"), "none");
    for (const std::string_view name : {"Content-Length", "host", "Transfer-Encoding", "a b"}) {
      const auto forbidden = [name](BodyWriter& out) -> Task<> {
        co_await out.write("abc");
        out.trailer(name, "1");
      };
      bool was_refused = false;
      try {
        auto sent = co_await client.post(url("/trailers")).stream("text/plain", forbidden).text();
        EXPECT_FALSE(sent);
      } catch (const std::invalid_argument&) {
        was_refused = true;
      }
      EXPECT_TRUE(was_refused) << name;
    }
  });
}

TEST_P(ClientUpload, ContentThatIsNotReadBeforeCannotBeProtectedByDigest) {
  if (!digest_secret(DigestAlgorithm::Md5, "u", "r", "p")) GTEST_SKIP() << "no OpenSSL";
  router_.put("/", [] {
    Response response(Status::Unauthorized);
    response.header("WWW-Authenticate", R"(Digest realm="r", nonce="n", qop="auth-int")");
    return response;
  });
  run([&](Client& client) -> Task<> {
    const auto file =
        std::make_shared<disk::Descriptor>(disk::open(source_.string().c_str(), disk::for_reading));
    FileRange range;
    range.owner = file;
    range.file = file->number();
    range.size_bytes = 10;
    auto text = co_await client.put(url("/")).auth("u", "p").body(Body(range)).text();
    EXPECT_FALSE(text);
    if (!text) {
      EXPECT_EQ(text.error().code(), Errc::Unsupported) << text.error().text;
    }
  });
}

TEST_P(ClientUpload, AFileThatShrinksIsAProblem) {
  run([&](Client& client) -> Task<> {
    const auto file =
        std::make_shared<disk::Descriptor>(disk::open(source_.string().c_str(), disk::for_reading));
    FileRange range;
    range.owner = file;
    range.file = file->number();
    range.size_bytes = size;
    auto text = co_await client.post(url("/shrinks")).body(Body(range)).text();
    EXPECT_FALSE(text);
    if (!text) {
      EXPECT_EQ(text.error().code(), Errc::TruncatedBody) << text.error().text;
    }
    auto next = co_await client.post(url("/")).body("abc").text();
    EXPECT_EQ(next.value_or("none"), "3");
  });
}

INSTANTIATE_TEST_SUITE_P(All, ClientUpload, testing::client_test_values_of_both_versions(),
                         testing::client_test_name);

class EarlyAnswer : public ::testing::TestWithParam<BackendChoice> {};

// If the response begins before the content is sent, a problem with a file surfaces in its content.
TEST_P(EarlyAnswer, AFormsFileThatShrinksBehindTheHeadIsAProblem) {
  const support::TemporaryDirectory folder;
  folder.write("file", std::string(16'000'000, 'x'));
  const std::filesystem::path path = folder / "file";
  std::promise<void> shrunk;
  testing::ScriptedServer server([&shrunk](testing::Client& peer) {
    static_cast<void>(peer.some());
    peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n");
    shrunk.get_future().wait();
    static_cast<void>(peer.rest());
  });
  const std::string url = "http://127.0.0.1:" + std::to_string(server.port()) + "/";
  const auto body = [&]() -> Task<> {
    Client client;
    auto response = co_await client.post(url).file("file", path.string());
    std::filesystem::resize_file(path, 1000);
    shrunk.set_value();
    EXPECT_TRUE(response);
    if (!response) co_return;
    auto text = co_await response->text();
    EXPECT_FALSE(text);
    if (!text) {
      EXPECT_EQ(text.error().code(), Errc::TruncatedBody) << text.error().text;
    }
  };
  testing::run_on(GetParam(), body());
}

INSTANTIATE_TEST_SUITE_P(All, EarlyAnswer, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
