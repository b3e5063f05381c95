// SPDX-License-Identifier: MIT
// Files that are sent, and change while they are.
#include <fcntl.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>

#include "client_fixture.hpp"
#include "net/socket.hpp"
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
  }

  static constexpr std::size_t size = 16'000'000;
  const support::TemporaryDirectory folder_;
  const fs::path source_ = folder_ / "file";
};

TEST_P(ClientUpload, AFormsFileThatShrinksIsAProblem) {
  run([&](Client& client) -> Task<> {
    const auto shrink = [&](Progress) { fs::resize_file(source_, 1000); };
    auto text =
        co_await client.post(url("/")).file("file", source_.string()).on_upload(shrink).text();
    EXPECT_FALSE(text);
    if (!text) {
      EXPECT_EQ(text.error().code(), Errc::TruncatedBody) << text.error().text;
    }
    auto next = co_await client.post(url("/")).body("abc").text();
    EXPECT_EQ(next.value_or("none"), "3");
  });
}

TEST_P(ClientUpload, AFileThatShrinksIsAProblem) {
  run([&](Client& client) -> Task<> {
    const auto shrink = [&](Progress) { fs::resize_file(source_, 1000); };
    const auto file = std::make_shared<net::Socket>(::open(source_.c_str(), O_RDONLY | O_CLOEXEC));
    FileRange range;
    range.owner = file;
    range.file = file->descriptor();
    range.size_bytes = size;
    auto text = co_await client.post(url("/")).body(Body(range)).on_upload(shrink).text();
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

}  // namespace
}  // namespace skua
