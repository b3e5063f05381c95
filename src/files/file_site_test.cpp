// SPDX-License-Identifier: MIT
#include "files/file_site.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/file_io.hpp"
#include "base/http_date.hpp"
#include "skua/async.hpp"
#include "skua/body_writer.hpp"
#include "skua/files.hpp"
#include "skua/router.hpp"
#include "skua/testing.hpp"
#include "support/collecting_sink.hpp"
#include "support/manual_times.hpp"
#include "support/temporary_directory.hpp"

namespace skua::files {
namespace {

using support::ManualTimes;
using support::TemporaryDirectory;
using testing::FakeRequest;
using Fields = std::vector<std::pair<std::string, std::string>>;

constexpr std::chrono::seconds modified{784'111'777};
constexpr const char* modified_text = "Sun, 06 Nov 1994 08:49:37 GMT";

// Returns the content of a response, from memory or a file.
std::string bytes_of(const Response& response) {
  const FileRange* const range = response.content().file();
  if (range == nullptr) return std::string(response.body());
  std::string text(static_cast<std::size_t>(range->size_bytes), '\0');
  text.resize(base::read_at(range->file, range->offset, text).value_or(0));
  return text;
}

std::string field(const Response& response, std::string_view name) {
  return std::string(response.header(name).value_or("<none>"));
}

class FileSiteTest : public ::testing::Test {
 protected:
  void SetUp() override {
    large_.resize(100'000);
    for (std::size_t i = 0; i < large_.size(); ++i) large_[i] = static_cast<char>('a' + i % 26);
    tree_.write("index.html", "<h1>home</h1>");
    tree_.write("a.txt", "0123456789");
    tree_.write("large.bin", large_);
    tree_.write("dir/index.html", "dir");
    tree_.write("dir/b.css", "css");
    tree_.write("plain/c.txt", "c");
    tree_.write(".env", "secret");
    tree_.make("empty");
    for (const char* name : {"a.txt", "large.bin", "index.html"}) {
      support::set_modified(tree_ / name, modified);
    }
    serve({});
  }
  void serve(FileOptions options) {
    const PathPolicy policy{.dotfiles = options.dotfiles,
                            .follow_symlinks = options.follow_symlinks};
    auto times = std::make_unique<ManualTimes>();
    times_ = times.get();
    site_ = std::make_unique<FileSite>(Root::open(tree_.string(), policy).value(),
                                       std::move(options), std::move(times));
  }
  Response get(std::string_view target, const Fields& fields = {},
               std::string_view method = "GET") {
    FakeRequest fake(std::string(method) + " " + std::string(target));
    for (const auto& [name, value] : fields) fake.header(name, value);
    const Request& request = fake.request();
    return site_->answer(request, request.path());
  }
  Status status(std::string_view target, const Fields& fields = {}) {
    return get(target, fields).status();
  }

  std::string large_;
  TemporaryDirectory tree_;
  ManualTimes* times_ = nullptr;
  std::unique_ptr<FileSite> site_;
};

TEST_F(FileSiteTest, ServesASmallFileWithEverythingThatDescribesIt) {
  const Response response = get("/a.txt");
  EXPECT_EQ(response.status(), Status::Ok);
  EXPECT_EQ(response.body(), "0123456789");
  EXPECT_EQ(response.content_type(), "text/plain; charset=utf-8");
  EXPECT_EQ(field(response, "Last-Modified"), modified_text);
  EXPECT_TRUE(field(response, "ETag").starts_with("\"a-"));
  EXPECT_EQ(field(response, "Accept-Ranges"), "bytes");
  EXPECT_EQ(field(response, "Cache-Control"), "no-cache");
  EXPECT_EQ(field(response, "X-Content-Type-Options"), "nosniff");
}

TEST_F(FileSiteTest, ServesALargeFileAsARangeOfItsDescriptor) {
  const Response response = get("/large.bin");
  ASSERT_NE(response.content().file(), nullptr);
  EXPECT_EQ(response.content().file()->size_bytes, large_.size());
  EXPECT_EQ(bytes_of(response), large_);
  EXPECT_EQ(response.content_type(), "application/octet-stream");
  EXPECT_EQ(field(response, "Last-Modified"), modified_text);
  EXPECT_EQ(field(response, "Accept-Ranges"), "bytes");
}

TEST_F(FileSiteTest, ALargeFileIsClosedWithItsLastResponse) {
  tree_.write("huge.bin", std::string(2_MiB, 'x'));  // too large to stay open
  int file = -1;
  {
    Response copy = get("/huge.bin");
    const Response kept = copy;
    copy = Response(Status::Ok);
    file = kept.content().file()->file;
    EXPECT_EQ(bytes_of(kept).size(), 2_MiB);
  }
  char byte = 0;
  EXPECT_FALSE(base::read_at(file, 0, {&byte, 1}));
}

TEST_F(FileSiteTest, AnswersOnlyGetAndHead) {
  EXPECT_EQ(get("/a.txt", {}, "HEAD").status(), Status::Ok);
  for (const char* method : {"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"}) {
    const Response response = get("/a.txt", {}, method);
    EXPECT_EQ(response.status(), Status::MethodNotAllowed) << method;
    EXPECT_EQ(field(response, "Allow"), "GET, HEAD");
  }
}

TEST_F(FileSiteTest, FindsTheIndexOfAFolder) {
  EXPECT_EQ(get("/").body(), "<h1>home</h1>");
  EXPECT_EQ(get("/").content_type(), "text/html; charset=utf-8");
  EXPECT_EQ(get("/dir/").body(), "dir");
  EXPECT_EQ(status("/plain/"), Status::NotFound);
  EXPECT_EQ(status("/empty/"), Status::NotFound);
  serve({.index = ""});
  EXPECT_EQ(status("/"), Status::NotFound);
}

TEST_F(FileSiteTest, RedirectsAFolderToItsSlash) {
  const Response response = get("/dir");
  EXPECT_EQ(response.status(), Status::MovedPermanently);
  EXPECT_EQ(field(response, "Location"), "/dir/");
  EXPECT_EQ(field(get("/dir?sort=size&x=%20"), "Location"), "/dir/?sort=size&x=%20");
}

TEST_F(FileSiteTest, ARedirectNeverLeadsToAnotherHost) {
  for (const char* name : {"evil.com", "a b", "\xC3\xBC", "q\"<>", "x%2f", "at@host"})
    tree_.make(name);
  EXPECT_EQ(field(get("/a%20b"), "Location"), "/a%20b/");
  EXPECT_EQ(field(get("/%C3%BC"), "Location"), "/%C3%BC/");
  EXPECT_EQ(field(get("/q%22%3C%3E"), "Location"), "/q%22%3C%3E/");
  EXPECT_EQ(field(get("/x%252f"), "Location"), "/x%252f/");
  EXPECT_EQ(field(get("/at@host"), "Location"), "/at%40host/");
  for (const char* target :
       {"//evil.com", "///evil.com", "//evil.com/..", "/.//evil.com", "/dir/..//evil.com"}) {
    const Response response = get(target);
    EXPECT_FALSE(field(response, "Location").starts_with("//")) << target;
  }
}

TEST_F(FileSiteTest, RefusesWhatIsHiddenOrOutside) {
  for (const char* target : {"/.env", "/none", "/a.txt/", "/a.txt/b", "/dir/none", "/con",
                             "/a.txt.", "/a.txt%20", "/a.txt::$DATA", "/%2eenv"}) {
    EXPECT_EQ(status(target), Status::NotFound) << target;
  }
  serve({.dotfiles = true});
  EXPECT_EQ(get("/.env").body(), "secret");
}

TEST_F(FileSiteTest, AnswersConditions) {
  for (const char* target : {"/a.txt", "/large.bin"}) {
    const std::string etag = field(get(target), "ETag");
    const Response unchanged = get(target, {{"If-None-Match", "\"x\", " + etag}});
    EXPECT_EQ(unchanged.status(), Status::NotModified);
    EXPECT_EQ(field(unchanged, "ETag"), etag);
    EXPECT_EQ(field(unchanged, "Cache-Control"), "no-cache");
    EXPECT_EQ(unchanged.content().size_bytes(), 0u);
    EXPECT_EQ(status(target, {{"If-Modified-Since", modified_text}}), Status::NotModified);
    EXPECT_EQ(status(target, {{"If-None-Match", "\"x\""}, {"If-Modified-Since", modified_text}}),
              Status::Ok);
    EXPECT_EQ(status(target, {{"If-Match", "\"x\""}}), Status::PreconditionFailed);
    EXPECT_EQ(status(target, {{"If-Match", etag}}), Status::Ok);
    EXPECT_EQ(status(target, {{"If-Unmodified-Since", "Sun, 06 Nov 1994 08:49:36 GMT"}}),
              Status::PreconditionFailed);
    EXPECT_EQ(status(target, {{"If-None-Match", etag}, {"Range", "bytes=0-1"}}),
              Status::NotModified);
  }
}

TEST_F(FileSiteTest, AnswersOneRange) {
  for (const auto& [target, text] :
       {std::pair<std::string, std::string>{"/a.txt", "0123456789"}, {"/large.bin", large_}}) {
    const std::string size = std::to_string(text.size());
    const Response first = get(target, {{"Range", "bytes=2-5"}});
    EXPECT_EQ(first.status(), Status::PartialContent);
    EXPECT_EQ(bytes_of(first), text.substr(2, 4));
    EXPECT_EQ(field(first, "Content-Range"), "bytes 2-5/" + size);
    EXPECT_NE(field(first, "ETag"), "<none>");
    EXPECT_EQ(first.content_type(), get(target).content_type());
    EXPECT_EQ(bytes_of(get(target, {{"Range", "bytes=-3"}})), text.substr(text.size() - 3));
    EXPECT_EQ(bytes_of(get(target, {{"Range", "bytes=0-"}})), text);

    const Response none = get(target, {{"Range", "bytes=100000-"}});
    EXPECT_EQ(none.status(), Status::RangeNotSatisfiable);
    EXPECT_EQ(field(none, "Content-Range"), "bytes */" + size);

    EXPECT_EQ(status(target, {{"Range", "bytes=5-2"}}), Status::Ok);
    EXPECT_EQ(status(target, {{"Range", "bytes=0-1"}, {"Range", "bytes=0-1"}}), Status::Ok);
    EXPECT_EQ(get(target, {{"Range", "bytes=0-1"}}, "HEAD").status(), Status::Ok);
  }
}

TEST_F(FileSiteTest, ARangeNeedsTheStateThatIfRangeNames) {
  const std::string etag = field(get("/a.txt"), "ETag");
  EXPECT_EQ(status("/a.txt", {{"Range", "bytes=0-1"}, {"If-Range", etag}}), Status::PartialContent);
  EXPECT_EQ(status("/a.txt", {{"Range", "bytes=0-1"}, {"If-Range", modified_text}}),
            Status::PartialContent);
  EXPECT_EQ(status("/a.txt", {{"Range", "bytes=0-1"}, {"If-Range", "\"x\""}}), Status::Ok);
  EXPECT_EQ(status("/a.txt", {{"Range", "bytes=0-1"}, {"If-Range", "W/" + etag}}), Status::Ok);
}

TEST_F(FileSiteTest, AnswersSeveralRangesInParts) {
  const Fields range = {{"Range", "bytes=1000-1002,0-1,-2"}};
  const Response response = get("/large.bin", range);
  ASSERT_EQ(response.status(), Status::PartialContent);
  const std::string type(response.content_type());
  ASSERT_TRUE(type.starts_with("multipart/byteranges; boundary="));
  const std::string boundary = type.substr(type.find('=') + 1);
  const auto part = [&](const std::string& text, const std::string& where) {
    return "--" + boundary + "\r\nContent-Type: application/octet-stream\r\nContent-Range: bytes " +
           where + "/100000\r\n\r\n" + text + "\r\n";
  };
  EXPECT_EQ(response.body(),
            part(large_.substr(1000, 3), "1000-1002") + part(large_.substr(0, 2), "0-1") +
                part(large_.substr(99'998), "99998-99999") + "--" + boundary + "--\r\n");
  EXPECT_EQ(field(response, "Content-Range"), "<none>");
  EXPECT_NE(get("/large.bin", range).content_type(), type);
}

TEST_F(FileSiteTest, ManyRangesThatTouchAreOneAndTooManyAreTheWhole) {
  std::string field_value = "bytes=";
  for (int i = 0; i < 200; ++i)
    field_value += std::to_string(i * 10) + "-" + std::to_string(i * 10 + 9) + ",";
  EXPECT_EQ(field(get("/large.bin", {{"Range", field_value}}), "Content-Range"),
            "bytes 0-1999/100000");
  field_value = "bytes=";
  for (int i = 0; i < 200; ++i)
    field_value += std::to_string(i * 400) + "-" + std::to_string(i * 400) + ",";
  EXPECT_EQ(status("/large.bin", {{"Range", field_value}}), Status::Ok);
}

TEST_F(FileSiteTest, SaysHowLongAnAnswerLasts) {
  serve({.max_age = std::chrono::hours(1)});
  EXPECT_EQ(field(get("/a.txt"), "Cache-Control"), "max-age=3600");
  serve({.max_age = std::chrono::seconds(-1)});
  EXPECT_EQ(field(get("/a.txt"), "Cache-Control"), "<none>");
}

TEST_F(FileSiteTest, NeverSaysThatAFileWasModifiedInTheFuture) {
  support::set_modified(tree_ / "a.txt", times_->wall().time_since_epoch() + std::chrono::hours(1));
  const auto seconds = std::chrono::floor<std::chrono::seconds>(times_->wall());
  EXPECT_EQ(parse_http_date(field(get("/a.txt"), "Last-Modified"), seconds), seconds);
}

TEST_F(FileSiteTest, ListsAFolderWhereThatIsWanted) {
  serve({.listing = true});
  const Response page = get("/plain/?sort=-size");
  EXPECT_EQ(page.status(), Status::Ok);
  EXPECT_EQ(page.content_type(), "text/html; charset=utf-8");
  EXPECT_NE(page.body().find("href=\"./c.txt\""), std::string_view::npos);
  EXPECT_NE(page.body().find("value=\"size\">Size \u2193"), std::string_view::npos);
  EXPECT_NE(field(page, "Content-Security-Policy").find("form-action 'self'"), std::string::npos);
  EXPECT_EQ(field(page, "X-Content-Type-Options"), "nosniff");
  EXPECT_EQ(field(page, "Vary"), "Accept");
  EXPECT_NE(field(page, "Content-Security-Policy").find("default-src 'none'"), std::string::npos);
  const Response json = get("/plain/", {{"Accept", "application/json"}});
  EXPECT_EQ(json.content_type(), "application/json");
  EXPECT_NE(json.body().find("\"name\":\"c.txt\""), std::string_view::npos);
  EXPECT_EQ(get("/plain/?q=none").body().find("href=\"./c.txt\""), std::string_view::npos);
  EXPECT_NE(get("/plain/?q=C.T").body().find("href=\"./c.txt\""), std::string_view::npos);
  EXPECT_EQ(get("/dir/").body(), "dir");
  EXPECT_EQ(status("/none/"), Status::NotFound);
  EXPECT_EQ(status("/a.txt/"), Status::NotFound);
  EXPECT_EQ(status("/.git/"), Status::NotFound);
}

TEST_F(FileSiteTest, ListsALargeFolderOnAnotherThread) {
  for (int i = 10'000; i < 12'500; ++i) tree_.write("many/" + std::to_string(i), "");
  serve({.listing = true});
  const auto list = [this](const std::string& target, const Fields& fields) {
    const Response response = get(target, fields);
    EXPECT_EQ(response.status(), Status::Ok);
    EXPECT_EQ(response.content_type(),
              fields.empty() ? "text/html; charset=utf-8" : "application/json");
    if (response.content().stream() == nullptr) return std::string("the loop made it");
    return support::produced(response.content());
  };
  const std::string first = list("/many/", {});
  EXPECT_NE(first.find("<td><a href=\"./10000\">10000</a>"), std::string::npos);
  EXPECT_NE(first.find("./10999\""), std::string::npos);
  EXPECT_EQ(first.find("./11000\""), std::string::npos);
  EXPECT_NE(first.find("1\u20131000 of 2500"), std::string::npos);
  const std::string last = list("/many/?page=3&sort=-name", {{"Accept", "application/json"}});
  EXPECT_NE(last.find("\"total\":2500,\"page\":3,\"pages\":3"), std::string::npos);
  EXPECT_NE(last.find("\"name\":\"10000\""), std::string::npos);
  EXPECT_EQ(last.find("\"name\":\"12499\""), std::string::npos);
}

TEST_F(FileSiteTest, SeesAChangeAfterASecond) {
  const std::string before = field(get("/a.txt"), "ETag");
  tree_.write("a.txt", "changed");
  times_->advance(1s);
  EXPECT_EQ(get("/a.txt").body(), "changed");
  EXPECT_NE(field(get("/a.txt"), "ETag"), before);
  std::filesystem::remove(tree_ / "a.txt");
  times_->advance(1s);
  EXPECT_EQ(status("/a.txt"), Status::NotFound);
}

TEST(Files, ARouterServesAFolderBelowAPrefix) {
  const TemporaryDirectory tree;
  tree.write("a.txt", "hello");
  tree.write("dir/index.html", "index");
  tree.write("index.html", "home");
  Router router;
  router.files("/assets", tree.string(), {.max_age = std::chrono::hours(1)});
  EXPECT_EQ(testing::call(router, "GET /assets/a.txt").body(), "hello");
  EXPECT_EQ(testing::call(router, "GET /assets/dir/").body(), "index");
  EXPECT_EQ(testing::call(router, "GET /assets/").body(), "home");
  EXPECT_EQ(field(testing::call(router, "GET /assets/dir"), "Location"), "/assets/dir/");
  EXPECT_EQ(field(testing::call(router, "GET /assets"), "Location"), "/assets/");
  EXPECT_EQ(testing::call(router, "GET /a.txt").status(), Status::NotFound);
  EXPECT_EQ(testing::call(router, "GET /assets/../a.txt").status(), Status::NotFound);
  EXPECT_EQ(testing::call(router, "POST /assets/a.txt").status(), Status::MethodNotAllowed);
  EXPECT_THROW(router.files("/other", (tree / "none").string()), Exception);
}

TEST(Files, AHandlerServesAFolderAtTheRootBesideOtherRoutes) {
  const TemporaryDirectory tree;
  tree.write("a.txt", "hello");
  tree.write("index.html", "home");
  tree.make("dir");
  Router router;
  router.get("/api", [] { return "api"; });
  router.get("/{path...}", FileHandler::open(tree.string()).value());
  EXPECT_EQ(testing::call(router, "GET /").body(), "home");
  EXPECT_EQ(testing::call(router, "GET /a.txt").body(), "hello");
  EXPECT_EQ(testing::call(router, "GET /api").body(), "api");
  EXPECT_EQ(field(testing::call(router, "GET /dir"), "Location"), "/dir/");
}

TEST(Files, AHandlerWithoutAWildcardServesTheWholePath) {
  const TemporaryDirectory tree;
  tree.write("robots.txt", "none");
  Router router;
  router.get("/robots.txt", FileHandler::open(tree.string()).value());
  EXPECT_EQ(testing::call(router, "GET /robots.txt").body(), "none");
}

TEST(Files, AKeptFileHasTheTypeThatTheProgramChooses) {
  const TemporaryDirectory tree;
  tree.write("feed.xml", "<feed/>");
  Router router;
  router.file("/feed", (tree / "feed.xml").string(), {.type = "application/atom+xml"});
  router.file("/plain", (tree / "feed.xml").string());
  EXPECT_EQ(field(testing::call(router, "GET /feed"), "Content-Type"), "application/atom+xml");
  EXPECT_EQ(field(testing::call(router, "GET /feed"), "Content-Type"), "application/atom+xml")
      << "from memory";
  EXPECT_NE(field(testing::call(router, "GET /plain"), "Content-Type"), "application/atom+xml");
  EXPECT_THROW(router.file("/bad", (tree / "feed.xml").string(), {.type = "a\nb"}),
               std::invalid_argument);
}

TEST(Files, SaysWhyAFolderCannotBeServed) {
  const auto missing = FileHandler::open("/nowhere/at/all");
  EXPECT_EQ(missing.error().code(), Errc::NotFound);
  const std::string text = "could not open the folder /nowhere/at/all: it was not found";
  EXPECT_EQ(missing.error().text.substr(0, text.size()), text);
}

TEST(FileHandler, AnswersWithAnotherFileThanTheRequested) {
  const TemporaryDirectory tree;
  tree.write("app/index.html", "app");
  tree.write(".env", "secret");
  tree.make("empty");
  const FileHandler handler = FileHandler::open(tree.string(), {.listing = true}).value();
  const auto answer = [&handler](std::string_view path, const char* line = "GET /the/request") {
    FakeRequest fake(line);
    return handler.answer_at(fake.request(), path);
  };
  EXPECT_EQ(answer("/app/index.html").body(), "app");
  EXPECT_EQ(answer("/app/").body(), "app");
  // A redirect or a listing would be about a folder that the client did not ask for.
  EXPECT_EQ(answer("/app").body(), "app");
  for (const char* path :
       {"/empty", "/empty/", "/none", "/none/", "/.env", "/../x", "//x", "x", ""}) {
    EXPECT_EQ(answer(path).status(), Status::NotFound) << path;
  }
  EXPECT_EQ(answer("/app", "POST /the/request").status(), Status::MethodNotAllowed);
}

}  // namespace
}  // namespace skua::files
