// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "coding/coding.hpp"
#include "files/compressed_stream.hpp"
#include "files/file_site.hpp"
#include "skua/router.hpp"
#include "skua/testing.hpp"
#include "support/collecting_sink.hpp"
#include "support/manual_times.hpp"
#include "support/temporary_directory.hpp"

namespace skua::files {
namespace {

using coding::Coding;
using support::ManualTimes;
using support::TemporaryDirectory;
using testing::FakeRequest;
using Fields = std::vector<std::pair<std::string, std::string>>;

constexpr std::chrono::seconds modified{784'111'777};
constexpr const char* browser = "gzip, deflate, br, zstd";

std::string field(const Response& response, std::string_view name) {
  return std::string(response.header(name).value_or("<none>"));
}

std::string decoded(Coding coding, std::string_view text) {
  Result<coding::Decoder> decoder = coding::Decoder::create(coding);
  std::string out;
  EXPECT_TRUE(decoder && decoder->push(text, out) && decoder->finish());
  return out;
}

std::string repeated(std::string_view word, std::size_t size_bytes) {
  std::string text;
  while (text.size() < size_bytes) text += word;
  text.resize(size_bytes);
  return text;
}

class CodedSite : public ::testing::Test {
 protected:
  void serve(FileOptions options) {
    auto times = std::make_unique<ManualTimes>();
    times_ = times.get();
    site_ = std::make_unique<FileSite>(Root::open(tree_.string()).value(), std::move(options),
                                       std::move(times));
  }
  // Writes a file that has not changed for long, unless told otherwise.
  void write(const char* name, std::string_view text, std::chrono::seconds time = modified) {
    tree_.write(name, text);
    support::set_modified(tree_ / name, time);
  }
  Response get(std::string_view target, const Fields& fields,
               std::string_view method = "GET") const {
    FakeRequest fake(std::string(method) + " " + std::string(target));
    for (const auto& [name, value] : fields) fake.header(name, value);
    const Request& request = fake.request();
    return site_->answer(request, request.path());
  }
  Response get_coded(std::string_view target, std::string_view accepted = browser) const {
    return get(target, {{"Accept-Encoding", std::string(accepted)}});
  }

  TemporaryDirectory tree_;
  ManualTimes* times_ = nullptr;
  std::unique_ptr<FileSite> site_;
};

class Precompressed : public CodedSite {
 protected:
  void SetUp() override {
    write("a.js", "plain");
    serve({.precompressed = true});
  }
};

TEST_F(Precompressed, TheSiblingThatTheClientLikesBestIsSent) {
  write("a.js.gz", "as gzip");
  write("a.js.br", "as br");
  const Response response = get_coded("/a.js");
  EXPECT_EQ(response.body(), "as br");
  EXPECT_EQ(field(response, "Content-Encoding"), "br");
  EXPECT_EQ(field(response, "Vary"), "Accept-Encoding");
  EXPECT_EQ(response.content_type(), "text/javascript; charset=utf-8");
  EXPECT_EQ(get_coded("/a.js", "br;q=0.5, gzip").body(), "as gzip");
  EXPECT_EQ(get_coded("/a.js", "zstd").body(), "plain");
  EXPECT_EQ(get_coded("/a.js", "br;q=0").body(), "plain");
}

TEST_F(Precompressed, AClientThatAcceptsNoneGetsTheFile) {
  write("a.js.br", "as br");
  for (const Fields& fields : {Fields{}, Fields{{"Accept-Encoding", "identity"}}}) {
    const Response response = get("/a.js", fields);
    EXPECT_EQ(response.body(), "plain");
    EXPECT_EQ(field(response, "Content-Encoding"), "<none>");
    EXPECT_EQ(field(response, "Vary"), "Accept-Encoding");
  }
}

TEST_F(Precompressed, EachFormHasItsOwnTagAndRanges) {
  write("a.js.br", "as br");
  const std::string plain = field(get("/a.js", {}), "ETag");
  const std::string coded = field(get_coded("/a.js"), "ETag");
  EXPECT_NE(plain, coded);
  const Response unchanged = get("/a.js", {{"Accept-Encoding", browser}, {"If-None-Match", coded}});
  EXPECT_EQ(unchanged.status(), Status::NotModified);
  EXPECT_EQ(field(unchanged, "Vary"), "Accept-Encoding");
  EXPECT_EQ(get("/a.js", {{"Accept-Encoding", browser}, {"If-None-Match", plain}}).status(),
            Status::Ok);
  const Response part =
      get("/a.js", {{"Accept-Encoding", browser}, {"Range", "bytes=3-"}, {"If-Range", coded}});
  EXPECT_EQ(part.status(), Status::PartialContent);
  EXPECT_EQ(part.body(), "br");
  EXPECT_EQ(field(part, "Content-Encoding"), "br");
  EXPECT_EQ(field(part, "Vary"), "Accept-Encoding");
}

TEST_F(Precompressed, SeveralRangesOfASiblingAreAllOfIt) {
  const std::string coded(5000, 'z');
  write("a.js.br", coded);
  const Response parts =
      get("/a.js", {{"Accept-Encoding", browser}, {"Range", "bytes=0-0,4000-4000"}});
  EXPECT_EQ(parts.status(), Status::Ok);
  EXPECT_EQ(parts.body(), coded);
  EXPECT_EQ(field(parts, "Content-Encoding"), "br");
}

TEST_F(Precompressed, AnOlderSiblingIsIgnored) {
  write("a.js.br", "of an earlier version", modified - std::chrono::seconds(1));
  EXPECT_EQ(get_coded("/a.js").body(), "plain");
}

TEST_F(Precompressed, ChangesOfEitherAreSeenAfterASecond) {
  EXPECT_EQ(get_coded("/a.js").body(), "plain");
  write("a.js.br", "as br");
  EXPECT_EQ(get_coded("/a.js").body(), "plain");
  times_->advance(1s);
  EXPECT_EQ(get_coded("/a.js").body(), "as br");
  write("a.js.br", "as br again");
  times_->advance(1s);
  EXPECT_EQ(get_coded("/a.js").body(), "as br again");
  write("a.js", "a newer version", modified + std::chrono::seconds(1));
  times_->advance(1s);
  EXPECT_EQ(get_coded("/a.js").body(), "a newer version");
  write("a.js.br", "as br at last", modified + std::chrono::seconds(1));
  times_->advance(1s);
  EXPECT_EQ(get_coded("/a.js").body(), "as br at last");
  std::filesystem::remove(tree_ / "a.js.br");
  times_->advance(1s);
  EXPECT_EQ(get_coded("/a.js").body(), "a newer version");
}

TEST_F(Precompressed, LargeOnesAreSentAsFiles) {
  write("large.css", std::string(300'000, 'x'));
  write("large.css.gz", std::string(100'000, 'z'));
  const Response response = get_coded("/large.css", "gzip");
  ASSERT_NE(response.content().file(), nullptr);
  EXPECT_EQ(response.content().size_bytes(), 100'000u);
  EXPECT_EQ(field(response, "Content-Encoding"), "gzip");
  EXPECT_EQ(response.content_type(), "text/css; charset=utf-8");
}

TEST_F(Precompressed, AFolderOrAHiddenNameIsNoSibling) {
  tree_.make("a.js.br");
  EXPECT_EQ(get_coded("/a.js").body(), "plain");
  EXPECT_EQ(get_coded("/missing.js").status(), Status::NotFound);
}

class Compressed : public CodedSite {
 protected:
  void SetUp() override {
    if (!coding::is_available(Coding::Gzip)) GTEST_SKIP() << "built without zlib";
    write("a.html", text_);
    serve({.compress = true});
  }

  const std::string text_ = repeated("<p>a gull, </p>", 5000);
};

TEST_F(Compressed, TextIsCompressedAndKept) {
  const Response response = get_coded("/a.html", "gzip");
  EXPECT_EQ(decoded(Coding::Gzip, response.body()), text_);
  EXPECT_EQ(field(response, "Content-Encoding"), "gzip");
  EXPECT_EQ(field(response, "Vary"), "Accept-Encoding");
  EXPECT_EQ(response.content_type(), "text/html; charset=utf-8");
  times_->advance(10s);
  EXPECT_EQ(get_coded("/a.html", "gzip").body().data(), response.body().data());
}

TEST_F(Compressed, ItsTagIsWeakAndItsOwn) {
  const std::string tag = field(get_coded("/a.html", "gzip"), "ETag");
  EXPECT_TRUE(tag.starts_with("W/\"")) << tag;
  EXPECT_TRUE(tag.ends_with("-gzip\"")) << tag;
  EXPECT_EQ(get("/a.html", {{"Accept-Encoding", "gzip"}, {"If-None-Match", tag}}).status(),
            Status::NotModified);
  EXPECT_EQ(get("/a.html", {{"If-None-Match", tag}}).status(), Status::Ok);
}

TEST_F(Compressed, RangesAreThoseOfTheFile) {
  const Response part = get("/a.html", {{"Accept-Encoding", "gzip"}, {"Range", "bytes=3-8"}});
  EXPECT_EQ(part.status(), Status::PartialContent);
  EXPECT_EQ(part.body(), text_.substr(3, 6));
  EXPECT_EQ(field(part, "Content-Encoding"), "<none>");
  EXPECT_EQ(field(part, "Vary"), "Accept-Encoding");
}

TEST_F(Compressed, ShortDenseAndOtherContentStaysAsItIs) {
  write("short.html", "short");
  write("a.png", text_);
  for (const char* name : {"/short.html", "/a.png"}) {
    EXPECT_EQ(field(get_coded(name), "Content-Encoding"), "<none>") << name;
  }
  EXPECT_EQ(field(get_coded("/a.png"), "Vary"), "<none>");
  EXPECT_EQ(field(get_coded("/short.html"), "Vary"), "Accept-Encoding");
}

TEST_F(Compressed, AChangedFileIsCompressedAgain) {
  get_coded("/a.html", "gzip");
  const std::string changed = repeated("<p>two gulls, </p>", 5000);
  write("a.html", changed);
  times_->advance(1s);
  EXPECT_EQ(decoded(Coding::Gzip, get_coded("/a.html", "gzip").body()), changed);
}

TEST_F(Compressed, ALargeFileIsCompressedWhileItIsSent) {
  std::string large;
  for (int i = 0; i < 200'000; ++i) large += std::to_string(i);
  write("large.txt", large);
  const Response response = get_coded("/large.txt", "gzip");
  ASSERT_NE(response.content().stream(), nullptr);
  EXPECT_EQ(field(response, "Content-Encoding"), "gzip");
  EXPECT_EQ(field(response, "Accept-Ranges"), "<none>");
  EXPECT_TRUE(field(response, "ETag").starts_with("W/\""));
  EXPECT_EQ(decoded(Coding::Gzip, support::produced(response.content())), large);
  EXPECT_EQ(get("/large.txt", {{"Accept-Encoding", "gzip"}, {"Range", "bytes=0-3"}}).status(),
            Status::PartialContent);
}

TEST_F(Compressed, OnlySoManyLargeFilesAreCompressedAtATime) {
  write("large.txt", repeated("gull ", 100'000));
  std::vector<Response> responses;
  for (int i = 0; i < compressed_streams_at_most; ++i) {
    responses.push_back(get_coded("/large.txt", "gzip"));
    EXPECT_NE(responses.back().content().stream(), nullptr) << i;
  }
  EXPECT_NE(get_coded("/large.txt", "gzip").content().file(), nullptr);
  responses.pop_back();
  EXPECT_NE(get_coded("/large.txt", "gzip").content().stream(), nullptr);
}

TEST_F(Compressed, ALargeFileThatTheClientHasIsNotSent) {
  write("large.txt", repeated("gull ", 100'000));
  Router router;
  router.files("/files", tree_.string(), {.compress = true});
  const auto ask = [&](const std::string& tag) {
    FakeRequest fake("GET /files/large.txt");
    fake.header("Accept-Encoding", "gzip").header("If-None-Match", tag);
    return router.handle(fake.request());
  };
  const std::string tag = field(ask("\"other\""), "ETag");
  const Response unchanged = ask(tag);
  EXPECT_EQ(unchanged.status(), Status::NotModified);
  EXPECT_EQ(field(unchanged, "ETag"), tag);
  EXPECT_EQ(field(unchanged, "Vary"), "Accept-Encoding");
}

}  // namespace
}  // namespace skua::files
