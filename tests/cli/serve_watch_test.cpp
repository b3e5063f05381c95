// SPDX-License-Identifier: MIT
// `skua serve --watch`: pages with a script, and events when the folder changes.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/serve_fixture.hpp"
#include "coding/coding.hpp"
#include "crypto/digest.hpp"
#include "settings/settings_file.hpp"
#include "support/backends.hpp"
#include "support/client.hpp"
#include "support/manual_times.hpp"

namespace skua::test {
namespace {

using testing::Transport;

constexpr std::string_view tag_begin = "<script async src=\"/.skua/reload.js?since=";

/// A client of the stream of events.
class Events {
 public:
  Events(std::uint16_t port, const std::string& since, const std::string& more = "",
         Transport transport = Transport::Tcp)
      : connection_(port, transport) {
    const std::string version = testing::speaks_http2(transport) ? "1.1" : "1.0";  // not chunked
    connection_.send("GET /.skua/reload?since=" + since + " HTTP/" + version +
                     "\r\nHost: localhost\r\nAccept: text/event-stream\r\n" + more + "\r\n");
    EXPECT_NE(until("\n\n").find("text/event-stream"), std::string::npos);
    EXPECT_EQ(next(), "ready");
  }
  // The type of the next event; empty at the end of the stream.
  std::string next() {
    const std::string event = until("\n\n");
    const std::size_t at = event.find("event: ");
    if (const std::size_t id = event.find("id: "); id != event.npos) {
      last_ = event.substr(id + 4, event.find('\n', id) - id - 4);
    }
    return at == event.npos ? "" : event.substr(at + 7, event.find('\n', at) - at - 7);
  }
  [[nodiscard]] const std::string& last() const { return last_; }

 private:
  // Returns the text up to the end of the head, or of an event.
  std::string until(std::string_view end) {
    while (true) {
      const std::size_t head = is_head_over_ ? text_.npos : text_.find("\r\n\r\n");
      const std::size_t at = is_head_over_ ? text_.find(end) : head;
      if (at != text_.npos) {
        const std::size_t size = is_head_over_ ? end.size() : 4;
        std::string found = text_.substr(0, at + size);
        text_.erase(0, at + size);
        is_head_over_ = true;
        return found;
      }
      const std::string more = connection_.some();
      if (more.empty()) return std::exchange(text_, {});
      text_ += more;
    }
  }

  testing::Client connection_;
  std::string text_;
  std::string last_;
  bool is_head_over_ = false;
};

class WatchTest : public ServeTest {
 protected:
  void start_watching(std::vector<std::string> more = {}) {
    more.emplace_back("--watch");
    start(std::move(more));
  }
  static std::string version_in(const std::string& page) {
    const std::size_t at = page.find(tag_begin);
    if (at == page.npos) return "";
    const std::size_t begin = at + tag_begin.size();
    return page.substr(begin, page.find('"', begin) - begin);
  }
  static std::string tag(const std::string& version) {
    return std::string(tag_begin) + version + "\"></script>";
  }
  static bool has(const std::string& response, std::string_view text) {
    return response.find(text) != response.npos;
  }
  static std::string content(const std::string& response) {
    return response.substr(response.find("\r\n\r\n") + 4);
  }
  // Replaces a file in one step, as editors do.
  void replace(const char* name, const std::string& text) const {
    tree_.write(".new", text);
    std::filesystem::rename(tree_ / ".new", tree_ / name);
  }
};

TEST_F(WatchTest, PutsTheScriptIntoPages) {
  tree_.write("body.html", "<body><p>a</p></body>\n</html>\n");
  tree_.write("empty.html", "");
  start_watching();
  const std::string page = get("/body.html");
  EXPECT_EQ(content(page), "<body><p>a</p>" + tag(version_in(page)) + "</body>\n</html>\n");
  EXPECT_TRUE(has(page, "\r\nCache-Control: no-store\r\n")) << page;
  for (const char* name : {"ETag", "Last-Modified", "Accept-Ranges"}) {
    EXPECT_FALSE(has(page, std::string("\r\n") + name + ":")) << name;
  }
  const std::string index = get("/");
  EXPECT_EQ(content(index), "<h1>home</h1>" + tag(version_in(index)));
  const std::string empty = get("/empty.html");
  EXPECT_EQ(content(empty), tag(version_in(empty)));
  EXPECT_EQ(content(get("/a%20b.txt")), "hello");
  const std::string listing = get("/plain/");
  EXPECT_TRUE(has(listing, tag(version_in(listing)) + "</body></html>"));
  EXPECT_TRUE(has(listing, "script-src 'self' 'sha256-")) << "its policy allows the script";
  const std::string script = get("/.skua/reload.js?since=1");
  EXPECT_TRUE(has(script, "\r\nContent-Type: text/javascript; charset=utf-8\r\n"));
  EXPECT_TRUE(has(script, "new EventSource("));
}

TEST_F(WatchTest, LeavesEverythingAloneWithoutIt) {
  start();
  EXPECT_TRUE(get("/").ends_with("\r\n\r\n<h1>home</h1>"));
  EXPECT_EQ(status(get("/.skua/reload.js")), "404");
}

TEST_F(WatchTest, APageIsSentAsAWhole) {
  start_watching();
  const std::string size = std::to_string(content(get("/")).size());
  for (const char* more : {"Range: bytes=0-3", "If-None-Match: *", "If-Match: \"none\"",
                           "If-Modified-Since: Fri, 01 Jan 2100 00:00:00 GMT",
                           "If-Unmodified-Since: Sat, 01 Jan 2000 00:00:00 GMT"}) {
    const std::string page = ask(std::string("GET / HTTP/1.1\r\n") + more);
    EXPECT_EQ(status(page), "200") << more;
    EXPECT_EQ(content(page).size(), std::stoul(size)) << more;
  }
  const std::string head = ask("HEAD / HTTP/1.1");
  EXPECT_TRUE(has(head, "\r\nContent-Length: " + size + "\r\n")) << head;
  EXPECT_EQ(content(head), "");
}

TEST_F(WatchTest, OtherFilesHaveRangesAndAreRevalidated) {
  support::set_modified(tree_ / "a b.txt",
                        std::chrono::seconds(1'000'000'000));  // its tag stays the same
  start_watching({"--max-age", "60", "--cache", "*.txt=immutable"});
  const std::string whole = get("/a%20b.txt");
  EXPECT_TRUE(has(whole, "\r\nCache-Control: no-cache\r\n")) << whole;
  const std::string part = ask("GET /a%20b.txt HTTP/1.1\r\nRange: bytes=1-2");
  EXPECT_EQ(status(part), "206");
  EXPECT_EQ(content(part), "el");
  const std::size_t at = whole.find("\r\nETag: ") + 8;
  const std::string tag = whole.substr(at, whole.find("\r\n", at) - at);
  EXPECT_EQ(status(ask("GET /a%20b.txt HTTP/1.1\r\nIf-None-Match: " + tag)), "304");
}

TEST_F(WatchTest, LargePagesAndOtherEncodingsHaveTheScript) {
  const std::string large(10'000'000, 'x');
  tree_.write("large.html", "<body>" + large + "</body></html>");
  std::string wide("\xFF\xFE", 2);
  for (const char c : std::string_view("<p>wide</p>")) wide.append(1, c).append(1, '\0');
  tree_.write("wide.html", wide);
  tree_.write("cut.html", wide + "<");
  tree_.write("wide-large.html", wide + std::string(100'000, '\0'));
  start_watching();
  const std::string page = content(get("/large.html"));
  const std::string version = version_in(page);
  EXPECT_TRUE(page == "<body>" + large + tag(version) + "</body></html>");
  EXPECT_TRUE(has(ask("HEAD /large.html HTTP/1.1"),
                  "\r\nContent-Length: " + std::to_string(page.size()) + "\r\n"));
  std::string wide_tag;
  for (const char c : tag(version)) wide_tag.append(1, c).append(1, '\0');
  EXPECT_TRUE(content(get("/wide.html")) == wide + wide_tag);
  EXPECT_TRUE(content(get("/wide-large.html")) == wide + std::string(100'000, '\0') + wide_tag);
  EXPECT_TRUE(content(get("/cut.html")) == wide + "<") << "an incomplete character at its end";
}

TEST_F(WatchTest, PagesOfErrorsAndApplicationsAreLive) {
  tree_.write("404.html", "<p>gone</p>");
  start_watching({"--error-page", "404=404.html"});
  const std::string page = get("/none");
  EXPECT_EQ(status(page), "404");
  EXPECT_EQ(content(page), "<p>gone</p>" + tag(version_in(page)));
  start_watching({"--spa"});
  const std::string application = ask("GET /users/7 HTTP/1.1\r\nIf-None-Match: *");
  EXPECT_EQ(status(application), "200");
  EXPECT_EQ(content(application), "<h1>home</h1>" + tag(version_in(application)));
}

TEST_F(WatchTest, APageThatIsMissingReloadsWhenItIsThere) {
  start_watching();
  EXPECT_EQ(content(get("/none")), "404 Not Found\n");
  const std::string page = ask("GET /none HTTP/1.1\r\nAccept: text/html,*/*;q=0.8");
  EXPECT_EQ(status(page), "404");
  EXPECT_FALSE(version_in(page).empty()) << page;
}

TEST_F(WatchTest, CompressesPagesWithTheScript) {
  if (!coding::is_available(coding::Coding::Gzip)) GTEST_SKIP() << "this build has no zlib";
  tree_.write("long.html", std::string(5000, 'x'));
  tree_.write("long.html.gz", "not for pages");
  start_watching({"--compress", "--precompressed"});
  const std::string page = ask("GET /long.html HTTP/1.1\r\nAccept-Encoding: gzip");
  EXPECT_TRUE(has(page, "\r\nContent-Encoding: gzip\r\n")) << page;
  const std::string coded = content(page);
  auto decoder = coding::Decoder::create(coding::Coding::Gzip);
  ASSERT_TRUE(decoder);
  std::string text;
  ASSERT_TRUE(decoder->push(coded, text));
  EXPECT_EQ(text, std::string(5000, 'x') + tag(version_in(text)));
}

class WatchBackend : public WatchTest, public ::testing::WithParamInterface<BackendChoice> {};

TEST_P(WatchBackend, SendsAnEventForEachBurstOfChanges) {
  tree_.write("a.css", "a");
  start_watching({"--backend", std::string(to_string(GetParam()))});
  auto stream = std::make_unique<Events>(port_, version_in(get("/")));
  Events& events = *stream;
  tree_.write("a.css", "b");
  EXPECT_EQ(events.next(), "styles");
  replace("index.html", "<h1>new</h1>");
  EXPECT_EQ(events.next(), "reload");
  const std::string page = get("/");
  EXPECT_EQ(content(page), "<h1>new</h1>" + tag(events.last())) << "never an older one";
  for (int i = 0; i < 50; ++i) tree_.write("made/" + std::to_string(i) + ".html", "x");
  EXPECT_EQ(events.next(), "reload");
  // The burst may be several events, and the change of a style sheet may become part of one.
  std::string event = "reload";
  for (int i = 0; i < 50 && event == "reload"; ++i) {
    tree_.write("made/0.css", std::to_string(i));
    event = events.next();
  }
  EXPECT_EQ(event, "styles");
  process_->signal(SIGTERM);
  while (event == "styles") event = events.next();
  EXPECT_EQ(event, "") << "a drain ends the stream";
  stream.reset();
  EXPECT_EQ(process_->wait(), 0);
}

INSTANTIATE_TEST_SUITE_P(Backends, WatchBackend,
                         ::testing::ValuesIn(testing::backends({BackendChoice::Epoll,
                                                                BackendChoice::IoUring})),
                         testing::backend_name);

class WatchHttps : public WatchTest, public ::testing::WithParamInterface<Transport> {};

TEST_P(WatchHttps, SendsEventsAndPages) {
  if (!crypto::is_available()) GTEST_SKIP() << "built without OpenSSL";
  tree_.write("a.css", "a");
  start_watching({"--tls-self-signed"});
  const auto page = [this] {
    testing::Client client(port_, GetParam());
    client.send(testing::get("/"));
    return client.answer().value_or(testing::Answer{}).body;
  };
  auto events = std::make_unique<Events>(port_, version_in(page()), "", GetParam());
  tree_.write("a.css", "b");
  EXPECT_EQ(events->next(), "styles");
  replace("index.html", "<h1>new</h1>");
  EXPECT_EQ(events->next(), "reload");
  EXPECT_EQ(page(), "<h1>new</h1>" + tag(events->last()));
  process_->signal(SIGTERM);
  EXPECT_EQ(events->next(), "");
  events.reset();
  EXPECT_EQ(process_->wait(), 0);
}

INSTANTIATE_TEST_SUITE_P(Transports, WatchHttps,
                         ::testing::Values(Transport::Tls, Transport::H2Tls), [](const auto& each) {
                           return testing::speaks_http2(each.param) ? "Http2" : "Http1";
                         });

TEST_F(WatchTest, AClientThatComesBackLearnsWhatItMissed) {
  tree_.write("a.css", "a");
  start_watching();
  const std::string old = version_in(get("/"));
  std::string styled;
  {
    Events events(port_, old);
    tree_.write("a.css", "b");
    EXPECT_EQ(events.next(), "styles");
    styled = events.last();
  }
  Events later(port_, old);
  EXPECT_EQ(later.next(), "styles");
  replace("index.html", "new");
  EXPECT_EQ(later.next(), "reload");
  EXPECT_EQ(Events(port_, styled).next(), "reload");
  EXPECT_EQ(Events(port_, later.last(), "Last-Event-ID: " + styled + "\r\n").next(), "reload");
  for (const char* unknown : {"", "x", "1", "99999999999999999999999"}) {
    EXPECT_EQ(Events(port_, unknown).next(), "reload") << unknown;
  }
}

TEST_F(WatchTest, ReloadsItsOptionsMeanwhile) {
  if (!cli::has_settings_files()) GTEST_SKIP() << "this build has no toml++";
  const support::TemporaryDirectory configs;
  configs.write("f.toml", "header = ['X-V: 1']\n");
  start_watching({"--config", (configs / "f.toml").string()});
  auto events = std::make_unique<Events>(port_, version_in(get("/")));
  configs.write("f.toml", "header = ['X-V: 2']\n");
  process_->signal(SIGHUP);
  const std::string said = process_->errors_until("reloaded");
  EXPECT_TRUE(has(said, "watching for changes: pages reload ")) << said;
  EXPECT_TRUE(has(get("/"), "\r\nX-V: 2\r\n"));
  EXPECT_FALSE(version_in(get("/")).empty());
  replace("index.html", "new");
  EXPECT_EQ(events->next(), "reload");
  process_->signal(SIGTERM);
  EXPECT_EQ(events->next(), "");
  events.reset();
  EXPECT_EQ(process_->wait(), 0);
}

TEST_F(WatchTest, SighupAloneStopsAServerWithStreams) {
  start_watching();
  {
    Events events(port_, version_in(get("/")));
    process_->signal(SIGHUP);
    EXPECT_EQ(events.next(), "");
  }
  EXPECT_EQ(process_->wait(), 0);
}

}  // namespace
}  // namespace skua::test
