// SPDX-License-Identifier: MIT
// A folder below a served one that others may not reach, and every operation that touches more than
// the path of its request, over HTTP/1 and by the router alone: none reads, writes or removes what
// a request for the path itself would not.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "skua.hpp"
#include "support/collecting_sink.hpp"
#include "support/temporary_directory.hpp"
#include "support/test_server.hpp"
#include "xml/xml.hpp"

namespace skua {
namespace {

using testing::Answer;
using testing::Client;
using testing::FakeRequest;
using testing::TestServer;

using FieldList = std::vector<std::pair<std::string, std::string>>;

constexpr std::string_view secret = "SECRET";

/// A request, and whether it does harm if nothing protects the folder.
struct Operation {
  std::string line;
  FieldList fields{};
  std::string content{};
  bool harms = true;
};

struct Outcome {
  int status = 0;
  std::string body{};
};

/// A way to keep others out of a folder.
struct Protection {
  std::string name;
  std::function<void(Router&, const std::string& folder)> add;
};

Router refusing() {
  Router inner;
  inner.use([](Request&) { return std::optional<Response>(Response(Status::Unauthorized)); });
  return inner;
}

const std::vector<Protection>& protections() {
  static const std::vector<Protection> all = {
      {"a guard of a mount without routes",
       [](Router& router, const std::string& folder) {
         router.mount(RuntimePattern(folder), refusing());
       }},
      {"a guard of a mount with routes",
       [](Router& router, const std::string& folder) {
         Router inner = refusing();
         inner.get("/{path...}", [] { return "never"; });
         router.mount(RuntimePattern(folder), std::move(inner));
       }},
      {"a coroutine around a mount",
       [](Router& router, const std::string& folder) {
         Router inner;
         inner.use([](Request&, Next) -> Task<Response> {
           return detail::finished_task(Status::Unauthorized);
         });
         router.mount(RuntimePattern(folder), std::move(inner));
       }},
      {"a mount on a mount",
       [](Router& router, const std::string& folder) {
         Router middle;
         const std::size_t slash = folder.rfind('/');
         if (slash == 0) return void(router.mount(RuntimePattern(folder), refusing()));
         middle.mount(RuntimePattern(folder.substr(slash)), refusing());
         router.mount(RuntimePattern(folder.substr(0, slash)), std::move(middle));
       }},
      {"a route that goes before",
       [](Router& router, const std::string& folder) {
         router.any(RuntimePattern(folder + "/{path...}"), [] { return Status::Unauthorized; });
       }},
  };
  return all;
}

// Returns a path in the forms in which clients may write it in a field.
std::vector<std::string> spellings(const std::string& path) {
  const std::size_t name = path.rfind("private");
  const std::string before = path.substr(0, name);
  const std::string after = path.substr(name + 7);
  return {path,
          before + "%70rivate" + after,
          before + "priv%61te" + after,
          before + "./private" + after,
          before + "x/../private" + after,
          before + "private/." + after,
          before + "private/../private" + after,
          before + "/private" + after,
          before + "private/" + after,
          "http://test" + path,
          "http://TEST:80" + before + "%70rivate" + after,
          "//test" + path};
}

class GuardedTrees : public ::testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] static const std::string& base() { return GetParam(); }

  void fill() {
    tree_.make("site");
    for (const auto& entry : std::filesystem::directory_iterator(tree_ / "site")) {
      std::filesystem::remove_all(entry.path());
    }
    tree_.write("site/open.txt", "open");
    tree_.write("site/new/private/n.txt", "new");
    tree_.write("site/" + inside_ + "key.txt", std::string(secret));
    tree_.write("site/" + inside_ + "README.md", std::string(secret));
  }
  void serve(const Protection* protection) {
    fill();
    server_.reset();
    router_ = Router();
    const std::string site = (tree_ / "site").string();
    const FileOptions files{
        .listing = true,
        .archives = 8,
        .render_readme = [](std::string_view, std::string_view text) { return std::string(text); }};
    if (base().empty()) {
      const WebDavHandler dav = WebDavHandler::open(site, {.files = files}).value();
      const UploadHandler uploads = UploadHandler::open(site, {.overwrite = true}).value();
      router_.any("/{path...}", dav).post("/{path...}", uploads);
    } else {
      router_.webdav(RuntimePattern(base()), site, {.files = files});
      router_.uploads(RuntimePattern("/up"), site, {.overwrite = true});
    }
    if (protection == nullptr) return;
    protection->add(router_, base() + "/" + inside_.substr(0, inside_.size() - 1));
    if (!base().empty()) protection->add(router_, "/up/" + inside_.substr(0, inside_.size() - 1));
  }

  Outcome over_http(const Operation& operation) {
    if (!server_) server_.emplace(router_, BackendChoice::Auto);
    Client client = server_->connect();
    std::string text = operation.line + " HTTP/1.1\r\nHost: test\r\nContent-Length: " +
                       std::to_string(operation.content.size()) + "\r\n";
    for (const auto& [name, value] : operation.fields) text += name + ": " + value + "\r\n";
    client.send(text + "\r\n" + operation.content);
    const Answer answer = client.answer().value_or(Answer{});
    return {answer.status, answer.body};
  }
  [[nodiscard]] Outcome by_router(const Operation& operation) const {
    FakeRequest fake(operation.line, operation.content);
    fake.header("Host", "test");
    for (const auto& [name, value] : operation.fields) fake.header(name, value);
    Response response = router_.handle(fake.request());
    std::string body(response.body());
    if (response.content().stream() != nullptr) body = support::produced(response.content());
    return {static_cast<int>(code(response.status())), std::move(body)};
  }

  // Reports whether the answer, or the disk, is as it must not be.
  [[nodiscard]] std::string harm(const Outcome& outcome) const {
    if (outcome.body.find(secret) != outcome.body.npos) return "the answer has the secret";
    if (outcome.body.find("key.txt") != outcome.body.npos) return "the answer has a name";
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(tree_ / "site")) {
      if (!entry.is_regular_file()) continue;
      std::ifstream file(entry.path(), std::ios::binary);
      const std::string content{std::istreambuf_iterator<char>(file), {}};
      const bool is_inside = entry.path().string().find("/site/" + inside_) != std::string::npos;
      count += is_inside ? 1 : 0;
      if (is_inside != (content == secret)) return "a file has moved: " + entry.path().string();
    }
    return count == 2 ? "" : "a file is gone";
  }

  [[nodiscard]] std::vector<Operation> reads() const {
    const std::string top = base() + "/";
    std::vector<Operation> all;
    for (const std::string format : {"zip", "tar", "tar.gz"}) {
      all.push_back({"GET " + top + "?archive=" + format, {}, {}, format == "tar"});
      if (inside_.find('/') + 1 == inside_.size()) continue;
      const std::string between = inside_.substr(0, inside_.find('/') + 1);
      all.push_back({"GET " + top + between + "?archive=" + format, {}, {}, format == "tar"});
    }
    return all;
  }

  [[nodiscard]] std::vector<Operation> transfers() const {
    const std::string top = base() + "/";
    const std::string folder = inside_.substr(0, inside_.size() - 1);
    const std::string around = inside_.substr(0, inside_.find('/'));
    const bool is_nested = around != folder;
    std::vector<Operation> all = {{"DELETE " + top + around, {}, {}, true}};
    for (const std::string method : {"COPY ", "MOVE "}) {
      if (is_nested) {
        all.push_back({method + top + around, {{"Destination", top + "copy"}}});
        all.push_back({method + top + around + "/", {{"Destination", top + "copy/"}}});
        // `new/private` would become the folder.
        all.push_back({method + top + "new", {{"Destination", top + around}}});
      }
      for (const std::string& path : spellings(top + folder + "/new.txt")) {
        all.push_back({method + top + "open.txt", {{"Destination", path}}, {}, false});
      }
      all.back().harms = false;
      all.push_back({method + top + "open.txt", {{"Destination", top + folder + "/key.txt"}}});
      for (const std::string& path : spellings(top + folder)) {
        all.push_back({method + top + "new", {{"Destination", path}}, {}, false});
      }
    }
    return all;
  }

  [[nodiscard]] std::vector<Operation> questions() const {
    const std::string top = base() + "/";
    const std::string folder = inside_.substr(0, inside_.size() - 1);
    std::vector<Operation> all;
    for (const std::string& path : {top, top + inside_.substr(0, inside_.find('/') + 1)}) {
      if (path == top + inside_) continue;
      all.push_back({"GET " + path, {}, {}, false});
      all.push_back({"GET " + path + "?q=key", {}, {}, false});
      all.push_back({"GET " + path + "?view=gallery", {}, {}, false});
      all.push_back({"PROPFIND " + path, {{"Depth", "1"}}, {}, false});
      all.push_back({"PROPFIND " + path, {{"Depth", "infinity"}}, {}, false});
    }
    return all;
  }

  [[nodiscard]] static std::string form(const std::string& name) {
    return "--b\r\nContent-Disposition: form-data; name=f; filename=\"" + name +
           "\"\r\n\r\nnew\r\n--b--\r\n";
  }

  [[nodiscard]] std::vector<Operation> operations() const {
    std::vector<Operation> all = reads();
    std::ranges::move(transfers(), std::back_inserter(all));
    std::ranges::move(questions(), std::back_inserter(all));
    const std::string up = (base().empty() ? "" : "/up") + std::string("/");
    const FieldList type = {{"Content-Type", "multipart/form-data; boundary=b"}};
    for (const std::string name : {"private", "../private/key.txt", "private/key.txt", "x"}) {
      all.push_back({"POST " + up, type, form(name), false});
      if (up.size() > 1) {
        all.push_back({"POST " + up.substr(0, up.size() - 1), type, form(name), false});
      }
    }
    return all;
  }

  support::TemporaryDirectory tree_;
  std::string inside_ = "private/";
  Router router_;
  std::optional<TestServer> server_;
};

TEST_P(GuardedTrees, NoOperationGoesRoundAGuard) {
  if (!xml::is_available()) GTEST_SKIP() << "this build has no expat";
  for (const char* inside : {"private/", "a/private/"}) {
    inside_ = inside;
    for (const Protection& protection : protections()) {
      serve(&protection);
      for (const Operation& operation : operations()) {
        const std::string what = protection.name + ": " + operation.line +
                                 (operation.fields.empty() ? "" : " " + operation.fields[0].second);
        const Outcome alone = by_router(operation);
        EXPECT_EQ(harm(alone), "") << what << " " << alone.status;
        fill();
        if (&protection != &protections().front()) continue;  // the router decides alike
        const Outcome served = over_http(operation);
        EXPECT_EQ(harm(served), "") << what << " " << served.status;
        EXPECT_EQ(alone.status, served.status) << what;
        fill();
      }
    }
  }
}

// Otherwise the table above would prove nothing.
TEST_P(GuardedTrees, WithoutGuardTheSameOperationsReachIt) {
  if (!xml::is_available()) GTEST_SKIP() << "this build has no expat";
  for (const char* inside : {"private/", "a/private/"}) {
    inside_ = inside;
    serve(nullptr);
    for (const Operation& operation : operations()) {
      if (!operation.harms) continue;
      EXPECT_NE(harm(by_router(operation)), "") << operation.line;
      fill();
    }
  }
}

TEST_P(GuardedTrees, WhatIsNotProtectedIsStillThere) {
  if (!xml::is_available()) GTEST_SKIP() << "this build has no expat";
  for (const Protection& protection : protections()) {
    serve(&protection);
    const std::string top = base() + "/";
    EXPECT_NE(by_router({"GET " + top + "?archive=tar"}).body.find("files/open.txt"),
              std::string::npos);
    EXPECT_NE(by_router({"GET " + top}).body.find("open.txt"), std::string::npos);
    EXPECT_EQ(by_router({"COPY " + top + "new", {{"Destination", top + "copy"}}}).status, 201);
    EXPECT_EQ(by_router({"MOVE " + top + "copy", {{"Destination", top + "moved"}}}).status, 201);
    EXPECT_EQ(by_router({"DELETE " + top + "moved"}).status, 204);
    EXPECT_EQ(by_router({"COPY " + top + "new", {{"Destination", top + "private"}}}).status, 403);
  }
}

INSTANTIATE_TEST_SUITE_P(Bases, GuardedTrees, ::testing::Values("", "/dav"));

/// A folder that WebDAV serves beside other routes.
class GuardedTransfers : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!xml::is_available()) GTEST_SKIP() << "this build has no expat";
    tree_.write("keep.txt", "kept");
    tree_.write("open.txt", "open");
    tree_.write("folder/a.txt", "a");
  }
  [[nodiscard]] int transfer(const std::string& line, const std::string& destination) const {
    FakeRequest fake(line);
    fake.header("Host", "test").header("Destination", destination);
    return static_cast<int>(code(router_.handle(fake.request()).status()));
  }
  [[nodiscard]] bool has(const std::string& name) const {
    return std::filesystem::exists(tree_ / name);
  }

  support::TemporaryDirectory tree_;
  Router router_;
};

Status refuse() { return Status::Unauthorized; }

TEST_F(GuardedTransfers, AMoveRemovesOnlyWhatADeleteWould) {
  router_.webdav("/dav", tree_.string());
  router_.del("/dav/keep.txt", refuse);
  router_.del("/dav/folder", refuse);
  EXPECT_EQ(transfer("MOVE /dav/keep.txt", "/dav/moved.txt"), 403);
  EXPECT_EQ(transfer("MOVE /dav/folder", "/dav/moved"), 403);
  EXPECT_EQ(transfer("MOVE /dav/folder/", "/dav/moved/"), 403);
  EXPECT_TRUE(has("keep.txt") && has("folder/a.txt") && !has("moved.txt") && !has("moved"));
  EXPECT_EQ(transfer("COPY /dav/keep.txt", "/dav/copy.txt"), 201);
  EXPECT_EQ(transfer("MOVE /dav/open.txt", "/dav/moved.txt"), 201);
}

TEST_F(GuardedTransfers, AMethodThatAnotherRouteTakesFromAnyIsNotCarriedOut) {
  const WebDavHandler dav = WebDavHandler::open(tree_.string()).value();
  for (const Method method : {Method::Delete, Method::Put}) {
    router_ = Router();
    router_.any("/{path...}", dav).route(method, "/{rest...}", refuse);
    EXPECT_EQ(transfer("MOVE /open.txt", "/moved.txt"), 403);
    EXPECT_EQ(transfer("MOVE /folder", "/moved"), 403);
    EXPECT_EQ(transfer("COPY /open.txt", "/keep.txt"), 403);
    EXPECT_TRUE(has("open.txt") && has("folder/a.txt") && !has("moved.txt") && !has("moved"));
  }
}

// The routes share the folder, and none keeps another from it.
TEST_F(GuardedTransfers, RoutesForReadingAndFormsTakeNothingFromAny) {
  const WebDavHandler dav = WebDavHandler::open(tree_.string()).value();
  router_.any("/{path...}", dav).get("/{path...}", refuse).post("/{path...}", refuse);
  EXPECT_EQ(transfer("COPY /open.txt", "/copy.txt"), 201);
  EXPECT_EQ(transfer("MOVE /copy.txt", "/moved.txt"), 201);
  EXPECT_EQ(transfer("MOVE /folder", "/moved"), 201);
}

// Parts of uploads have URLs that no guard of the file's folder sees.
TEST(GuardedUploads, CannotBeResumedBehindAnotherGuard) {
  support::TemporaryDirectory tree;
  tree.make("private");
  bool is_open = true;
  Router router;
  router.uploads("/in", tree.string(), {.resumable = true});
  Router inner;
  inner.use([&is_open](Request&) {
    return is_open ? std::nullopt : std::optional<Response>(Response(Status::Unauthorized));
  });
  router.mount("/in/private", std::move(inner));
  const auto ask = [&router](std::string_view line, const FieldList& fields,
                             std::string_view content = {}) {
    FakeRequest fake(line, content);
    for (const auto& [name, value] : fields) fake.header(name, value);
    return router.handle(fake.request());
  };
  const FieldList begin = {{"Upload-Complete", "?0"}};
  EXPECT_EQ(ask("PUT /in/private/a", begin).status(), Status::Forbidden);
  EXPECT_EQ(ask("PUT /in/private/a", {}).status(), Status::Created);
  const Response begun = ask("PUT /in/a", begin);
  EXPECT_EQ(begun.status(), Status::Created);
  const std::string url(begun.header("Location").value_or(""));
  const std::string token = url.substr(url.find("uploads/") + 8, 32);
  tree.make("other");
  std::filesystem::rename(tree / (".skua-upload-" + token),
                          tree / ("private/.skua-upload-" + token));
  std::filesystem::rename(tree / (".skua-upload-" + token + ".state"),
                          tree / ("private/.skua-upload-" + token + ".state"));
  const FieldList more = {{"Upload-Complete", "?1"},
                          {"Upload-Offset", "0"},
                          {"Content-Type", "application/partial-upload"}};
  is_open = false;
  for (const std::string folder : {"/private/", "/%70rivate/", "/other/../private/"}) {
    const std::string part = "/in/.skua-uploads/" + token + folder;
    EXPECT_EQ(ask("PATCH " + part, more, "x").status(), Status::NotFound) << folder;
    EXPECT_EQ(ask("HEAD " + part, {}).status(), Status::NotFound) << folder;
    EXPECT_EQ(ask("DELETE " + part, {}).status(), Status::NotFound) << folder;
  }
  EXPECT_TRUE(std::filesystem::exists(tree / ("private/.skua-upload-" + token)));
}

}  // namespace
}  // namespace skua
