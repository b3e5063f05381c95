// SPDX-License-Identifier: MIT
// WebDAV on a folder, as a client sees it over a real socket, on every back end.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "files/dav/webdav_site.hpp"
#include "skua.hpp"
#include "support/temporary_directory.hpp"
#include "support/test_server.hpp"
#include "xml/xml.hpp"

namespace skua {
namespace {

using testing::Answer;
using testing::Client;
using testing::TestServer;

std::string request(std::string_view line, std::string_view fields = {},
                    std::string_view content = {}) {
  std::string out(line);
  out.append(" HTTP/1.1\r\nHost: test\r\nContent-Length: ").append(std::to_string(content.size()));
  return out.append("\r\n").append(fields).append("\r\n").append(content);
}

std::string to(std::string_view destination) {
  return "Destination: " + std::string(destination) + "\r\n";
}

class WebDav : public ::testing::TestWithParam<BackendChoice> {
 protected:
  void SetUp() override {
    if (!xml::is_available()) GTEST_SKIP() << "this build has no expat";
    tree_.write("site/a.txt", "a");
    tree_.write("site/sub/b.txt", "b");
    tree_.write("outside/secret.txt", "secret");
    serve({.max_tree_entries = 50, .max_tree_depth = 4, .max_copy_bytes = 10'000});
  }
  void serve(const WebDavOptions& options) {
    server_.reset();
    router_ = Router();
    router_.webdav("/dav", (tree_ / "site").string(), options);
  }
  Answer ask(std::string_view line, std::string_view fields = {}, std::string_view content = {}) {
    if (!server_) server_.emplace(router_, GetParam());
    Client client = server_->connect();
    client.send(request(line, fields, content));
    return client.answer(line.starts_with("HEAD ")).value_or(Answer{});
  }
  Answer patch(std::string_view path, std::string_view changes, std::string_view fields = {}) {
    return ask("PROPPATCH " + std::string(path), fields,
               "<D:propertyupdate xmlns:D='DAV:' xmlns:x='urn:x'>" + std::string(changes) +
                   "</D:propertyupdate>");
  }
  // Sets `x:n` to a value, and returns it as PROPFIND has it.
  Answer set(std::string_view path, std::string_view value) {
    return patch(path, "<D:set><D:prop><x:n>" + std::string(value) + "</x:n></D:prop></D:set>");
  }
  std::string property(std::string_view path) {
    const Answer found = ask("PROPFIND " + std::string(path), "Depth: 0\r\n",
                             "<propfind xmlns='DAV:'><prop><n xmlns='urn:x'/></prop></propfind>");
    const std::size_t begin = found.body.find("<n xmlns=\"urn:x\">");
    if (begin == found.body.npos) return {};
    return found.body.substr(begin + 17, found.body.find("</n>") - begin - 17);
  }
  std::vector<std::string> hrefs(const Answer& answer) {
    std::vector<std::string> found;
    const auto root = xml::parse(answer.body, {.nodes = 1'000'000});
    EXPECT_TRUE(root) << answer.body.substr(0, 2000);
    if (!root) return found;
    for (const xml::Node& response : root->children) {
      if (!response.is_text()) found.push_back(response.children.at(0).children.at(0).text);
    }
    std::ranges::sort(found);
    return found;
  }
  bool exists(std::string_view name) const { return std::filesystem::exists(tree_ / name); }
  std::string content(std::string_view name) const {
    std::ifstream file(tree_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  bool has_attributes() {
    return set("/dav/a.txt", "probe").body.find("HTTP/1.1 200 OK") != std::string::npos;
  }

  support::TemporaryDirectory tree_;
  Router router_;
  std::optional<TestServer> server_;
};

// Whatever clients have made, they can remove as a whole.
TEST_P(WebDav, MakesNoTreeThatIsDeeperThanItCanRemove) {
  EXPECT_EQ(ask("MKCOL /dav/1").status, 201);
  EXPECT_EQ(ask("MKCOL /dav/1/2").status, 201);
  EXPECT_EQ(ask("MKCOL /dav/1/2/3").status, 201);
  EXPECT_EQ(ask("MKCOL /dav/1/2/3/4").status, 201);
  EXPECT_EQ(ask("MKCOL /dav/1/2/3/4/5").status, 507);
  EXPECT_EQ(ask("MKCOL /dav/x").status, 201);
  EXPECT_EQ(ask("MKCOL /dav/x/y").status, 201);
  for (const std::string method : {"COPY", "MOVE"}) {
    EXPECT_EQ(ask(method + " /dav/x", to("/dav/1/2/3/x")).status, 507);
    EXPECT_EQ(ask(method + " /dav/x/y", to("/dav/1/2/3/4/y")).status, 507);
    EXPECT_EQ(ask(method + " /dav/1/2", to("/dav/x/y/2")).status, 507);
    EXPECT_EQ(ask(method + " /dav/1", to("/dav/x/1")).status, 507);
    EXPECT_EQ(ask(method + " /dav/a.txt", to("/dav/1/2/3/4/" + method)).status, 201);
    tree_.write("site/a.txt", "a");
  }
  EXPECT_EQ(ask("COPY /dav/x", to("/dav/1/2/3/x"), "").status, 507);
  EXPECT_EQ(ask("COPY /dav/x", "Depth: 0\r\n" + to("/dav/1/2/3/x")).status, 201);
  EXPECT_EQ(ask("MOVE /dav/x", to("/dav/1/2/x")).status, 201);
  EXPECT_EQ(ask("MOVE /dav/1/2", to("/dav/2")).status, 201);
  EXPECT_EQ(ask("DELETE /dav/1").status, 204);
  EXPECT_EQ(ask("DELETE /dav/2").status, 204);
}

TEST_P(WebDav, SaysWhatItCan) {
  const Answer answer = ask("OPTIONS /dav/a.txt");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.field("DAV"), "1");
  EXPECT_EQ(answer.field("Allow"),
            "OPTIONS, GET, HEAD, PUT, DELETE, MKCOL, COPY, MOVE, PROPFIND, PROPPATCH");
  EXPECT_EQ(ask("OPTIONS /dav").field("DAV"), "1");
  EXPECT_EQ(ask("LOCK /dav/a.txt").status, 405);
  EXPECT_EQ(ask("GET /dav").status, 301);
  EXPECT_NE(ask("GET /dav/").body.find("a.txt"), std::string::npos);
}

TEST_P(WebDav, PropfindListsAFolder) {
  tree_.write("site/.hidden", "h");
  tree_.write("site/.skua-upload-0011", "unfinished");
  tree_.link("../outside", "site/out");
  tree_.link("a.txt", "site/in.txt");
  ASSERT_EQ(::mkfifo((tree_ / "site/pipe").c_str(), 0600), 0);
  const Answer answer = ask("PROPFIND /dav/", "Depth: 1\r\n");
  EXPECT_EQ(answer.status, 207);
  EXPECT_EQ(answer.field("Content-Type"), "application/xml; charset=utf-8");
  const std::vector<std::string> expected = {"/dav/", "/dav/a.txt", "/dav/in.txt", "/dav/sub/"};
  EXPECT_EQ(hrefs(answer), expected);
  EXPECT_EQ(hrefs(ask("PROPFIND /dav", "Depth: 1\r\n")), expected);
  EXPECT_EQ(hrefs(ask("PROPFIND /dav/", "Depth: 0\r\n")), (std::vector<std::string>{"/dav/"}));
  EXPECT_EQ(hrefs(ask("PROPFIND /dav/sub", "Depth: 1\r\n")),
            (std::vector<std::string>{"/dav/sub/", "/dav/sub/b.txt"}));
  for (const char* const hidden : {"/dav/.hidden", "/dav/out", "/dav/out/secret.txt", "/dav/pipe",
                                   "/dav/.skua-upload-0011", "/dav/none", "/dav/a.txt/"}) {
    EXPECT_EQ(ask("PROPFIND " + std::string(hidden), "Depth: 0\r\n").status, 404) << hidden;
  }
}

TEST_P(WebDav, PropfindRefusesInfiniteDepthForFoldersOnly) {
  for (const char* const depth : {"", "Depth: infinity\r\n"}) {
    const Answer answer = ask("PROPFIND /dav/", depth);
    EXPECT_EQ(answer.status, 403);
    EXPECT_NE(answer.body.find("<D:propfind-finite-depth/>"), std::string::npos);
    EXPECT_EQ(ask("PROPFIND /dav/a.txt", depth).status, 207);
  }
  EXPECT_EQ(ask("PROPFIND /dav/", "Depth: 2\r\n").status, 400);
}

TEST_P(WebDav, PropfindTellsWhatItIsAskedFor) {
  const auto find = [&](std::string_view what) {
    return ask("PROPFIND /dav/a.txt", "Depth: 0\r\n",
               "<propfind xmlns='DAV:'>" + std::string(what) + "</propfind>");
  };
  const std::string all = find("<allprop/>").body;
  EXPECT_NE(all.find("<D:getcontentlength>1</D:getcontentlength>"), all.npos) << all;
  EXPECT_NE(all.find("<D:resourcetype/>"), all.npos);
  EXPECT_NE(all.find("<D:displayname>a.txt</D:displayname>"), all.npos);
  EXPECT_NE(all.find("<D:getcontenttype>text/plain"), all.npos);
  EXPECT_NE(all.find(" GMT</D:getlastmodified>"), all.npos);
  const std::string etag = ask("HEAD /dav/a.txt").field("ETag").value_or("none");
  EXPECT_NE(all.find("<D:getetag>" + etag + "</D:getetag>"), all.npos) << etag << all;
  const std::string names = find("<propname/>").body;
  EXPECT_NE(names.find("<D:getcontentlength/>"), names.npos) << names;
  const std::string some = find("<prop><getcontentlength/><x xmlns='urn:y'/><quota/></prop>").body;
  EXPECT_NE(some.find("<D:prop><D:getcontentlength>1</D:getcontentlength></D:prop>"), some.npos);
  EXPECT_NE(some.find("<x xmlns=\"urn:y\"/><quota xmlns=\"DAV:\"/></D:prop>"
                      "<D:status>HTTP/1.1 404 Not Found</D:status>"),
            some.npos)
      << some;
  EXPECT_EQ(find("").status, 400);
  EXPECT_EQ(find("<prop>").status, 400);
  EXPECT_EQ(ask("PROPFIND /dav/", "Depth: 0\r\n", "<other/>").status, 400);
  EXPECT_EQ(ask("PROPFIND /dav/", "Depth: 0\r\n", "<!DOCTYPE a><a/>").status, 400);
  EXPECT_EQ(ask("PROPFIND /dav/", "Depth: 0\r\nContent-Encoding: gzip\r\n", "x").status, 415);
  EXPECT_EQ(ask("PROPFIND /dav/", "Depth: 0\r\n", std::string(70'000, ' ')).status, 413);
  std::string many = "<prop>";
  for (int i = 0; i < 129; ++i) many += "<p/>";
  EXPECT_EQ(find(many + "</prop>").status, 400);
}

TEST_P(WebDav, HostileNamesNeverBreakTheXml) {
  const std::vector<std::string> names = {
      "]]>",    "<x>&\"'", "\xFF\xFE.txt",        "\xED\xA0\x80",
      "%41%2f", "a b",     "\xEF\xBF\xBE",        "\xE2\x80\xAE.txt",
      "-->",    "#?;=",    "\xC3\xA4\xE2\x82\xAC"};
  for (const std::string& name : names) tree_.write("site/odd/" + name, "x");
  tree_.write("site/odd/a\nb", "control characters hide a name");
  const Answer answer = ask("PROPFIND /dav/odd/", "Depth: 1\r\n");
  const std::vector<std::string> found = hrefs(answer);
  ASSERT_EQ(found.size(), names.size() + 1) << answer.body;
  for (const std::string& href : found) {
    EXPECT_TRUE(std::ranges::all_of(href, [](char c) { return c > 0x20 && c < 0x7F; })) << href;
    EXPECT_EQ(ask("PROPFIND " + href, "Depth: 0\r\n").status, 207) << href;
  }
  for (const std::string& href : found) {
    if (href == "/dav/odd/") continue;
    EXPECT_EQ(ask("DELETE " + href).status, 204) << href;
  }
  EXPECT_EQ(ask("DELETE /dav/odd/").status, 403) << "of the hidden name";
}

// Large trees take minutes.
TEST_P(WebDav, ChangesOfTreesLeaveThreadsToOtherRequests) {
  std::vector<async::Semaphore::Permit> permits;
  while (auto permit = files::tree_permits().try_acquire()) permits.push_back(std::move(permit));
  EXPECT_EQ(permits.size(), files::tree_changes_at_most);
  server_.emplace(router_, GetParam());
  Client waiting = server_->connect();
  waiting.send(request("DELETE /dav/a.txt"));
  EXPECT_EQ(ask("PROPFIND /dav/", "Depth: 0\r\n").status, 207);
  EXPECT_EQ(ask("PUT /dav/new.txt", {}, "new").status, 201);
  EXPECT_TRUE(exists("site/a.txt"));
  permits.clear();
  EXPECT_EQ(waiting.answer().value_or(Answer{}).status, 204);
  EXPECT_FALSE(exists("site/a.txt"));
}

TEST_P(WebDav, LargeFoldersAreListedInPieces) {
  for (int i = 0; i < 400; ++i) tree_.write("site/many/" + std::to_string(i), "");
  EXPECT_EQ(hrefs(ask("PROPFIND /dav/many/", "Depth: 1\r\n")).size(), 401u);
}

TEST_P(WebDav, PropertiesOfClientsAreKept) {
  if (!has_attributes()) GTEST_SKIP() << "the file system has no extended attributes";
  EXPECT_EQ(property("/dav/a.txt"), "probe");
  EXPECT_EQ(set("/dav/a.txt", "1 &lt; 2 <y>]]&gt;</y>").status, 207);
  EXPECT_EQ(property("/dav/a.txt"), "1 &lt; 2 <y xmlns=\"\">]]&gt;</y>");
  const std::string all = ask("PROPFIND /dav/a.txt", "Depth: 0\r\n").body;
  EXPECT_NE(all.find("<n xmlns=\"urn:x\">"), all.npos) << all;
  EXPECT_EQ(set("/dav/sub/", "folder").status, 207);
  EXPECT_EQ(property("/dav/sub"), "folder");
  // They stay with a file that is written again, copied or moved.
  set("/dav/a.txt", "stays");
  EXPECT_EQ(ask("PUT /dav/a.txt", "", "new").status, 204);
  EXPECT_EQ(property("/dav/a.txt"), "stays");
  EXPECT_EQ(ask("COPY /dav/a.txt", to("/dav/c.txt")).status, 201);
  EXPECT_EQ(property("/dav/c.txt"), "stays");
  EXPECT_EQ(ask("MOVE /dav/c.txt", to("/dav/d.txt")).status, 201);
  EXPECT_EQ(property("/dav/d.txt"), "stays");
  EXPECT_EQ(ask("COPY /dav/sub/", to("/dav/sub2/")).status, 201);
  EXPECT_EQ(property("/dav/sub2/"), "folder");
  patch("/dav/a.txt", "<D:remove><D:prop><x:n/></D:prop></D:remove>");
  EXPECT_EQ(property("/dav/a.txt"), "");
}

TEST_P(WebDav, ChangesOfPropertiesAreMadeAsAWholeOrNotAtAll) {
  const bool has_some = has_attributes();
  const Answer mixed = patch("/dav/a.txt",
                             "<D:set><D:prop><x:n>new</x:n></D:prop></D:set>"
                             "<D:set><D:prop><D:getetag>mine</D:getetag></D:prop></D:set>");
  EXPECT_EQ(mixed.status, 207);
  EXPECT_NE(mixed.body.find("<getetag xmlns=\"DAV:\"/></D:prop><D:status>HTTP/1.1 403"),
            mixed.body.npos)
      << mixed.body;
  EXPECT_NE(mixed.body.find("<n xmlns=\"urn:x\"/></D:prop><D:status>HTTP/1.1 424"),
            mixed.body.npos);
  if (has_some) {
    EXPECT_EQ(property("/dav/a.txt"), "probe");
    const Answer large = set("/dav/a.txt", std::string(20'000, 'x'));
    EXPECT_NE(large.body.find("HTTP/1.1 507"), large.body.npos) << large.body;
    EXPECT_EQ(property("/dav/a.txt"), "probe");
    EXPECT_EQ(patch("/dav/a.txt", "<D:set><D:prop><x:n>1</x:n></D:prop></D:set>",
                    "If-Match: \"other\"\r\n")
                  .status,
              412);
    EXPECT_EQ(property("/dav/a.txt"), "probe");
  }
  EXPECT_EQ(patch("/dav/a.txt", "").status, 400);
  EXPECT_EQ(patch("/dav/none", "<D:remove><D:prop><x:n/></D:prop></D:remove>").status, 404);
}

TEST_P(WebDav, FoldersAreMade) {
  EXPECT_EQ(ask("MKCOL /dav/new").status, 201);
  EXPECT_TRUE(std::filesystem::is_directory(tree_ / "site/new"));
  EXPECT_EQ(ask("MKCOL /dav/new/inner/").status, 201);
  EXPECT_EQ(ask("MKCOL /dav/new").status, 405);
  EXPECT_EQ(ask("MKCOL /dav/a.txt").status, 405);
  EXPECT_EQ(ask("MKCOL /dav/").status, 405);
  EXPECT_EQ(ask("MKCOL /dav/none/x").status, 409);
  EXPECT_EQ(ask("MKCOL /dav/a.txt/x").status, 409);
  EXPECT_EQ(ask("MKCOL /dav/.git").status, 403);
  EXPECT_EQ(ask("MKCOL /dav/.skua-upload-1").status, 403);
  EXPECT_EQ(ask("MKCOL /dav/content", "", "x").status, 415);
  EXPECT_EQ(ask("MKCOL /dav/evil", "Origin: https://evil.example\r\n").status, 403);
  EXPECT_EQ(ask("MKCOL /dav/cond", "If-Match: *\r\n").status, 412);
}

TEST_P(WebDav, DeleteRemovesTreesButNeverFollowsLinks) {
  tree_.link("../../outside", "site/sub/out");
  tree_.link("../a.txt", "site/sub/in");
  tree_.write("site/sub/deep/deeper/c.txt", "c");
  EXPECT_EQ(ask("DELETE /dav/sub/out").status, 404) << "clients cannot see it";
  EXPECT_EQ(ask("DELETE /dav/sub", "Depth: 0\r\n").status, 400);
  EXPECT_EQ(ask("DELETE /dav/sub").status, 204);
  EXPECT_FALSE(exists("site/sub"));
  EXPECT_EQ(content("outside/secret.txt"), "secret");
  EXPECT_EQ(content("site/a.txt"), "a");
  tree_.link("a.txt", "site/link");
  EXPECT_EQ(ask("DELETE /dav/link").status, 204);
  EXPECT_EQ(content("site/a.txt"), "a");
  EXPECT_EQ(ask("DELETE /dav/a.txt/").status, 404);
  EXPECT_EQ(ask("DELETE /dav/a.txt", "If-Match: \"other\"\r\n").status, 412);
  EXPECT_EQ(ask("DELETE /dav/a.txt", "If-None-Match: *\r\n").status, 412);
  EXPECT_EQ(ask("DELETE /dav/a.txt").status, 204);
  EXPECT_EQ(ask("GET /dav/a.txt").status, 404) << "nothing is remembered";
  EXPECT_EQ(ask("DELETE /dav/a.txt").status, 404);
  EXPECT_EQ(ask("DELETE /dav/").status, 403);
  EXPECT_EQ(ask("DELETE /dav").status, 403);
  EXPECT_TRUE(exists("site"));
}

TEST_P(WebDav, WhatClientsCannotSeeKeepsItsFolder) {
  tree_.write("site/sub/.env", "hidden");
  EXPECT_EQ(ask("DELETE /dav/sub").status, 403);
  EXPECT_EQ(content("site/sub/b.txt"), "b") << "nothing has been removed";
  EXPECT_EQ(ask("DELETE /dav/sub/.env").status, 404);
  serve({.files = {.dotfiles = true}});
  EXPECT_EQ(ask("DELETE /dav/sub").status, 204);
}

TEST_P(WebDav, AnUploadInProgressKeepsItsFolder) {
  tree_.write("site/sub/.skua-upload-0011", "");
  tree_.write("site/sub/.skua-upload-0022", "of a process that was killed");
  const int file = ::open((tree_ / "site/sub/.skua-upload-0011").c_str(), O_WRONLY | O_CLOEXEC);
  ASSERT_EQ(::flock(file, LOCK_EX), 0);
  EXPECT_EQ(ask("DELETE /dav/sub").status, 409);
  EXPECT_TRUE(exists("site/sub/.skua-upload-0011"));
  EXPECT_FALSE(exists("site/sub/.skua-upload-0022"));
  tree_.write("site/more/x", "x");
  std::filesystem::rename(tree_ / "site/sub", tree_ / "site/more/sub");
  const Answer partial = ask("DELETE /dav/more");
  EXPECT_EQ(partial.status, 207);
  EXPECT_NE(partial.body.find("<D:href>/dav/more/sub/</D:href><D:status>HTTP/1.1 409 Conflict"),
            partial.body.npos)
      << partial.body;
  EXPECT_FALSE(exists("site/more/x"));
  ::close(file);
  EXPECT_EQ(ask("DELETE /dav/more").status, 204);
}

TEST_P(WebDav, FilesAreCopiedAndMoved) {
  EXPECT_EQ(ask("COPY /dav/a.txt", to("/dav/c.txt")).status, 201);
  EXPECT_EQ(content("site/c.txt"), "a");
  EXPECT_EQ(ask("COPY /dav/sub/b.txt", to("http://test/dav/c.txt")).status, 204);
  EXPECT_EQ(content("site/c.txt"), "b");
  EXPECT_EQ(ask("COPY /dav/a.txt", to("/dav/c.txt") + "Overwrite: F\r\n").status, 412);
  EXPECT_EQ(ask("MOVE /dav/a.txt", to("/dav/c.txt") + "Overwrite: F\r\n").status, 412);
  EXPECT_EQ(ask("MOVE /dav/a.txt", to("/dav/c.txt") + "If-Match: \"other\"\r\n").status, 412);
  EXPECT_EQ(content("site/c.txt"), "b");
  EXPECT_EQ(ask("MOVE /dav/a.txt", to("/dav/c.txt") + "Overwrite: T\r\n").status, 204);
  EXPECT_EQ(content("site/c.txt"), "a");
  EXPECT_FALSE(exists("site/a.txt"));
  EXPECT_EQ(ask("GET /dav/c.txt").body, "a");
  EXPECT_EQ(ask("MOVE /dav/c.txt", to("/dav/sub/%C3%A4%20%23.txt")).status, 201);
  EXPECT_EQ(content("site/sub/\xC3\xA4 #.txt"), "a");
  EXPECT_EQ(ask("MOVE /dav/none", to("/dav/x")).status, 404);
  EXPECT_EQ(ask("COPY /dav/sub/b.txt", to("/dav/none/x")).status, 409);
  EXPECT_EQ(ask("COPY /dav/sub/b.txt", to("/dav/.env")).status, 403);
  EXPECT_EQ(ask("COPY /dav/sub/b.txt", to("/dav/")).status, 403);
  EXPECT_EQ(ask("COPY /dav/sub/b.txt", to("/dav/sub/b.txt")).status, 403);
}

TEST_P(WebDav, FoldersAreCopiedAndMoved) {
  tree_.link("../a.txt", "site/sub/link");
  tree_.link("../../outside", "site/sub/out");
  tree_.link("../sub", "site/sub/loop");
  tree_.write("site/sub/.env", "hidden");
  const Answer copied = ask("COPY /dav/sub/", to("/dav/new/"));
  EXPECT_EQ(copied.status, 207);
  EXPECT_EQ(hrefs(copied), (std::vector<std::string>{"/dav/new/loop"})) << copied.body;
  EXPECT_EQ(content("site/new/b.txt"), "b");
  EXPECT_EQ(content("site/new/link"), "a");
  EXPECT_FALSE(std::filesystem::is_symlink(tree_ / "site/new/link"));
  EXPECT_FALSE(exists("site/new/out"));
  EXPECT_FALSE(exists("site/new/.env"));
  EXPECT_EQ(ask("COPY /dav/new/", to("/dav/shallow") + "Depth: 0\r\n").status, 201);
  EXPECT_TRUE(std::filesystem::is_empty(tree_ / "site/shallow"));
  EXPECT_EQ(ask("COPY /dav/new/", to("/dav/x") + "Depth: 1\r\n").status, 400);
  EXPECT_EQ(ask("MOVE /dav/new/", to("/dav/x") + "Depth: 0\r\n").status, 400);
  EXPECT_EQ(ask("MOVE /dav/new", to("/dav/shallow")).status, 204);
  EXPECT_EQ(content("site/shallow/b.txt"), "b");
  EXPECT_EQ(ask("COPY /dav/a.txt", to("/dav/shallow")).status, 204) << "a file for a folder";
  EXPECT_EQ(content("site/shallow"), "a");
  EXPECT_EQ(ask("MKCOL /dav/f").status, 201);
  EXPECT_EQ(ask("MOVE /dav/f", to("/dav/shallow")).status, 204) << "a folder for a file";
  EXPECT_TRUE(std::filesystem::is_directory(tree_ / "site/shallow"));
}

TEST_P(WebDav, AFolderCannotGoIntoItselfNorReplaceWhatIsAroundIt) {
  tree_.write("site/sub/inner/c.txt", "c");
  tree_.link("sub/inner", "site/alias");
  for (const char* const method : {"COPY", "MOVE"}) {
    const auto from = [&](std::string_view path, std::string_view destination) {
      return ask(std::string(method) + " " + std::string(path), to(destination)).status;
    };
    EXPECT_EQ(from("/dav/sub", "/dav/sub/new"), 403);
    EXPECT_EQ(from("/dav/sub", "/dav/sub/inner/new"), 403);
    EXPECT_EQ(from("/dav/sub", "/dav/alias/new"), 403) << "through a link";
    EXPECT_EQ(from("/dav/sub/inner", "/dav/sub"), 403);
    EXPECT_EQ(from("/dav/sub/inner/c.txt", "/dav/sub"), 403);
    EXPECT_EQ(from("/dav/sub", "/dav/sub/"), 403);
    EXPECT_EQ(from("/dav/", "/dav/sub/new"), 403);
    EXPECT_EQ(from("/dav/a.txt", "/dav/alias"), 409) << "links are not replaced";
  }
  EXPECT_EQ(content("site/sub/inner/c.txt"), "c");
}

TEST_P(WebDav, DestinationsElsewhereAreRefused) {
  const auto copy = [&](std::string_view destination) {
    return ask("COPY /dav/a.txt", to(destination)).status;
  };
  for (const char* const other :
       {"http://other/dav/x", "http://test:81/dav/x", "https://test:1/dav/x", "ftp://test/dav/x",
        "http://test@other/dav/x", "http://user:pw@test/dav/x"}) {
    EXPECT_EQ(copy(other), 502) << other;
  }
  for (const char* const bad :
       {"x", "../x", "//test/dav/x", "http:/dav/x", "/dav/x?q", "/dav/x#f", "/dav/%", "/dav/a%2fb",
        "http://te st/dav/x", "/dav/\\x", "*", "?"}) {
    EXPECT_EQ(copy(bad), 400) << bad;
  }
  EXPECT_EQ(ask("COPY /dav/a.txt").status, 400);
  EXPECT_EQ(ask("COPY /dav/a.txt", to("/dav/x") + "Overwrite: maybe\r\n").status, 400);
  for (const char* const around : {"/x", "/", "/davx", "/dav2/x", "/dav/../x"}) {
    EXPECT_EQ(copy(around), 403) << around;
  }
  EXPECT_EQ(copy("http://TEST:80/dav/x"), 201);
  EXPECT_EQ(copy("https://test/dav/y"), 201) << "a proxy may have ended TLS";
}

TEST_P(WebDav, TreesAreLimited) {
  for (int i = 0; i < 51; ++i) tree_.write("site/many/" + std::to_string(i), "");
  tree_.write("site/deep/2/3/4/5/x", "");
  tree_.write("site/large/a", std::string(6000, 'x'));
  tree_.write("site/large/b", std::string(6000, 'x'));
  for (const char* const name : {"many", "deep"}) {
    EXPECT_EQ(ask("DELETE /dav/" + std::string(name)).status, 507) << name;
    EXPECT_TRUE(exists("site/" + std::string(name)));
  }
  for (const char* const name : {"many", "deep", "large"}) {
    EXPECT_EQ(ask("COPY /dav/" + std::string(name), to("/dav/copy")).status, 507) << name;
    EXPECT_FALSE(exists("site/copy"));
  }
  tree_.write("site/huge", std::string(10'001, 'x'));
  EXPECT_EQ(ask("COPY /dav/huge", to("/dav/copy")).status, 507);
  EXPECT_FALSE(exists("site/copy"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(tree_ / "site"), {}), 6)
      << "no temporary file is left";
  EXPECT_EQ(ask("MOVE /dav/many", to("/dav/moved")).status, 201) << "a folder moves as one";
}

TEST_P(WebDav, NothingIsReplacedByWhatIsTooLarge) {
  for (int i = 0; i < 51; ++i) tree_.write("site/many/" + std::to_string(i), "");
  tree_.write("site/huge", std::string(10'001, 'x'));
  tree_.write("site/kept/x", "x");
  tree_.write("site/kept.txt", "x");
  for (const char* const source : {"many", "huge"}) {
    for (const char* const destination : {"/dav/kept", "/dav/kept.txt"}) {
      EXPECT_EQ(ask("COPY /dav/" + std::string(source), to(destination)).status, 507);
    }
  }
  EXPECT_TRUE(exists("site/kept/x"));
  EXPECT_TRUE(exists("site/kept.txt"));
  EXPECT_EQ(ask("MOVE /dav/many", to("/dav/kept")).status, 204);
  EXPECT_EQ(ask("MOVE /dav/huge", to("/dav/kept.txt")).status, 204);
  EXPECT_FALSE(exists("site/kept/x"));
  EXPECT_TRUE(exists("site/kept/50"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(tree_ / "site"), {}), 4)
      << "no temporary file is left";
}

TEST_P(WebDav, IfIsObeyed) {
  const std::string etag = *ask("PUT /dav/a.txt", "", "first").field("ETag");
  const auto put = [&](std::string_view condition) {
    return ask("PUT /dav/a.txt", "If: " + std::string(condition) + "\r\n", "first").status;
  };
  EXPECT_EQ(put("([\"other\"])"), 412);
  EXPECT_EQ(put("(<urn:lock>)"), 412);
  EXPECT_EQ(put("(Not [" + etag + "])"), 412);
  EXPECT_EQ(put("</dav/sub/b.txt> ([" + etag + "])"), 412);
  EXPECT_EQ(put("(broken"), 400);
  EXPECT_EQ(put("(<urn:lock>) (Not <DAV:no-lock> [" + etag + "])"), 204);
  const std::string changed = *ask("PUT /dav/a.txt", "", "second").field("ETag");
  EXPECT_EQ(put("</dav/a.txt> ([" + changed + "])"), 204);
  EXPECT_EQ(ask("DELETE /dav/a.txt", "If: ([" + etag + "])\r\n").status, 412);
  EXPECT_EQ(ask("PROPFIND /dav/a.txt", "If: ([" + etag + "])\r\n").status, 412);
  EXPECT_EQ(ask("DELETE /dav/a.txt", "If: (Not [" + etag + "])\r\n").status, 204);
}

// Ways to write a segment that climbs, of which some are harmless names.
std::vector<std::string> climbing_paths() {
  const std::vector<std::string> up = {
      "..",           "%2e%2e",     "%2E%2E",      ".%2e",          "%2e.",
      "..%2f..",      "..%2F..",    "..%5c..",     "..\\..",        "%2e%2e%2f%2e%2e",
      "%252e%252e",   "..;",        "..;a=b",      "%c0%ae%c0%ae",  "%e0%80%ae%e0%80%ae",
      "..%00",        "%00..",      "..%0a",       "..%20",         ".%00.",
      "...",          "....",       "..%c0%af..",  "..%ef%bc%8f..", "%ef%bc%8e%ef%bc%8e",
      "%u002e%u002e", "..%252f..",  "x%2f..%2f..", "./..",          "..//..",
      "../..",        "x/../../..", "out",         "deep/out",      "up",
  };
  std::vector<std::string> paths;
  for (const std::string& one : up) {
    for (const char* const prefix : {"/dav/", "/dav/sub/", "/dav//", "/dav/./"}) {
      paths.push_back(prefix + one + "/outside/secret.txt");
      paths.push_back(prefix + one + "/outside");
    }
    paths.push_back("/dav/" + one);
  }
  return paths;
}

TEST_P(WebDav, NoSpellingOfAPathLeavesTheFolder) {
  tree_.link("../outside", "site/out");
  tree_.link("../../outside", "site/sub/out");
  tree_.link("..", "site/up");
  const std::vector<std::string> paths = climbing_paths();
  ASSERT_GE(paths.size(), 100u);
  const auto is_unharmed = [&] {
    return content("outside/secret.txt") == "secret" &&
           std::distance(std::filesystem::directory_iterator(tree_.path()), {}) == 2 &&
           std::distance(std::filesystem::directory_iterator(tree_ / "outside"), {}) == 1;
  };
  const auto has_stolen = [&] {
    const std::filesystem::recursive_directory_iterator all(tree_ / "site");
    return std::any_of(begin(all), end(all), [&](const std::filesystem::directory_entry& entry) {
      const bool is_own = entry.is_regular_file() && !entry.is_symlink();
      return is_own && content(entry.path().string()) == "secret";
    });
  };
  for (const std::string& path : paths) {
    tree_.write("site/bait", "bait");
    std::string told;
    for (const Answer& answer :
         {ask("PROPFIND " + path, "Depth: 1\r\n"), ask("GET " + path), ask("DELETE " + path),
          ask("MKCOL " + path), ask("PUT " + path, "", "x"),
          ask("PROPPATCH " + path, "", "<propertyupdate xmlns='DAV:'/>"),
          ask("COPY " + path, to("/dav/stolen")), ask("MOVE " + path, to("/dav/stolen")),
          ask("COPY /dav/bait", to(path)), ask("MOVE /dav/bait", to("http://test" + path))}) {
      EXPECT_GE(answer.status, 200) << path;
      if (answer.body.find("href>") != answer.body.npos) told += answer.body;
    }
    EXPECT_EQ(told.find("secret.txt</D:displayname>"), told.npos) << path << told;
    ASSERT_TRUE(is_unharmed()) << path;
    EXPECT_FALSE(has_stolen()) << path;
    std::filesystem::remove_all(tree_ / "site/stolen");
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, WebDav, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
