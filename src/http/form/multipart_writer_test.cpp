// SPDX-License-Identifier: MIT
#include "skua/multipart_writer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "http/form/content_disposition.hpp"
#include "http/form/multipart_parser.hpp"
#include "support/temporary_directory.hpp"

namespace skua {
namespace {

// Returns the whole output, read in pieces of this size.
Result<std::string> write(MultipartWriter& writer, std::size_t piece = 4096) {
  std::string out;
  std::string buffer(piece, '\0');
  for (;;) {
    const auto size = writer.read(buffer);
    if (!size) return size.error();
    if (*size == 0) return out;
    out.append(buffer, 0, *size);
  }
}

// Returns the whole output, with B for the boundary.
std::string text_of(MultipartWriter& writer) {
  const http::Boundary boundary = http::parse_boundary(writer.content_type()).value();
  std::string text = write(writer).value();
  for (std::size_t at = 0; (at = text.find(boundary.text(), at)) != text.npos;) {
    text.replace(at, boundary.text().size(), "B");
  }
  return text;
}

// A part that counts down, and may promise a length that it does not have.
class Counting final : public PartSource {
 public:
  Counting(std::size_t size, std::optional<std::uint64_t> promised)
      : left_(size), promised_(promised) {}
  [[nodiscard]] std::optional<std::uint64_t> length() const override { return promised_; }
  Result<std::size_t> read(std::span<char> into) override {
    const std::size_t size = std::min({into.size(), left_, std::size_t{7}});
    std::fill_n(into.begin(), size, 'x');
    left_ -= size;
    return size;
  }

 private:
  std::size_t left_;
  std::optional<std::uint64_t> promised_;
};

TEST(MultipartWriter, WritesAFormAsBrowsersDo) {
  MultipartWriter writer;
  writer.field("a", "one").memory("f\"", "x\r\n.txt", "text/plain; charset=utf-8", "two\r\n");
  EXPECT_EQ(text_of(writer),
            "--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\none"
            "\r\n--B\r\nContent-Disposition: form-data; name=\"f%22\"; filename=\"x%0D%0A.txt\"\r\n"
            "Content-Type: text/plain; charset=utf-8\r\n\r\ntwo\r\n"
            "\r\n--B--\r\n");
}

TEST(MultipartWriter, WritesRelatedTexts) {
  MultipartWriter writer(MultipartKind::Related);
  writer.memory("root@a", "", "application/json; charset=utf-8", "{}");
  writer.part("", std::make_unique<Counting>(3, 3));
  EXPECT_TRUE(writer.content_type().starts_with(
      "multipart/related; type=\"application/json\"; boundary=skua-"));
  EXPECT_EQ(text_of(writer),
            "--B\r\nContent-Type: application/json; charset=utf-8\r\nContent-ID: <root@a>\r\n\r\n{}"
            "\r\n--B\r\n\r\nxxx\r\n--B--\r\n");
}

TEST(MultipartWriter, WritesNoPartAtAll) {
  MultipartWriter writer;
  EXPECT_EQ(text_of(writer), "--B--\r\n");
  std::string more(9, '\0');
  EXPECT_EQ(writer.read(more).value(), 0U);
}

TEST(MultipartWriter, KnowsItsLengthWithoutReading) {
  const support::TemporaryDirectory folder;
  folder.write("a.bin", std::string(100'000, 'a'));
  for (const std::size_t piece : {1UL, 2UL, 63UL, 4096UL, 1UL << 20U}) {
    MultipartWriter writer;
    writer.field("a", "one").memory("b", "b", "text/plain", "").field("", "");
    ASSERT_TRUE(writer.file("c", (folder / "a.bin").string()));
    writer.part("d", std::make_unique<Counting>(20, 20));
    const auto length = writer.length_bytes();
    ASSERT_TRUE(length);
    EXPECT_EQ(write(writer, piece).value().size(), *length);
  }
  MultipartWriter endless;
  endless.part("d", std::make_unique<Counting>(20, std::nullopt));
  EXPECT_EQ(endless.length_bytes(), std::nullopt);
  EXPECT_TRUE(text_of(endless).ends_with(std::string(20, 'x') + "\r\n--B--\r\n"));
}

TEST(MultipartWriter, IsReadBackByTheParser) {
  const support::TemporaryDirectory folder;
  folder.write("d/a b.bin", "file\r\n--\r\n");
  MultipartWriter writer;
  writer.field("a\r\n", "one").memory("b\\", "\\", "text/plain", std::string(5000, '\r'));
  ASSERT_TRUE(writer.file("c", (folder / "d/a b.bin").string()));
  const auto boundary = http::parse_boundary(writer.content_type());
  const std::string content = write(writer, 100).value();
  http::MultipartParser parser(*boundary);
  std::string_view input = content;
  std::vector<std::string> seen;
  for (http::MultipartParser::Step step; step.status != http::MultipartStatus::Done;) {
    step = parser.step(input);
    input.remove_prefix(step.consumed_bytes);
    ASSERT_NE(step.status, http::MultipartStatus::Failed);
    if (!step.data.empty()) seen.back() += step.data;
    if (step.status != http::MultipartStatus::Part) continue;
    const auto disposition =
        http::parse_content_disposition(*parser.find("content-disposition")).value();
    seen.push_back(*disposition.name + "|" + disposition.filename.value_or("-") + "|");
  }
  EXPECT_TRUE(input.empty());
  EXPECT_EQ(seen, (std::vector<std::string>{"a%0D%0A|-|one", "b\\|\\|" + std::string(5000, '\r'),
                                            "c|a b.bin|file\r\n--\r\n"}));
}

TEST(MultipartWriter, RefusesAPartThatDoesNotKeepToItsLength) {
  for (const auto& [size, promised, error] :
       {std::tuple{9UL, 10UL, Errc::TruncatedBody}, std::tuple{11UL, 10UL, Errc::BodyTooLong},
        std::tuple{0UL, 1UL, Errc::TruncatedBody}, std::tuple{1UL, 0UL, Errc::BodyTooLong}}) {
    MultipartWriter writer;
    writer.part("a", std::make_unique<Counting>(size, promised)).field("b", "never sent");
    EXPECT_EQ(write(writer, 5).error().code(), error);
    EXPECT_EQ(write(writer).error().code(), error);
  }
}

TEST(MultipartWriter, RefusesAFileThatChangedItsSizeOrIsGone) {
  const support::TemporaryDirectory folder;
  const std::string path = (folder / "a").string();
  const auto outcome = [&](auto change) {
    folder.write("a", "ten bytes.");
    MultipartWriter writer;
    EXPECT_TRUE(writer.file("f", path));
    change();
    return write(writer).error().code();
  };
  EXPECT_EQ(outcome([&] { folder.write("a", "nine byte"); }), Errc::TruncatedBody);
  EXPECT_EQ(outcome([&] { folder.write("a", "eleven byte"); }), Errc::BodyTooLong);
  EXPECT_EQ(outcome([&] { std::filesystem::remove(path); }), Errc::NotFound);
  EXPECT_EQ(outcome([&] {
              std::filesystem::remove(path);
              std::filesystem::create_directory(path);
            }),
            Errc::Unsupported);
}

TEST(MultipartWriter, LooksAtAFileWhenItIsAdded) {
  const support::TemporaryDirectory folder;
  MultipartWriter writer;
  EXPECT_EQ(writer.file("f", (folder / "none").string()).error().code(), Errc::NotFound);
  EXPECT_EQ(writer.file("f", folder.string()).error().code(), Errc::Unsupported);
  EXPECT_EQ(text_of(writer), "--B--\r\n");
}

TEST(MultipartWriter, RefusesWhatIsSetUpWrongly) {
  MultipartWriter form;
  EXPECT_THROW(form.memory("a", "b", "text", ""), std::invalid_argument);
  EXPECT_THROW(form.memory("a", "b", "text/plain\r\nX: 1", ""), std::invalid_argument);
  EXPECT_THROW(form.memory("a", "b", "text/plain; a=\"\n\"", ""), std::invalid_argument);
  EXPECT_THROW(form.part("a", nullptr), std::invalid_argument);
  MultipartWriter related(MultipartKind::Related);
  EXPECT_THROW(related.field("a>\r\n", ""), std::invalid_argument);
  EXPECT_THROW(related.field("a b", ""), std::invalid_argument);
  EXPECT_TRUE(write(form));
  EXPECT_THROW(form.field("late", ""), std::invalid_argument);
}

TEST(MultipartWriter, SaysHowFarItGot) {
  MultipartWriter writer;
  std::vector<std::uint64_t> told;
  writer.field("a", "one").on_progress([&](std::uint64_t done, std::optional<std::uint64_t> total) {
    EXPECT_EQ(total, writer.length_bytes());
    told.push_back(done);
  });
  const std::size_t size = write(writer, 50).value().size();
  EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
  EXPECT_EQ(told.size(), (size + 49) / 50);
  EXPECT_EQ(told.back(), size);
}

TEST(MultipartWriter, MayBeMovedWhileItIsRead) {
  MultipartWriter writer;
  writer.field("a", "one");
  const std::string expected_end = "one\r\n--";
  std::string start(40, '\0');
  ASSERT_EQ(writer.read(start).value(), start.size());
  MultipartWriter moved = std::move(writer);
  EXPECT_NE((start + write(moved).value()).find(expected_end), std::string::npos);
}

}  // namespace
}  // namespace skua
