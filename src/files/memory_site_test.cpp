// SPDX-License-Identifier: MIT
#include "files/memory_site.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "skua/memory_files.hpp"
#include "skua/router.hpp"
#include "skua/testing.hpp"

namespace skua::files {
namespace {

using testing::FakeRequest;
using Fields = std::vector<std::pair<std::string, std::string>>;

constexpr EmbeddedFile site[] = {
    {"/index.html", "<h1>home</h1>", "aa11", {}, {}},
    {"/style.css", "body {}", "bb22", "as gzip", "as zstd"},
    {"/images/index.html", "images", "cc33", {}, {}},
    {"/images/deep/gull.svg", "<svg/>", "dd44", "as gzip", {}},
};

class MemorySiteTest : public ::testing::Test {
 protected:
  MemorySiteTest() {
    router_.get("/{path...}", MemoryFiles(site));
    router_.files("/assets", MemoryFiles(site, {.index = "", .max_age = std::chrono::hours(1)}));
  }
  Response get(std::string_view line, const Fields& fields = {}) const {
    FakeRequest fake(line);
    for (const auto& [name, value] : fields) fake.header(name, value);
    return router_.handle(fake.request());
  }
  static std::string field(const Response& response, std::string_view name) {
    return std::string(response.header(name).value_or("<none>"));
  }

  Router router_;
};

TEST_F(MemorySiteTest, ServesAFileWithEverythingThatDescribesIt) {
  const Response response = get("GET /style.css");
  EXPECT_EQ(response.status(), Status::Ok);
  EXPECT_EQ(response.body(), "body {}");
  EXPECT_EQ(response.content_type(), "text/css; charset=utf-8");
  EXPECT_EQ(field(response, "ETag"), "\"bb22\"");
  EXPECT_EQ(field(response, "Last-Modified"), "<none>");
  EXPECT_EQ(field(response, "Accept-Ranges"), "bytes");
  EXPECT_EQ(field(response, "Cache-Control"), "no-cache");
  EXPECT_EQ(field(response, "Vary"), "Accept-Encoding");
  EXPECT_EQ(field(response, "X-Content-Type-Options"), "nosniff");
  EXPECT_EQ(field(get("GET /index.html"), "Vary"), "<none>");
}

TEST_F(MemorySiteTest, FoldersHaveAnIndexAndASlash) {
  EXPECT_EQ(get("GET /").body(), "<h1>home</h1>");
  EXPECT_EQ(get("GET /images/").body(), "images");
  EXPECT_EQ(get("GET /images").status(), Status::MovedPermanently);
  EXPECT_EQ(field(get("GET /images?x=1"), "Location"), "/images/?x=1");
  EXPECT_EQ(field(get("GET /images/deep"), "Location"), "/images/deep/");
  EXPECT_EQ(get("GET /images/deep/").status(), Status::NotFound);
  EXPECT_EQ(field(get("GET /assets"), "Location"), "/assets/");
  EXPECT_EQ(get("GET /assets/").status(), Status::NotFound);  // it has no index
}

TEST_F(MemorySiteTest, OtherPathsAndMethodsAreRefused) {
  for (const char* path :
       {"/none", "/style.css/", "/images/dee", "/images/deep/gull", "/assets/x"}) {
    EXPECT_EQ(get("GET " + std::string(path)).status(), Status::NotFound) << path;
  }
  EXPECT_EQ(get("POST /assets/style.css").status(), Status::MethodNotAllowed);
}

TEST_F(MemorySiteTest, AnswersConditionsAndRanges) {
  EXPECT_EQ(get("GET /style.css", {{"If-None-Match", "\"bb22\""}}).status(), Status::NotModified);
  EXPECT_EQ(get("GET /style.css", {{"If-Match", "\"other\""}}).status(),
            Status::PreconditionFailed);
  const Response part = get("GET /style.css", {{"Range", "bytes=0-3"}});
  EXPECT_EQ(part.status(), Status::PartialContent);
  EXPECT_EQ(part.body(), "body");
  EXPECT_EQ(field(part, "Content-Range"), "bytes 0-3/7");
}

TEST_F(MemorySiteTest, SendsTheFormThatTheClientLikesBest) {
  const Response zstd = get("GET /style.css", {{"Accept-Encoding", "gzip, zstd, br"}});
  EXPECT_EQ(zstd.body(), "as zstd");
  EXPECT_EQ(field(zstd, "Content-Encoding"), "zstd");
  EXPECT_EQ(field(zstd, "ETag"), "\"bb22-zstd\"");
  EXPECT_EQ(zstd.content_type(), "text/css; charset=utf-8");
  EXPECT_EQ(get("GET /style.css", {{"Accept-Encoding", "gzip, zstd;q=0.5"}}).body(), "as gzip");
  EXPECT_EQ(get("GET /images/deep/gull.svg", {{"Accept-Encoding", "zstd, gzip"}}).body(),
            "as gzip");
  EXPECT_EQ(get("GET /index.html", {{"Accept-Encoding", "zstd, gzip"}}).body(), "<h1>home</h1>");
  EXPECT_EQ(get("GET /style.css", {{"Accept-Encoding", "gzip;q=0"}}).body(), "body {}");
  const Response part =
      get("GET /style.css", {{"Accept-Encoding", "gzip"}, {"Range", "bytes=3-6"}});
  EXPECT_EQ(part.body(), "gzip");
}

TEST_F(MemorySiteTest, MaxAgeIsSent) {
  EXPECT_EQ(field(get("GET /assets/style.css"), "Cache-Control"), "max-age=3600");
}

}  // namespace
}  // namespace skua::files
