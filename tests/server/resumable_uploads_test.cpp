// SPDX-License-Identifier: MIT
// Resumable uploads, cut at every place and continued, by tus 1.0 and by the IETF draft; and what
// time does to those that nobody continues. A manual worker, so that each cut has one outcome.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "skua.hpp"
#include "support/h2_frames.hpp"
#include "support/manual_times.hpp"
#include "support/temporary_directory.hpp"
#include "support/test_server.hpp"
#include "support/test_worker.hpp"

namespace skua {
namespace {

using testing::Answer;
using testing::Client;
using testing::TestWorker;
namespace frames = h2::frames;

constexpr std::string_view whole = "0123456789ab";

/// One of the two protocols.
struct UploadProtocol {
  std::string_view name;
  std::string_view create_line;
  std::string_view create_fields;
  frames::Fields part_fields;  ///< of a request that sends the rest of the file
  int created_status;
  int done_status;
};

const UploadProtocol& tus() {
  static const UploadProtocol protocol{
      .name = "tus",
      .create_line = "POST /in/",
      .create_fields =
          "Tus-Resumable: 1.0.0\r\nUpload-Length: 12\r\n"
          "Upload-Metadata: filename bmV3LnR4dA==\r\n",
      .part_fields = {{"tus-resumable", "1.0.0"},
                      {"content-type", "application/offset+octet-stream"}},
      .created_status = 201,
      .done_status = 204};
  return protocol;
}

const UploadProtocol& draft() {
  static const UploadProtocol protocol{
      .name = "draft",
      .create_line = "PUT /in/new.txt",
      .create_fields = "Upload-Complete: ?0\r\nUpload-Length: 12\r\n",
      .part_fields = {{"upload-complete", "?1"}, {"content-type", "application/partial-upload"}},
      .created_status = 201,
      .done_status = 201};
  return protocol;
}

class Resumable : public ::testing::TestWithParam<BackendChoice> {
 protected:
  Resumable() { open(); }

  /// As a new start of the server does.
  void open() {
    worker_.reset();
    router_ = Router();
    tree_.make("site");
    router_.uploads("/in", (tree_ / "site").string(),
                    {.resumable = true, .keep_unfinished = std::chrono::hours(1)});
  }
  TestWorker& worker() {
    if (!worker_) worker_.emplace(router_, GetParam(), ServerOptions{}, transport_);
    return *worker_;
  }
  Answer ask(std::string_view line, std::string_view fields = {}, std::string_view content = {}) {
    Client client = worker().connect();
    std::string request(line);
    request.append(" HTTP/1.1\r\nHost: test\r\nContent-Length: ")
        .append(std::to_string(content.size()))
        .append("\r\n")
        .append(fields)
        .append("\r\n")
        .append(content);
    client.send(request);
    worker().turn_until_readable(client);
    return client.answer(line.starts_with("HEAD ")).value_or(Answer{});
  }
  std::string begin(const UploadProtocol& protocol) {
    const Answer made = ask(protocol.create_line, protocol.create_fields);
    EXPECT_EQ(made.status, protocol.created_status) << protocol.name;
    return made.field("Location").value_or("");
  }
  static frames::Fields fields_of(const UploadProtocol& protocol, std::size_t offset) {
    frames::Fields fields = protocol.part_fields;
    fields.emplace_back("upload-offset", std::to_string(offset));
    return fields;
  }
  static std::string lines_of(const frames::Fields& fields) {
    std::string lines;
    for (const auto& [name, value] : fields) lines.append(name + ": " + value + "\r\n");
    return lines;
  }
  // The head of a request that appends all of the file.
  static std::string part_head(const UploadProtocol& protocol, std::string_view place,
                               std::string_view more) {
    return "PATCH " + std::string(place) + " HTTP/1.1\r\nHost: test\r\n" +
           lines_of(fields_of(protocol, 0)) + std::string(more) + "\r\n";
  }
  // Returns once the worker has read everything, and its handlers have taken it.
  void send(Client& client, std::string_view bytes) {
    const std::uint64_t received = worker().counters().bytes_received;
    const std::uint64_t sent = client.sent_bytes();
    client.send(bytes);
    const std::uint64_t all = received + client.sent_bytes() - sent;
    while (worker().counters().bytes_received < all) (*worker()).run_once(10ms);
    worker().settle();
  }
  // Ends a connection in one of two ways, and runs the worker until it has seen that.
  void leave(Client& client, bool resets) {
    resets ? client.reset() : client.end();
    worker().turn_until_closed();
  }
  std::size_t offset(const UploadProtocol& protocol, const std::string& place) {
    const Answer state = ask(
        "HEAD " + place, protocol.name == "tus" ? "Tus-Resumable: 1.0.0\r\n" : std::string_view());
    EXPECT_EQ(state.status, protocol.name == "tus" ? 200 : 204);
    return std::stoul(state.field("Upload-Offset").value_or("99"));
  }
  Answer append(const UploadProtocol& protocol, const std::string& place, std::size_t from,
                std::string_view content) {
    return ask("PATCH " + place, lines_of(fields_of(protocol, from)), content);
  }
  // Sends the rest, and checks the file, whose folder must have nothing else. Removes it.
  void finish(const UploadProtocol& protocol, const std::string& place, std::size_t from) {
    const Answer wrong = append(protocol, place, from + 1, "x");
    EXPECT_EQ(wrong.status, 409);
    EXPECT_EQ(wrong.field("Upload-Offset"), std::to_string(from));
    EXPECT_EQ(append(protocol, place, from, whole.substr(from)).status, protocol.done_status);
    EXPECT_EQ(content(), whole);
    EXPECT_EQ(file_count(), 1);
    std::filesystem::remove(tree_ / "site/new.txt");
  }
  std::string content() const {
    std::ifstream file(tree_ / "site/new.txt", std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::ptrdiff_t file_count() const {
    return std::distance(std::filesystem::directory_iterator(tree_ / "site"), {});
  }
  // Makes the parts of uploads look as if their last byte came that long ago.
  void age_parts(std::chrono::minutes age) const {
    const auto then = std::chrono::system_clock::now().time_since_epoch() - age;
    for (const auto& entry : std::filesystem::directory_iterator(tree_ / "site")) {
      support::set_modified(entry.path(), then);
    }
  }

  support::TemporaryDirectory tree_;
  testing::Transport transport_ = testing::transport();
  Router router_;
  std::optional<TestWorker> worker_;
};

TEST_P(Resumable, GoOnWhereverTheirContentWasCut) {
  for (const UploadProtocol& protocol : {tus(), draft()}) {
    for (std::size_t cut = 0; cut < whole.size(); ++cut) {
      SCOPED_TRACE(std::string(protocol.name) + " cut at " + std::to_string(cut));
      const std::string place = begin(protocol);
      Client client = worker().connect();
      client.send(part_head(protocol, place, "Content-Length: 12\r\nExpect: 100-continue\r\n"));
      worker().turn_until_readable(client);
      EXPECT_EQ(client.answer().value_or(Answer{}).status, 100) << "now it waits for content";
      send(client, whole.substr(0, cut));
      leave(client, cut % 2 == 0);
      EXPECT_EQ(offset(protocol, place), cut);
      finish(protocol, place, cut);
    }
  }
}

// Cuts before the upload is open, too, so it may have kept less than was sent.
TEST_P(Resumable, GoOnWhereverARequestWasCut) {
  if (testing::speaks_http2()) GTEST_SKIP() << "HTTP/1 only: heads and chunks in pieces";
  for (const UploadProtocol& protocol : {tus(), draft()}) {
    const std::string place = begin(protocol);
    const std::string head = part_head(protocol, place, "Transfer-Encoding: chunked\r\n");
    for (std::size_t cut = 0; cut < head.size(); ++cut) {
      Client client = worker().connect();
      client.send(head.substr(0, cut));
      leave(client, cut % 2 == 0);
    }
    EXPECT_EQ(offset(protocol, place), 0U);
    finish(protocol, place, 0);
    const std::string chunks = "4\r\n0123\r\n5;a=b\r\n45678\r\n3\r\n9ab\r\n0\r\n\r\n";
    for (std::size_t cut = 0; cut < chunks.size(); ++cut) {
      SCOPED_TRACE(std::string(protocol.name) + " cut at " + std::to_string(cut));
      const std::string again = begin(protocol);
      Client client = worker().connect();
      client.send(part_head(protocol, again, "Transfer-Encoding: chunked\r\n") +
                  chunks.substr(0, cut));
      leave(client, cut % 2 == 0);
      worker_.reset();  // waits for its threads, one of which may just open the upload
      const std::size_t kept = offset(protocol, again);
      EXPECT_LE(kept, cut);
      finish(protocol, again, kept);
    }
  }
}

TEST_P(Resumable, GoOnWhereverTheirCreationWasCut) {
  for (std::size_t cut = 0; cut < whole.size(); ++cut) {
    Client client = worker().connect();
    client.send(
        "PUT /in/new.txt HTTP/1.1\r\nHost: test\r\nUpload-Complete: ?1\r\nContent-Length: 12\r\n"
        "Upload-Draft-Interop-Version: 8\r\n\r\n");
    worker().turn_until_readable(client);
    const Answer interim = client.answer().value_or(Answer{});
    EXPECT_EQ(interim.status, 104);
    send(client, whole.substr(0, cut));
    leave(client, cut % 2 == 0);
    const std::string place = interim.field("Location").value_or("");
    const std::size_t kept = offset(draft(), place);
    EXPECT_EQ(kept, cut);
    finish(draft(), place, kept);
  }
}

TEST_P(Resumable, ExpireAfterTheirLastByte) {
  const std::string place = begin(tus());
  EXPECT_EQ(append(tus(), place, 0, "01234").status, 204);
  age_parts(std::chrono::minutes(59));
  EXPECT_EQ(offset(tus(), place), 5U);
  EXPECT_EQ(append(tus(), place, 5, "5").status, 204) << "from now on it is kept for an hour";
  age_parts(std::chrono::minutes(59));
  EXPECT_EQ(offset(tus(), place), 6U);
  age_parts(std::chrono::minutes(61));
  EXPECT_EQ(ask("HEAD " + place, "Tus-Resumable: 1.0.0\r\n").status, 404);
  EXPECT_EQ(append(tus(), place, 6, "6789ab").status, 404);
  EXPECT_EQ(file_count(), 0);
}

TEST_P(Resumable, AreRemovedByTheNextUploadAfterTheirTime) {
  const std::string first = begin(tus());
  const std::string second = begin(draft());
  EXPECT_EQ(file_count(), 4);
  age_parts(std::chrono::minutes(61));
  EXPECT_EQ(append(tus(), first, 0, "0").status, 404);
  EXPECT_EQ(file_count(), 2) << "only the one that was asked for";
  worker_.reset();  // waits for its threads
  const std::string third = begin(draft());
  EXPECT_EQ(file_count(), 2) << "only the new one";
  finish(draft(), third, 0);
  EXPECT_EQ(ask("HEAD " + second).status, 404);
}

TEST_P(Resumable, AreRemovedByAStartAfterTheirTime) {
  const std::string place = begin(draft());
  EXPECT_EQ(append(tus(), place, 0, "01234").status, 204);
  age_parts(std::chrono::minutes(59));
  open();
  EXPECT_EQ(offset(draft(), place), 5U);
  age_parts(std::chrono::minutes(61));
  open();
  EXPECT_EQ(file_count(), 0);
  EXPECT_EQ(ask("HEAD " + place).status, 404);
}

INSTANTIATE_TEST_SUITE_P(Backends, Resumable, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

/// Frame by frame, as a client that is cut anywhere does.
class Http2Resumable : public Resumable {
 protected:
  Http2Resumable() { transport_ = testing::Transport::Tcp; }

  static std::string patch(std::uint32_t stream, const std::string& place, std::size_t from) {
    return frames::headers(stream, frames::request_block("PATCH", place, fields_of(draft(), from)),
                           frames::open);
  }
  void wait_for_answer(Client& client, std::uint32_t stream) {
    const std::string end = "(" + std::to_string(stream) + ")!";  // of its HEADERS or DATA
    std::string bytes;
    worker().turn_until([&] {
      bytes += client.take_received();
      return frames::describe(bytes).find(end) != std::string::npos;
    });
  }
};

TEST_P(Http2Resumable, GoOnWhereverTheConnectionWasCut) {
  const std::string place = begin(draft());
  const std::string first = frames::hello() + patch(1, place, 0);
  const std::string content =
      frames::padded_data(1, whole.substr(0, 5), 3) + frames::data(1, whole.substr(5), frames::end);
  for (std::size_t cut = 0; cut < first.size(); ++cut) {
    Client client = worker().connect();
    client.send(first.substr(0, cut));
    leave(client, cut % 2 == 0);
  }
  EXPECT_EQ(offset(draft(), place), 0U);
  finish(draft(), place, 0);
  for (std::size_t cut = 0; cut < content.size(); ++cut) {
    SCOPED_TRACE(cut);
    const std::string again = begin(draft());
    Client client = worker().connect();
    client.send(frames::hello() + patch(1, again, 0) + content.substr(0, cut));
    leave(client, cut % 2 == 0);
    worker_.reset();
    const std::size_t kept = offset(draft(), again);
    EXPECT_LE(kept, cut);
    finish(draft(), again, kept);
  }
}

TEST_P(Http2Resumable, GoOnOnTheSameConnectionAfterAReset) {
  Client client = worker().connect();
  client.send(frames::hello());
  std::uint32_t stream = 1;
  for (std::size_t cut = 0; cut < whole.size(); ++cut) {
    const std::string place = begin(draft());
    client.send(patch(stream, place, 0) + frames::data(stream, whole.substr(0, cut)) +
                frames::reset(stream));
    stream += 2;
    // The request that was reset may still open the upload, which makes another one fail, maybe
    // once its bytes are kept.
    for (int tries = 0; tries < 100 && content().empty(); ++tries) {
      const Answer state = ask("HEAD " + place);
      if (state.status == 423) continue;
      const std::size_t kept = std::stoul(state.field("Upload-Offset").value_or("99"));
      EXPECT_TRUE(kept <= cut || (tries != 0 && kept == whole.size())) << kept;
      client.send(patch(stream, place, kept) +
                  frames::data(stream, whole.substr(kept), frames::end));
      wait_for_answer(client, stream);
      stream += 2;
    }
    EXPECT_EQ(content(), whole);
    std::filesystem::remove(tree_ / "site/new.txt");
    EXPECT_EQ(file_count(), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, Http2Resumable, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

// The share of a client: of a user whom a guard let in, or else of an address.

class ResumableShares : public ::testing::Test {
 protected:
  ResumableShares() {
    options_.trusted_proxies = std::make_shared<TrustedProxies>(
        ProxyRules{.networks = parse_networks("127.0.0.0/8").value(),
                   .forwarded = ForwardedFields::XForwarded});
  }
  void serve(bool is_guarded) {
    server_.reset();
    router_ = Router();
    if (is_guarded) router_.use(auth::basic("uploads", [](auto, auto) { return true; }));
    router_.uploads("/in", tree_.string(), {.resumable = true, .max_unfinished = 12});
    server_.emplace(router_, BackendChoice::Auto, options_);
  }
  /// Begins an upload; returns the status.
  int begin(const std::string& address, const std::string& user) {
    Client client = server_->connect();
    const std::string login = user.empty() ? "" : BasicCredentials{user, "x"}.field().value();
    client.send("PUT /in/" + std::to_string(++count_) +
                " HTTP/1.1\r\nHost: test\r\nContent-Length: 0\r\nUpload-Complete: ?0\r\n" +
                "X-Forwarded-For: " + address + "\r\n" +
                (login.empty() ? "" : "Authorization: " + login + "\r\n") + "\r\n");
    const auto answer = client.answer();
    return answer ? answer->status : 0;
  }

  support::TemporaryDirectory tree_;
  Router router_;
  ServerOptions options_;
  std::optional<testing::TestServer> server_;
  int count_ = 0;
};

TEST_F(ResumableShares, ANameThatNobodyCheckedIsNoUser) {
  serve(false);
  for (const char* const user : {"ada", "bob", "", "eve"}) {
    EXPECT_EQ(begin("192.0.2.1", user), 201) << user;
  }
  EXPECT_EQ(begin("192.0.2.1", "joe"), 507) << "the share of the address is used up";
  EXPECT_EQ(begin("192.0.2.2", "ada"), 201);
}

TEST_F(ResumableShares, AUserHasOneAtAnyAddress) {
  serve(true);
  for (int i = 1; i <= 4; ++i) EXPECT_EQ(begin("192.0.2." + std::to_string(i), "ada"), 201);
  EXPECT_EQ(begin("192.0.2.5", "ada"), 507);
  EXPECT_EQ(begin("192.0.2.1", "bob"), 201);
}

// Four bytes are an IPv4 address.
TEST_F(ResumableShares, AUserIsNoAddress) {
  serve(true);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(begin("192.0.2.1", "ABCD"), 201);
  EXPECT_EQ(begin("192.0.2.1", "ABCD"), 507);
  serve(false);
  EXPECT_EQ(begin("65.66.67.68", ""), 201);
}

}  // namespace
}  // namespace skua
