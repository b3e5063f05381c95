// SPDX-License-Identifier: MIT
#include "files/archive/archive_response.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "coding/coding.hpp"
#include "files/file_site.hpp"
#include "skua/testing.hpp"
#include "support/collecting_sink.hpp"
#include "support/manual_times.hpp"
#include "support/temporary_directory.hpp"

namespace skua::files {
namespace {

using testing::FakeRequest;

std::string field(const Response& response, std::string_view name) {
  return std::string(response.header(name).value_or("<none>"));
}

class ArchiveResponse : public ::testing::Test {
 protected:
  void SetUp() override {
    tree_.write("dir/a.txt", "a");
    tree_.write("dir/index.html", "home");
    tree_.write("plain/b", "b");
    serve({.listing = true, .archives = 2});
  }
  void serve(FileOptions options) {
    site_ = std::make_unique<FileSite>(Root::open(tree_.string()).value(), std::move(options),
                                       std::make_unique<support::ManualTimes>());
  }
  Response get(std::string_view target, std::string_view method = "GET") const {
    FakeRequest fake(std::string(method) + " " + std::string(target));
    fake.header("Range", "bytes=0-9");
    const Request& request = fake.request();
    return site_->answer(request, request.path());
  }

  support::TemporaryDirectory tree_;
  std::unique_ptr<FileSite> site_;
};

TEST_F(ArchiveResponse, IsADownloadThatIsNotKept) {
  const Response response = get("/dir/?archive=tar");
  EXPECT_EQ(response.status(), Status::Ok) << "there are no ranges";
  EXPECT_EQ(response.content_type(), "application/x-tar");
  EXPECT_EQ(field(response, "Content-Disposition"), "attachment; filename=\"dir.tar\"");
  EXPECT_EQ(field(response, "Cache-Control"), "no-store");
  EXPECT_EQ(field(response, "Accept-Ranges"), "none");
  EXPECT_EQ(field(response, "X-Content-Type-Options"), "nosniff");
  EXPECT_EQ(field(response, "ETag"), "<none>");
  const std::string tar = support::produced(response.content());
  EXPECT_TRUE(tar.starts_with("dir/"));
  EXPECT_EQ(tar.size() % 512, 0U);
  EXPECT_EQ(get("/dir/?archive=zip").content_type(), "application/zip");
  EXPECT_EQ(field(get("/?archive=zip"), "Content-Disposition"),
            "attachment; filename=\"files.zip\"");
}

TEST_F(ArchiveResponse, ItsNameMayBeOfAnyScript) {
  tree_.make("d\u00e4 'x");
  EXPECT_EQ(field(get("/d%C3%A4%20%27x/?archive=zip"), "Content-Disposition"),
            "attachment; filename=\"d__ _x.zip\"; filename*=UTF-8''d%C3%A4%20_x.zip");
}

TEST_F(ArchiveResponse, GzipIsThatOfTheTar) {
  const Response response = get("/plain/?archive=tar.gz");
  if (!coding::is_available(coding::Coding::Gzip)) {
    EXPECT_EQ(response.status(), Status::BadRequest);
    EXPECT_EQ(get("/plain/").body().find("tar.gz"), std::string_view::npos);
    return;
  }
  EXPECT_EQ(response.content_type(), "application/gzip");
  auto decoder = coding::Decoder::create(coding::Coding::Gzip);
  std::string tar;
  ASSERT_TRUE(decoder && decoder->push(support::produced(response.content()), tar) &&
              decoder->finish());
  EXPECT_EQ(tar, support::produced(get("/plain/?archive=tar").content()));
}

TEST_F(ArchiveResponse, OnlyOfAFolder) {
  EXPECT_EQ(get("/dir?archive=tar").status(), Status::MovedPermanently);
  EXPECT_EQ(field(get("/dir?archive=tar"), "Location"), "/dir/?archive=tar");
  EXPECT_EQ(get("/dir/a.txt?archive=tar").content_type(), "text/plain; charset=utf-8");
  EXPECT_EQ(get("/none/?archive=tar").status(), Status::NotFound);
  EXPECT_EQ(get("/dir/a.txt/?archive=tar").status(), Status::NotFound);
  EXPECT_EQ(get("/.git/?archive=tar").status(), Status::NotFound);
  EXPECT_EQ(get("/dir/?archive=tar", "POST").status(), Status::MethodNotAllowed);
}

TEST_F(ArchiveResponse, OnlyOfAKnownFormat) {
  for (const char* name : {"", "rar", "TAR", "tar.gz/", "../tar", "tar%00", "zip;x", "%2e%2e"}) {
    const Response response = get("/dir/?archive=" + std::string(name));
    EXPECT_EQ(response.status(), Status::BadRequest) << name;
    EXPECT_TRUE(response.body().starts_with("archive is zip")) << name;
  }
  EXPECT_EQ(get("/dir/?archives=tar").body(), "home");
}

TEST_F(ArchiveResponse, OnlyIfTheSiteHasThem) {
  EXPECT_NE(get("/plain/").body().find("rel=\"nofollow\" href=\"?archive=zip\""),
            std::string_view::npos);
  serve({.listing = true});
  EXPECT_EQ(get("/dir/?archive=tar").body(), "home");
  EXPECT_EQ(get("/plain/?archive=rar").status(), Status::Ok);
  EXPECT_EQ(get("/plain/").body().find("archive="), std::string_view::npos);
}

TEST_F(ArchiveResponse, AtMostAsManyAsThereArePlaces) {
  std::optional<Response> first = get("/dir/?archive=tar");
  const Response second = get("/dir/?archive=zip", "HEAD");
  const Response third = get("/dir/?archive=zip");
  EXPECT_EQ(second.status(), Status::Ok);
  EXPECT_EQ(third.status(), Status::ServiceUnavailable);
  EXPECT_EQ(field(third, "Retry-After"), "30");
  EXPECT_EQ(get("/plain/").status(), Status::Ok);
  first.reset();
  EXPECT_EQ(get("/dir/?archive=tar").status(), Status::Ok);
}

}  // namespace
}  // namespace skua::files
