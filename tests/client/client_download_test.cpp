// SPDX-License-Identifier: MIT
// Downloads to files: all or nothing, or resumed later.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "client_fixture.hpp"
#include "support/scripted_server.hpp"
#include "support/temporary_directory.hpp"

namespace skua {
namespace {

namespace fs = std::filesystem;

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void write(const fs::path& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::string numbers(std::size_t size) {
  std::string text;
  for (std::size_t i = 0; text.size() < size; ++i) text.append(std::to_string(i)).append(" ");
  text.resize(size);
  return text;
}

class ClientDownload : public testing::ClientTest {
 protected:
  ClientDownload() {
    folder_.write("served/big", file_);
    // A file that changed just now has a weak entity tag: RFC 9110 §8.8.1.
    fs::last_write_time(source_, fs::file_time_type::clock::now() - std::chrono::hours(1));
    folder_.make("saved");
    router_.files("/files", (folder_ / "served").string());
  }
  [[nodiscard]] std::string part() const { return (folder_ / "saved/.file.part").string(); }
  static std::string origin(std::string_view validator) {
    return "skua download 1\nhttp://a.example/\n" + std::string(validator) + "\n\n";
  }
  std::size_t files_in_target() {
    std::size_t count = 0;
    for (const auto& entry : fs::directory_iterator(target_.parent_path())) {
      count += entry.exists() ? 1 : 0;
    }
    return count;
  }

  const support::TemporaryDirectory folder_;
  const fs::path source_ = folder_ / "served/big";
  const fs::path target_ = folder_ / "saved/file";
  const std::string file_ = numbers(3'000'000);
};

TEST_P(ClientDownload, AFileIsSavedAndProgressIsTold) {
  run([&](Client& client) -> Task<> {
    Progress last;
    const auto keep = [&last](Progress progress) { last = progress; };
    auto saved = co_await client.get(url("/files/big")).on_progress(keep).save(target_.string());
    EXPECT_TRUE(saved) << saved.error().text;
    EXPECT_EQ(saved.value_or(0), file_.size());
    EXPECT_EQ(last.done_bytes, file_.size());
    EXPECT_EQ(last.total_bytes, file_.size());
  });
  EXPECT_TRUE(content_of(target_) == file_);
  EXPECT_EQ(files_in_target(), 1U);
}

TEST_P(ClientDownload, WhatIsNotThereIsNoFile) {
  run([&](Client& client) -> Task<> {
    auto saved = co_await client.get(url("/files/none")).save(target_.string());
    EXPECT_FALSE(saved);
    if (!saved) {
      EXPECT_EQ(saved.error().code(), Errc::UnexpectedStatus);
    }
    auto nowhere = co_await client.get(url("/files/big")).save("/nowhere/at/all");
    EXPECT_FALSE(nowhere);
    if (!nowhere) {
      EXPECT_EQ(nowhere.error().code(), Errc::NotFound) << nowhere.error().text;
    }
  });
  EXPECT_EQ(files_in_target(), 0U);
}

TEST_P(ClientDownload, OneThatBreaksOffIsGoneOnWith) {
  constexpr std::size_t first_bytes = 1'000'000;
  run([&](Client& client) -> Task<> {
    auto response = co_await client.head(url("/files/big"));
    EXPECT_TRUE(response);
    if (!response) co_return;
    const std::string etag(response->header("etag").value_or(""));
    EXPECT_NE(etag, "");
    {
      testing::ScriptedServer breaking([&](testing::Client& peer) {
        static_cast<void>(peer.some());
        peer.send("HTTP/1.1 200 OK\r\nETag: " + etag + "\r\nContent-Length: " +
                  std::to_string(file_.size()) + "\r\n\r\n" + file_.substr(0, first_bytes));
      });
      ClientOptions options = options_;
      options.versions = HttpVersions::Http1;
      Client other(options);
      const std::string from = "http://127.0.0.1:" + std::to_string(breaking.port()) + "/";
      DownloadOptions resume;
      resume.resume = true;
      auto broken = co_await other.get(from).download(target_.string(), resume);
      EXPECT_FALSE(broken);
    }
    EXPECT_FALSE(fs::exists(target_));
    EXPECT_EQ(fs::file_size(part()), first_bytes);
    DownloadOptions resume;
    resume.resume = true;
    auto done = co_await client.get(url("/files/big")).download(target_.string(), resume);
    EXPECT_TRUE(done) << done.error().text;
    if (!done) co_return;
    EXPECT_EQ(done->resumed_bytes, first_bytes);
    EXPECT_EQ(done->size_bytes, file_.size());
  });
  EXPECT_TRUE(content_of(target_) == file_);
  EXPECT_EQ(files_in_target(), 1U);
}

TEST_P(ClientDownload, APartOfSomethingElseIsBegunAgain) {
  write(part(), "something else");
  write(part() + ".origin", origin("\"another\""));
  run([&](Client& client) -> Task<> {
    DownloadOptions resume;
    resume.resume = true;
    auto done = co_await client.get(url("/files/big")).download(target_.string(), resume);
    EXPECT_TRUE(done) << done.error().text;
    if (done) {
      EXPECT_EQ(done->resumed_bytes, 0U);
    }
  });
  EXPECT_TRUE(content_of(target_) == file_);
  EXPECT_EQ(files_in_target(), 1U);
}

TEST_P(ClientDownload, APartThatIsWholeIsOnlyRenamed) {
  run([&](Client& client) -> Task<> {
    auto response = co_await client.head(url("/files/big"));
    EXPECT_TRUE(response);
    if (!response) co_return;
    write(part(), file_);
    write(part() + ".origin", origin(response->header("etag").value_or("")));
    DownloadOptions resume;
    resume.resume = true;
    auto done = co_await client.get(url("/files/big")).download(target_.string(), resume);
    EXPECT_TRUE(done) << done.error().text;
    if (done) {
      EXPECT_EQ(done->resumed_bytes, file_.size());
    }
  });
  EXPECT_TRUE(content_of(target_) == file_);
  EXPECT_EQ(files_in_target(), 1U);
}

TEST_P(ClientDownload, FilesAreSentInAForm) {
  router_.post("/form", [](Request& request) -> Task<std::string> {
    auto parts = request.multipart();
    std::string seen;
    while (auto part = (co_await parts.next()).value()) {
      std::size_t size = 0;
      while (auto piece = (co_await part->read()).value()) size += piece->size();
      seen.append(part->name()).append("=").append(std::to_string(size)).append(" ");
    }
    co_return seen;
  });
  run([&](Client& client) -> Task<> {
    std::uint64_t sent = 0;
    const auto count = [&sent](Progress progress) { sent = progress.done_bytes; };
    auto text = co_await client.post(url("/form"))
                    .field("title", "Numbers")
                    .file("file", source_.string())
                    .on_upload(count)
                    .text();
    EXPECT_EQ(text.value_or(""), "title=7 file=3000000 ");
    EXPECT_GT(sent, file_.size());
    auto missing = co_await client.post(url("/form")).file("file", "/nowhere");
    EXPECT_FALSE(missing);
    if (!missing) {
      EXPECT_EQ(missing.error().code(), Errc::NotFound);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(All, ClientDownload, testing::client_test_values_of_both_versions(),
                         testing::client_test_name);

}  // namespace
}  // namespace skua
