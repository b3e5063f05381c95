// SPDX-License-Identifier: MIT
// Clients that ask for much and take nothing, or vanish: folders over WebDAV, and files that are
// compressed while they are sent. What they hold ends with the timeout, and others are served.
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coding/coding.hpp"
#include "files/compressed_stream.hpp"
#include "skua.hpp"
#include "support/temporary_directory.hpp"
#include "support/test_worker.hpp"
#include "xml/xml.hpp"

namespace skua {
namespace {

using testing::Answer;
using testing::Client;
using testing::get;
using testing::TestWorker;

class StalledDownloads : public ::testing::TestWithParam<BackendChoice> {
 protected:
  // Sends a request, and runs the worker until its answer has begun to arrive. Nobody reads it.
  Client stalled(std::string_view request) {
    Client client = worker().connect();
    client.send(request);
    worker().turn_until_readable(client);
    return client;
  }
  // Returns a whole answer, however long.
  Answer ask(std::string_view request) {
    Client client = worker().connect();
    client.send(request);
    const bool is_head = request.starts_with("HEAD ");
    if (testing::transport() != testing::Transport::Tcp) {
      return client.answer(is_head).value_or(Answer{});
    }
    std::string bytes;
    std::optional<Answer> answer;
    worker().turn_until([&] {
      bytes += client.take_received();
      answer = testing::take_answer(bytes, is_head);
      return answer.has_value();
    });
    return answer.value_or(Answer{});
  }
  // Moves the clock past the timeout again and again, as other threads still make what is written.
  void wait_for_timeouts() {
    worker().turn_until([&] {
      worker().advance(31s);
      return worker().counters().connections_open == 0;
    });
  }
  TestWorker& worker() {
    if (!worker_) worker_.emplace(router_, GetParam());
    return *worker_;
  }

  support::TemporaryDirectory tree_;
  Router router_;
  std::optional<TestWorker> worker_;
};

class StalledListings : public StalledDownloads {
 protected:
  void SetUp() override {
    if (!xml::is_available()) GTEST_SKIP() << "this build has no expat";
    for (int i = 0; i < entry_count; ++i) {
      tree_.write("many/" + std::string(100, 'n') + std::to_string(i), "");
    }
    router_.webdav("/dav", tree_.string());
    router_.get("/", [] { return "hello"; });
  }

  static constexpr int entry_count = 800;  // more than sockets take
  static constexpr std::string_view propfind_ =
      "PROPFIND /dav/many/ HTTP/1.1\r\nHost: t\r\nDepth: 1\r\nContent-Length: 0\r\n\r\n";
};

TEST_P(StalledListings, EndWithTheTimeout) {
  std::vector<Client> clients;
  for (int i = 0; i < 20; ++i) clients.push_back(stalled(propfind_));
  const Answer other = ask(propfind_);
  EXPECT_EQ(other.status, 207);
  EXPECT_GT(other.body.size(), 400'000U);
  EXPECT_TRUE(other.body.ends_with("</D:multistatus>\n"));
  EXPECT_EQ(ask(get("/")).body, "hello");
  EXPECT_GE(worker().counters().connections_open, clients.size()) << "they wait";
  wait_for_timeouts();
  EXPECT_EQ(ask(propfind_).status, 207);
}

TEST_P(StalledListings, EndWithTheirClients) {
  std::vector<Client> clients;
  for (int i = 0; i < 20; ++i) clients.push_back(stalled(propfind_));
  for (Client& client : clients) client.reset();
  worker().turn_until_closed();
  EXPECT_EQ(ask(propfind_).status, 207);
}

INSTANTIATE_TEST_SUITE_P(Backends, StalledListings, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

class StalledCompression : public StalledDownloads {
 protected:
  void SetUp() override {
    if (!coding::is_available(coding::Coding::Gzip)) GTEST_SKIP() << "this build has no zlib";
    std::string text;
    for (unsigned i = 0; text.size() < 6'000'000; ++i) text += std::to_string(i * 2'654'435'761U);
    tree_.write("large.txt", text);
    router_.files("/f", tree_.string(), {.compress = true});
  }
  std::string coding() {
    const Answer answer =
        ask("HEAD /f/large.txt HTTP/1.1\r\nHost: t\r\nAccept-Encoding: gzip\r\n\r\n");
    EXPECT_EQ(answer.status, 200);
    return answer.field("Content-Encoding").value_or("none");
  }
  // Other threads may still hold what has ended.
  void expect_a_free_place() {
    worker().turn_until([this] { return coding() == "gzip"; });
  }
  void expect_free_places() {
    for (int i = 0; i < 2 * files::compressed_streams_at_most; ++i) expect_a_free_place();
  }
  std::vector<Client> take_all_places() {
    expect_free_places();
    std::vector<Client> clients;
    for (int i = 0; i < files::compressed_streams_at_most; ++i) {
      clients.push_back(stalled(get("/f/large.txt", "Accept-Encoding: gzip\r\n")));
    }
    EXPECT_EQ(coding(), "none");
    const Answer plain = ask(get("/f/large.txt", "Accept-Encoding: gzip\r\n"));
    EXPECT_EQ(plain.body.size(), std::filesystem::file_size(tree_ / "large.txt"));
    return clients;
  }
};

TEST_P(StalledCompression, GivesItsPlaceBackAfterTheTimeout) {
  const std::vector<Client> clients = take_all_places();
  wait_for_timeouts();
  expect_free_places();
}

TEST_P(StalledCompression, GivesItsPlaceBackWhenItsClientVanishes) {
  std::vector<Client> clients = take_all_places();
  clients.front().reset();
  expect_a_free_place();
  for (Client& client : clients) client.reset();
  expect_free_places();
}

INSTANTIATE_TEST_SUITE_P(Backends, StalledCompression, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
