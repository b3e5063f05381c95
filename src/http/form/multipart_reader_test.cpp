// SPDX-License-Identifier: MIT
#include "skua/multipart.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "http/form/multipart_reader.hpp"
#include "skua/async.hpp"
#include "support/temporary_directory.hpp"

namespace skua {
namespace {

constexpr std::string_view form_type = "multipart/form-data; boundary=b";

const std::string two_parts =
    "--b\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\nHolidays\r\n"
    "--b\r\nContent-Disposition: form-data; name=\"photo\"; filename=\"../a:b.png\"\r\n"
    "Content-Type: image/png\r\nX-Note: 1\r\n\r\nbytes\r\nof it\r\n--b--\r\n";

// A source of pieces of this size; each is invalid once the next one is requested.
Multipart::Source pieces(std::string content, std::size_t size) {
  struct State {
    std::string content;
    std::size_t size;
    std::size_t at = 0;
    std::string piece{};
  };
  const auto state = std::make_shared<State>(State{std::move(content), size});
  return [state]() -> Task<std::optional<Bytes>> {
    return [](std::shared_ptr<State> it) -> Task<std::optional<Bytes>> {
      co_await yield();
      it->piece = std::string(it->content.substr(it->at, it->size));
      it->at += it->piece.size();
      if (it->piece.empty()) co_return std::nullopt;
      co_return bytes(it->piece);
    }(state);
  };
}

std::string file_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::size_t entries(const support::TemporaryDirectory& folder) {
  return static_cast<std::size_t>(
      std::distance(std::filesystem::directory_iterator(folder.path()), {}));
}

// Returns `name=text;` for every part, or the error.
Task<std::string> read_texts(std::string type, std::string content, std::size_t size,
                             MultipartLimits limits, std::size_t text_limit = 64_KiB) {
  Multipart parts(type, pieces(std::move(content), size), limits);
  std::string out;
  for (;;) {
    const auto next = co_await parts.next();
    if (!next) co_return out + std::string(message(next.error().code()));
    if (!*next) co_return out;
    Part part = **next;
    const auto text = co_await part.text(text_limit);
    if (!text) co_return out + std::string(message(text.error().code()));
    out.append(part.name()).append("=").append(*text).append(";");
  }
}

std::string texts(std::string_view type, const std::string& content,
                  const MultipartLimits& limits = {}) {
  const std::string whole = run(read_texts(std::string(type), content, content.size(), limits));
  EXPECT_EQ(run(read_texts(std::string(type), content, 1, limits)), whole);
  EXPECT_EQ(run(read_texts(std::string(type), content, 7, limits)), whole);
  return whole;
}

std::string sentence(Errc code) { return std::string(message(code)); }

TEST(Multipart, HandsOutPartsAndTheirHeads) {
  const auto task = [](Multipart::Source source) -> Task<> {
    Multipart parts(form_type, std::move(source));
    const auto first = co_await parts.next();
    EXPECT_EQ((*first)->name(), "title");
    EXPECT_EQ((*first)->filename(), std::nullopt);
    EXPECT_EQ((*first)->content_type(), "");
    EXPECT_EQ((*first)->safe_filename(), "");
    const auto second = co_await parts.next();
    EXPECT_EQ((*second)->name(), "photo");
    EXPECT_EQ((*second)->filename(), "../a:b.png");
    EXPECT_EQ((*second)->safe_filename(), "a_b.png");
    EXPECT_EQ((*second)->content_type(), "image/png");
    EXPECT_EQ((*second)->header("x-note"), "1");
    EXPECT_EQ((*second)->header("x-none"), std::nullopt);
    for (int i = 0; i < 2; ++i) {
      const auto end = co_await parts.next();
      EXPECT_TRUE(end && !*end);
    }
  };
  for (const std::size_t size : {1U, 5U, 1000U}) run(task(pieces(two_parts, size)));
}

TEST(Multipart, ReadsTexts) {
  EXPECT_EQ(texts(form_type, two_parts), "title=Holidays;photo=bytes\r\nof it;");
  EXPECT_EQ(texts(form_type, "--b--"), "");
  EXPECT_EQ(texts("multipart/mixed; boundary=b", "--b\r\n\r\none\r\n--b\r\nA: 1\r\n\r\n\r\n--b--"),
            "=one;=;");
}

TEST(Multipart, ReadsAPartInPieces) {
  const auto task = [](Multipart::Source source) -> Task<std::string> {
    Multipart parts(form_type, std::move(source));
    auto part = co_await parts.next();
    part = co_await parts.next();
    std::string text;
    for (;;) {
      const auto piece = co_await (*part)->read();
      if (!*piece) break;
      EXPECT_FALSE((*piece)->empty());
      text += skua::text(**piece);
    }
    const auto again = co_await (*part)->read();
    EXPECT_TRUE(again && !*again);
    co_return text;
  };
  for (const std::size_t size : {1U, 5U, 1000U}) {
    EXPECT_EQ(run(task(pieces(two_parts, size))), "bytes\r\nof it");
  }
}

TEST(Multipart, SaysWhatIsWrongWithTheContent) {
  EXPECT_EQ(texts("text/plain", two_parts), sentence(Errc::UnsupportedMediaType));
  EXPECT_EQ(texts("multipart/form-data", two_parts), sentence(Errc::MalformedMultipart));
  EXPECT_EQ(texts(form_type, two_parts, {.parts = 1}),
            "title=Holidays;" + sentence(Errc::TooManyParts));
  EXPECT_EQ(texts(form_type, two_parts, {.part_head_bytes = 60}),
            "title=Holidays;" + sentence(Errc::PartHeadTooLong));
  EXPECT_EQ(texts(form_type, two_parts.substr(0, two_parts.size() - 6)),
            "title=Holidays;" + sentence(Errc::TruncatedBody));
  EXPECT_EQ(texts(form_type, "--b\r\nA: 1\r\n\r\nx\r\n--b--"), sentence(Errc::MalformedMultipart));
  EXPECT_EQ(run(read_texts(std::string(form_type), two_parts, 3, {}, 7)),
            sentence(Errc::BodyTooLong));
}

TEST(Multipart, ErrorsLast) {
  const auto task = [](Multipart::Source source) -> Task<> {
    Multipart parts(form_type, std::move(source));
    auto part = co_await parts.next();
    for (int i = 0; i < 2; ++i) {
      const auto text = co_await (*part)->text();
      EXPECT_EQ(text.error().code(), Errc::TruncatedBody);
    }
    const auto next = co_await parts.next();
    EXPECT_EQ(next.error().code(), Errc::TruncatedBody);
  };
  run(task(pieces(two_parts.substr(0, 60), 9)));
}

Task<Result<std::uint64_t>> save_second(Multipart::Source source, std::string path,
                                        std::uint64_t limit = Part::unlimited_bytes) {
  Multipart parts(form_type, std::move(source));
  auto part = co_await parts.next();
  part = co_await parts.next();
  const auto saved = co_await (*part)->save(path, limit);
  co_return saved;
}

std::string large_file(std::size_t size) {
  return "--b\r\nContent-Disposition: form-data; name=a\r\n\r\n\r\n"
         "--b\r\nContent-Disposition: form-data; name=f; filename=f\r\n\r\n" +
         std::string(size, '\r') + "\r\n--b--";
}

TEST(Multipart, SavesAPart) {
  const support::TemporaryDirectory folder;
  const std::filesystem::path path = folder / "photo";
  for (const std::size_t size : {1U, 64U, 1000U}) {
    const auto saved = run(save_second(pieces(two_parts, size), path.string()));
    EXPECT_EQ(saved.value(), 12U);
    EXPECT_EQ(file_text(path), "bytes\r\nof it");
    EXPECT_EQ(entries(folder), 1U);
  }
  for (const std::size_t size : {std::size_t{0}, 256_KiB, 256_KiB + 1, 1_MiB}) {
    const auto saved = run(save_second(pieces(large_file(size), 10'000), path.string()));
    EXPECT_EQ(saved.value(), size);
    EXPECT_EQ(file_text(path), std::string(size, '\r'));
    EXPECT_EQ(entries(folder), 1U);
  }
}

TEST(Multipart, SavesNoPartWhereThePeerWants) {
  const support::TemporaryDirectory folder;
  const auto form = [](const std::string& name) {
    return "--b\r\nContent-Disposition: form-data; name=a\r\n\r\n\r\n"
           "--b\r\nContent-Disposition: form-data; name=f; filename=\"" +
           name + "\"\r\n\r\ntext\r\n--b--";
  };
  for (const std::string name : {"../stolen", "a/b", "..\\stolen"}) {
    const std::string path = (folder / "inbox/").string() + name;
    const auto saved = run(save_second(pieces(form(name), 1000), path));
    ASSERT_FALSE(saved) << name;
    EXPECT_NE(saved.error().message().find("safe_filename()"), std::string::npos);
  }
  EXPECT_EQ(entries(folder), 0U);
  EXPECT_TRUE(run(save_second(pieces(form("plain"), 1000), (folder / "plain").string())));
}

TEST(Multipart, LeavesNothingOfAPartThatIsNotWhole) {
  const support::TemporaryDirectory folder;
  folder.write("photo", "as it was");
  const std::string path = (folder / "photo").string();
  const std::string whole = large_file(1_MiB);
  EXPECT_EQ(run(save_second(pieces(whole.substr(0, 600'000), 10'000), path)).error().code(),
            Errc::TruncatedBody);
  EXPECT_EQ(run(save_second(pieces(whole, 10'000), path, 600'000)).error().code(),
            Errc::BodyTooLong);
  EXPECT_EQ(run(save_second(pieces(whole, 10'000), (folder / "no/photo").string())).error().code(),
            Errc::NotFound);
  EXPECT_FALSE(run(save_second(pieces(whole, 10'000), folder.string())));
  EXPECT_EQ(entries(folder), 1U);
  EXPECT_EQ(file_text(folder / "photo"), "as it was");
}

// Drops the task at its n-th wait, for every n.
TEST(Multipart, LeavesAWholeFileOrNoneWhenItsTaskIsDropped) {
  const support::TemporaryDirectory folder;
  const std::string path = (folder / "photo").string();
  for (int turns = 0; turns < 12; ++turns) {
    const auto task = [](std::string target, int wait) -> Task<> {
      Scope scope;
      const auto save = [](std::string to) -> Task<> {
        auto source = pieces(large_file(600'000), 100'000);
        const auto saved = co_await save_second(source, to);
        EXPECT_TRUE(saved);
      };
      scope.spawn(save(target));
      for (int i = 0; i < wait; ++i) co_await yield();
    };
    run(task(path, turns));
    // run() returns after its threads have ended, so after the last write.
    std::error_code none;
    const bool is_whole = std::filesystem::file_size(path, none) == 600'000U;
    EXPECT_EQ(entries(folder), is_whole ? 1U : 0U) << turns;
    std::filesystem::remove(path);
  }
}

TEST(Multipart, ReadsAFormInPieces) {
  const auto form = [](std::string_view type, std::string content, std::size_t size) {
    return run(http::read_form(std::string(type), pieces(std::move(content), size), {}));
  };
  for (const std::size_t size : {1U, 5U, 1000U}) {
    EXPECT_EQ(form(form_type, two_parts, size).value(), Form().add("title", "Holidays"));
    EXPECT_EQ(form("application/x-www-form-urlencoded", "a=1&b=%32", size).value(),
              Form().add("a", "1").add("b", "2"));
    EXPECT_EQ(form("text/plain", "a=1", size).error().code(), Errc::UnsupportedMediaType);
    EXPECT_EQ(form(form_type, "--b", size).error().code(), Errc::TruncatedBody);
  }
}

}  // namespace
}  // namespace skua
