// SPDX-License-Identifier: MIT
// The public face of multipart content: parts, their texts and files. A file is written on another
// thread, from memory that this thread owns no more: if the task that waits is dropped meanwhile,
// the write ends in peace, and the file goes with the last who holds it.
#include "skua/multipart.hpp"

#include <algorithm>
#include <utility>

#include "http/multipart_reader.hpp"
#include "http/saved_file.hpp"
#include "skua/async.hpp"

namespace skua {
namespace {

// What goes to the disk at a time: large enough that the way to another thread costs little.
constexpr std::size_t batch_bytes = 256_KiB;

struct Upload {
  explicit Upload(std::string path) noexcept : file(std::move(path)) {}

  http::SavedFile file;
  std::string batch;
};

// Writes the batch, and gives the file its name when it was the last one.
Task<Result<void>> flush(std::shared_ptr<Upload> upload, bool is_last) {
  auto write = [upload, is_last]() -> Result<void> {
    if (auto written = upload->file.write(upload->batch); !written) return written;
    upload->batch.clear();
    return is_last ? upload->file.commit() : Result<void>();
  };
  try {
    auto call = offload(write);
    const Result<void> written = co_await call;
    co_return written;
  } catch (const Exception& error) {
    co_return error.error();
  }
}

Task<Result<std::string>> read_text(http::MultipartReader& reader, std::size_t limit_bytes) {
  std::string text;
  for (;;) {
    const auto read = co_await reader.read();
    if (!read) co_return read.error();
    const std::optional<Bytes>& piece = *read;
    if (!piece) co_return text;
    if (piece->size() > limit_bytes - text.size()) co_return Error(Errc::BodyTooLong, "part");
    text += skua::text(*piece);
  }
}

Task<Result<std::uint64_t>> save_to(http::MultipartReader& reader, std::string path,
                                    std::uint64_t limit_bytes) {
  // Shared with the thread that writes, which may outlive this task.
  const auto upload = std::make_shared<Upload>(std::move(path));
  std::uint64_t total_bytes = 0;
  for (bool is_last = false; !is_last;) {
    const auto read = co_await reader.read();
    if (!read) co_return read.error();
    const std::optional<Bytes>& piece = *read;
    is_last = !piece;
    const std::string_view text = piece ? skua::text(*piece) : std::string_view();
    if (text.size() > limit_bytes - total_bytes) co_return Error(Errc::BodyTooLong, "part");
    total_bytes += text.size();
    upload->batch += text;
    if (!is_last && upload->batch.size() < batch_bytes) continue;
    const auto written = co_await flush(upload, is_last);
    if (!written) co_return written.error();
  }
  co_return total_bytes;
}

}  // namespace

std::string_view Part::name() const noexcept {
  const auto& name = reader_->disposition().name;
  return name ? std::string_view(*name) : std::string_view();
}

std::optional<std::string_view> Part::filename() const noexcept {
  return reader_->disposition().filename;
}

std::string Part::safe_filename() const { return http::safe_filename(filename().value_or("")); }

std::string_view Part::content_type() const noexcept {
  return header("content-type").value_or(std::string_view());
}

std::optional<std::string_view> Part::header(std::string_view name) const noexcept {
  return reader_->find(name);
}

Task<Result<std::optional<Bytes>>> Part::read() { return reader_->read(); }

Task<Result<std::string>> Part::text(std::size_t limit_bytes) {
  return read_text(*reader_, limit_bytes);
}

Task<Result<std::uint64_t>> Part::save(std::string path, std::uint64_t limit_bytes) {
  return save_to(*reader_, std::move(path), limit_bytes);
}

Multipart::Multipart(std::string_view content_type, Source source, const MultipartLimits& limits)
    : reader_(std::make_unique<http::MultipartReader>(content_type, std::move(source), limits)) {}
Multipart::Multipart(Multipart&&) noexcept = default;
Multipart& Multipart::operator=(Multipart&&) noexcept = default;
Multipart::~Multipart() = default;

namespace {

Task<Result<std::optional<Part>>> next_part(http::MultipartReader& reader, Part part) {
  const auto is_there = co_await reader.next();
  if (!is_there) co_return is_there.error();
  co_return *is_there ? std::optional<Part>(part) : std::nullopt;
}

}  // namespace

Task<Result<std::optional<Part>>> Multipart::next() { return next_part(*reader_, Part(*reader_)); }

}  // namespace skua
