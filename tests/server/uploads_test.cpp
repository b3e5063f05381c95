// SPDX-License-Identifier: MIT
// Uploads to a folder, as a client sees them over a real socket, on every back end.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "skua.hpp"
#include "support/temporary_directory.hpp"
#include "support/test_server.hpp"

#if defined(__SANITIZE_THREAD__)
// It does not see that opendir() makes a new descriptor, and takes its end for a race with the
// thread that had an equal one before.
extern "C" const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() { return "race:closedir"; }
#endif

namespace skua {
namespace {

using testing::Answer;
using testing::Client;
using testing::TestServer;

std::string request(std::string_view line, std::string_view content, std::string_view fields = {}) {
  std::string out(line);
  out.append(" HTTP/1.1\r\nHost: test\r\nContent-Length: ").append(std::to_string(content.size()));
  return out.append("\r\n").append(fields).append("\r\n").append(content);
}

class Uploads : public ::testing::TestWithParam<BackendChoice> {
 protected:
  void SetUp() override {
    tree_.make("site/sub");
    tree_.write("site/old.txt", "old");
    const std::string folder = (tree_ / "site").string();
    router_.files("/in", folder, {.listing = true});
    router_.uploads("/in", folder, {.max_bytes = 4_MiB});
    router_.uploads("/replace", folder, {.overwrite = true});
  }

  Answer ask(std::string_view bytes) {
    Client client = server().connect();
    client.send(bytes);
    return client.answer().value_or(Answer{});
  }
  Answer put(std::string_view path, std::string_view content, std::string_view fields = {}) {
    return ask(request("PUT " + std::string(path), content, fields));
  }
  // Posts files, each with its name as content.
  Answer post(std::string_view path, const std::vector<std::string>& names,
              std::string_view fields = {}) {
    MultipartWriter writer;
    for (const std::string& name : names) writer.memory("file", name, "text/plain", name);
    std::string content(writer.length_bytes().value_or(0) + 1, '\0');
    content.resize(writer.read(content).value());
    return ask(request("POST " + std::string(path), content,
                       "Content-Type: " + writer.content_type() + "\r\n" + std::string(fields)));
  }
  std::string content(std::string_view name) const {
    std::ifstream file(tree_ / "site" / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  // Returns how many files and folders there are, also around the site: two at first.
  std::size_t count() const {
    const std::filesystem::recursive_directory_iterator all(tree_.path());
    return static_cast<std::size_t>(std::distance(all, {})) - 1;
  }
  TestServer& server() {
    if (!server_) server_.emplace(router_, GetParam());
    return *server_;
  }

  support::TemporaryDirectory tree_;
  Router router_;
  std::optional<TestServer> server_;
};

TEST_P(Uploads, PutWritesAFileThatIsServedAtOnce) {
  const std::string large(3'000'000, 'x');
  const Answer made = put("/in/sub/a%20b.bin", large);
  EXPECT_EQ(made.status, 201);
  EXPECT_EQ(made.field("Location"), "/in/sub/a%20b.bin");
  const Answer read = ask(testing::get(*made.field("Location")));
  EXPECT_EQ(read.status, 200);
  EXPECT_EQ(read.body, large);
  EXPECT_EQ(read.field("ETag"), made.field("ETag")) << "it is strong at once";
  EXPECT_EQ(count(), 3u);
}

TEST_P(Uploads, PutReplacesIfThatIsAllowed) {
  EXPECT_EQ(put("/in/old.txt", "new").status, 409);
  EXPECT_EQ(content("old.txt"), "old");
  const Answer replaced = put("/replace/old.txt", "new");
  EXPECT_EQ(replaced.status, 204);
  EXPECT_TRUE(replaced.field("ETag"));
  EXPECT_FALSE(replaced.field("Location"));
  EXPECT_EQ(content("old.txt"), "new");
  EXPECT_EQ(put("/replace/old.txt", "").status, 204);
  EXPECT_EQ(content("old.txt"), "");
}

TEST_P(Uploads, PutObeysItsConditions) {
  const Answer made = put("/replace/a", "1", "If-None-Match: *\r\n");
  EXPECT_EQ(made.status, 201);
  EXPECT_EQ(put("/replace/a", "2", "If-None-Match: *\r\n").status, 412);
  const std::string only_that = "If-Match: " + *made.field("ETag") + "\r\n";
  EXPECT_EQ(put("/replace/a", "2", only_that).status, 204);
  EXPECT_EQ(put("/replace/a", "3", only_that).status, 412);
  EXPECT_EQ(content("a"), "2");
}

TEST_P(Uploads, TagsOfCompressedFormsNameTheirFile) {
  std::string tag(put("/replace/a", "1").field("ETag").value_or(""));
  const auto coded = [&tag](std::string_view ending) {
    std::string changed = "If-Match: W/" + tag;
    changed.insert(changed.size() - 1, ending);
    return changed.append("\r\n");
  };
  for (const std::string_view other : {"-new", "-none", "gzip", "-", "-new-gzip"}) {
    EXPECT_EQ(put("/replace/a", "2", coded(other)).status, 412) << other;
  }
  for (const std::string_view form : {"", "-gzip", "-br", "-zstd"}) {
    const Answer stored = put("/replace/a", "2", coded(form));
    EXPECT_EQ(stored.status, 204) << form;
    tag = stored.field("ETag").value_or("");
  }
}

TEST_P(Uploads, PathsThatAreNotAllowedAreRefused) {
  for (const char* path : {"/in/.env", "/in/sub/.git/config", "/in/.skua-upload-1", "/in/a%5Cb",
                           "/in/a%00b", "/in/a%0Ab", "/in/%2e%2e%2fa", "/in/sub%2f..%2f..%2fa",
                           "/in/../../a", "/in/sub/../../../a"}) {
    const int status = put(path, "x").status;
    EXPECT_TRUE(status >= 400 && status < 500) << path << ": " << status;
  }
  EXPECT_EQ(put("/in/", "x").status, 409);
  EXPECT_EQ(put("/in", "x").status, 405);
  EXPECT_EQ(put("/in/sub/", "x").status, 409);
  EXPECT_EQ(put("/in/sub", "x").status, 409);
  EXPECT_EQ(put("/in/none/a", "x").status, 409);
  EXPECT_EQ(count(), 2u);
}

TEST_P(Uploads, ContentThatIsRefusedIsNotAskedFor) {
  const auto status = [&](std::string_view path, std::string_view fields) {
    return ask("PUT " + std::string(path) + " HTTP/1.1\r\nHost: test\r\nExpect: 100-continue\r\n" +
               std::string(fields) + "\r\n")
        .status;
  };
  EXPECT_EQ(status("/in/a", "Content-Length: 5000000\r\n"), 413);
  EXPECT_EQ(status("/in/old.txt", "Content-Length: 1\r\n"), 409);
  EXPECT_EQ(status("/in/a", "Content-Length: 1\r\nContent-Range: bytes 0-0/2\r\n"), 400);
  EXPECT_EQ(status("/in/a", "Content-Length: 1\r\nContent-Encoding: gzip\r\n"), 415);
  EXPECT_EQ(status("/replace/old.txt", "Content-Length: 1\r\nIf-None-Match: *\r\n"), 412);
  EXPECT_EQ(status("/in/a", "Content-Length: 1\r\nOrigin: https://evil.example\r\n"), 403);
  EXPECT_EQ(count(), 2u);
}

TEST_P(Uploads, ContentOfUnknownLengthIsLimitedToo) {
  std::string chunks("PUT /in/a HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n");
  const std::string chunk = "100000\r\n" + std::string(1_MiB, 'x') + "\r\n";
  Client client = server().connect();
  client.send(chunks);
  for (int i = 0; i < 4; ++i) client.send(chunk);
  client.send("1\r\nx\r\n0\r\n\r\n");
  EXPECT_EQ(client.answer().value_or(Answer{}).status, 413);
  server_.reset();  // waits for its threads
  EXPECT_EQ(count(), 2u);
}

TEST_P(Uploads, NothingIsLeftOfAnUploadWhoseClientGoesAway) {
  const std::string whole = request("PUT /in/a", std::string(2'000'000, 'x'));
  Client client = server().connect();
  client.send(std::string_view(whole).substr(0, 1'500'000));
  client.reset();
  server_.reset();  // waits for its threads
  EXPECT_EQ(count(), 2u);
}

TEST_P(Uploads, FormsWriteEachOfTheirFiles) {
  const Answer one = post("/in/sub/", {"a b.txt"});
  EXPECT_EQ(one.status, 201);
  EXPECT_EQ(one.field("Location"), "/in/sub/a%20b.txt");
  EXPECT_TRUE(one.field("ETag"));
  EXPECT_EQ(content("sub/a b.txt"), "a b.txt");
  const Answer two = post("/in", {"c", "../../d"});
  EXPECT_EQ(two.status, 201);
  EXPECT_EQ(two.field("Location"), "/in/");
  EXPECT_EQ(content("c"), "c");
  EXPECT_EQ(content("d"), "../../d");
  EXPECT_EQ(post("/replace/", {"c"}).status, 204);
  const Answer page = post("/in/sub/", {"e"}, "Accept: text/html,*/*;q=0.8\r\n");
  EXPECT_EQ(page.status, 303);
  EXPECT_EQ(page.field("Location"), "/in/sub/");
}

TEST_P(Uploads, FormsNeverReplaceUnlessAsked) {
  const Answer taken = post("/in/", {"new.txt", "old.txt", "after.txt"});
  EXPECT_EQ(taken.status, 409);
  EXPECT_EQ(taken.body, "old.txt: there is a file with this name\nwritten before it:\nnew.txt\n");
  EXPECT_EQ(content("old.txt"), "old");
  EXPECT_EQ(count(), 3u);
}

TEST_P(Uploads, FormsThatCannotBeReadAreRefused) {
  EXPECT_EQ(post("/in/", {}).status, 400);
  EXPECT_EQ(post("/in/", {".."}).status, 403);
  EXPECT_EQ(post("/in/none/", {"a"}).status, 404);
  EXPECT_EQ(post("/in/", {"a"}, "Origin: http://evil.example\r\n").status, 403);
  EXPECT_EQ(post("/in/", {"a"}, "Origin: null\r\n").status, 403);
  EXPECT_EQ(post("/in/", {"a"}, "Sec-Fetch-Site: same-site\r\n").status, 403);
  EXPECT_EQ(ask(request("POST /in/", "a=1", "Content-Type: text/plain\r\n")).status, 415);
  EXPECT_EQ(
      ask(request("POST /in/", "x", "Content-Type: multipart/form-data; boundary=b\r\n")).status,
      400);
  EXPECT_EQ(count(), 2u);
  EXPECT_EQ(post("/in/", {"a"}, "Origin: http://test\r\n").status, 201);
  EXPECT_EQ(post("/in/", {"b"}, "Origin: http://x\r\nSec-Fetch-Site: same-origin\r\n").status, 201);
  EXPECT_EQ(post("/in/", {".env"}).field("Location"), "/in/env");
}

INSTANTIATE_TEST_SUITE_P(Backends, Uploads, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
