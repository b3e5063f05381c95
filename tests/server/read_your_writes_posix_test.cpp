// SPDX-License-Identifier: MIT
// Every reader of every thread has at once what a client has written, although each thread has a
// cache of its own whose clock stands still; and no thread answers with an older state than
// another.
#include <gtest/gtest.h>

#include <condition_variable>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "files/cache/file_changes.hpp"
#include "files/file_site.hpp"
#include "skua.hpp"
#include "support/manual_times.hpp"
#include "support/temporary_directory.hpp"
#include "xml/xml.hpp"

namespace skua {
namespace {

using testing::FakeRequest;

using FieldList = std::vector<std::pair<std::string, std::string>>;

/// A thread that makes calls in turn.
class OtherThread {
 public:
  OtherThread() : thread_([this] { work(); }) {}
  OtherThread(const OtherThread&) = delete;
  OtherThread& operator=(const OtherThread&) = delete;
  ~OtherThread() {
    calls_.push({});
    thread_.join();
  }
  void run(std::function<void()> call) {
    std::promise<void> done;
    calls_.push([&] {
      call();
      done.set_value();
    });
    done.get_future().wait();
  }

 private:
  // One call at a time.
  struct Calls {
    void push(std::function<void()> call) {
      {
        const std::lock_guard lock(mutex);
        next = std::move(call);
        has_next = true;
      }
      changed.notify_one();
    }
    std::function<void()> pop() {
      std::unique_lock lock(mutex);
      changed.wait(lock, [this] { return has_next; });
      has_next = false;
      return std::move(next);
    }
    std::mutex mutex{};
    std::condition_variable changed{};
    std::function<void()> next{};
    bool has_next = false;
  };

  void work() {
    while (const std::function<void()> call = calls_.pop()) call();
  }

  Calls calls_;
  std::thread thread_;
};

struct Reader {
  std::string name;
  FieldList fields{};
};

const std::vector<Reader>& readers() {
  static const std::vector<Reader> all = {
      {"plain"},
      {"compressed", {{"Accept-Encoding", "gzip"}}},
      {"a range", {{"Range", "bytes=0-7"}}},
  };
  return all;
}

class ReadYourWrites : public ::testing::Test {
 protected:
  void SetUp() override {
    site_ = std::make_shared<const files::FileSite>(
        files::Root::open(tree_.string()).value(),
        FileOptions{.precompressed = true, .compress = true}, std::move(times_));
    const auto read = [site = site_](const Request& request) {
      return site->answer(request, request.path());
    };
    router_.get("/{path...}", read);
    router_.uploads("/up", tree_.string(), {.overwrite = true, .resumable = true});
    if (xml::is_available()) router_.webdav("/dav", tree_.string());
  }

  [[nodiscard]] Response ask(std::string_view line, const FieldList& fields = {},
                             std::string_view content = {}) const {
    FakeRequest fake(line, content);
    fake.header("Host", "test");
    for (const auto& [name, value] : fields) fake.header(name, value);
    return router_.handle(fake.request());
  }
  // The state that an answer is of; empty: there is no file.
  [[nodiscard]] std::string read(const Reader& reader) const {
    const Response response = ask("GET /a.txt", reader.fields);
    if (code(response.status()) >= 300) return {};
    return std::string(response.header("ETag").value_or("none")) + " " +
           std::to_string(response.content().size_bytes());
  }
  [[nodiscard]] std::string read_there(const Reader& reader) {
    std::string found;
    other_.run([&] { found = read(reader); });
    return found;
  }
  // As another process would, but the clock of the caches stands still.
  void write(const std::string& name, const std::string& content) const {
    tree_.write(name, content);
    files::note_file_change();
  }

  support::TemporaryDirectory tree_;
  std::unique_ptr<files::TimeSource> times_ = std::make_unique<support::ManualTimes>();
  std::shared_ptr<const files::FileSite> site_;
  Router router_;
  OtherThread other_;
};

struct Writer {
  std::string name;
  std::function<Response()> write;
};

TEST_F(ReadYourWrites, AllWritersAllReadersAllThreads) {
  const std::string small(2'000, 'x');
  const std::string large(300'000, 'y');
  const std::string form_end = "\r\n--b--\r\n";
  const auto form = [&](const std::string& content) {
    return "--b\r\nContent-Disposition: form-data; name=f; filename=a.txt\r\n\r\n" + content +
           form_end;
  };
  std::vector<Writer> writers;
  for (const std::string& content : {small + "1", large + "1", std::string("short")}) {
    writers.push_back({"PUT", [&, content] { return ask("PUT /up/a.txt", {}, content); }});
    writers.push_back({"a form", [&, content] {
                         return ask("POST /up/",
                                    {{"Content-Type", "multipart/form-data; boundary=b"}},
                                    form(content));
                       }});
    writers.push_back({"a resumable upload", [&, content] {
                         return ask("PUT /up/a.txt", {{"Upload-Complete", "?1"}}, content);
                       }});
    if (!xml::is_available()) continue;
    writers.push_back(
        {"WebDAV's PUT", [&, content] { return ask("PUT /dav/a.txt", {}, content); }});
    writers.push_back({"COPY", [&, content] {
                         write("b.txt", content + "copied");
                         return ask("COPY /dav/b.txt", {{"Destination", "/dav/a.txt"}});
                       }});
    writers.push_back({"MOVE", [&, content] {
                         write("b.txt", content + "moved");
                         return ask("MOVE /dav/b.txt", {{"Destination", "/dav/a.txt"}});
                       }});
    writers.push_back({"DELETE", [&] { return ask("DELETE /dav/a.txt"); }});
  }
  for (const std::string& before : {small, large}) {
    for (const Writer& writer : writers) {
      for (const Reader& reader : readers()) {
        write("a.txt", before);
        for (int times = 0; times < 20; ++times) {  // often, so that copies are kept in memory
          ASSERT_NE(read(reader), "");
          ASSERT_NE(read_there(reader), "");
        }
        const std::string old = read(reader);
        ASSERT_EQ(read_there(reader), old);
        const Response written = writer.write();
        ASSERT_LT(code(written.status()), 300U) << writer.name;
        const std::string here = read(reader);
        EXPECT_NE(here, old) << writer.name << ", " << reader.name;
        EXPECT_EQ(read_there(reader), here) << writer.name << ", " << reader.name;
        if (reader.name == "plain" && written.header("ETag")) {
          EXPECT_TRUE(here.starts_with(*written.header("ETag"))) << writer.name;
        }
      }
    }
  }
}

// A file that another process replaces: once a thread has answered with the new one, all do.
TEST(ReadTheWritesOfOthers, NoThreadGoesBack) {
  const support::TemporaryDirectory tree;
  Router router;
  router.get("/{path...}", FileHandler::open(tree.string()).value());
  OtherThread other;
  for (const bool is_known_here : {false, true}) {
    const std::string name = is_known_here ? "known.txt" : "unknown.txt";
    const auto read = [&] { return std::string(testing::call(router, "GET /" + name).body()); };
    tree.write(name, "0");
    std::string there;
    for (int i = 1; i < 20; ++i) {
      other.run([&] { there = read(); });
      if (is_known_here) static_cast<void>(read());
      tree.write("next", std::to_string(i));
      std::filesystem::rename(tree / "next", tree / name);
      const std::string here = read();
      other.run([&] { there = read(); });
      EXPECT_GE(std::stoi(there), std::stoi(here)) << name;
    }
  }
}

TEST(TagsOfUploads, AreStrongAtOnce) {
  const support::TemporaryDirectory tree;
  Router router;
  router.files("/up", tree.string()).uploads("/up", tree.string(), {.overwrite = true});
  std::string tag;
  for (int i = 0; i < 3; ++i) {
    FakeRequest put("PUT /up/a.txt", "content " + std::to_string(i));
    if (!tag.empty()) put.header("If-Match", tag);
    const Response written = router.handle(put.request());
    ASSERT_LT(code(written.status()), 300U);
    const Response read = testing::call(router, "HEAD /up/a.txt");
    tag = read.header("ETag").value_or("");
    EXPECT_FALSE(tag.starts_with("W/"));
    EXPECT_EQ(written.header("ETag"), tag);
  }
}

}  // namespace
}  // namespace skua
