// SPDX-License-Identifier: MIT
// Large files are sent even if responses already hold as many files open as allowed.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "skua.hpp"
#include "support/held_files.hpp"
#include "support/temporary_directory.hpp"
#include "support/test_server.hpp"

namespace skua {
namespace {

using testing::Answer;
using testing::Client;
using testing::get;
using testing::TestServer;

class HeldFilesTest : public ::testing::TestWithParam<BackendChoice> {
 protected:
  void SetUp() override {
    text_.resize(300'000);
    for (std::size_t i = 0; i < text_.size(); ++i) text_[i] = static_cast<char>('a' + i % 26);
    folder_.write("file", text_);
    router_.files("/files", folder_.string());
    options_.raise_open_files = false;
  }

  std::string text_;
  support::TemporaryDirectory folder_;
  Router router_;
  ServerOptions options_;
};

TEST_P(HeldFilesTest, AFileIsSentInPieces) {
  const support::HeldFiles held((folder_ / "file").string());
  TestServer server(router_, GetParam(), options_);
  Client client = server.connect();
  for (int i = 0; i < 3; ++i) {
    client.send(get("/files/file"));
    const auto answer = client.answer();
    ASSERT_TRUE(answer.has_value());
    EXPECT_EQ(answer->status, 200);
    EXPECT_EQ(answer->field("content-length"), std::to_string(text_.size()));
    EXPECT_TRUE(answer->body == text_);
  }
  client.send(get("/files/file", "Range: bytes=100000-250000\r\n"));
  const auto part = client.answer();
  ASSERT_TRUE(part.has_value());
  EXPECT_EQ(part->status, 206);
  EXPECT_TRUE(part->body == text_.substr(100'000, 150'001));
  client.send("HEAD /files/file HTTP/1.1\r\nHost: t\r\n\r\n");
  const auto head = client.answer(true);
  ASSERT_TRUE(head.has_value());
  EXPECT_EQ(head->field("content-length"), std::to_string(text_.size()));
}

TEST_P(HeldFilesTest, EveryConnectionGetsItsFile) {
  const support::OpenFilesLimit limit(256);
  TestServer server(router_, GetParam(), options_);
  std::vector<Client> clients;
  for (int i = 0; i < 70; ++i) clients.push_back(server.connect());
  for (Client& client : clients) client.send(get("/files/file"));
  for (Client& client : clients) {
    const auto answer = client.answer();
    ASSERT_TRUE(answer.has_value());
    EXPECT_EQ(answer->status, 200);
    EXPECT_TRUE(answer->body == text_);
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, HeldFilesTest, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
