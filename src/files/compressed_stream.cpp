// SPDX-License-Identifier: MIT
// In: an open file. Out: its content in a content coding, piece by piece. Reading waits for the
// disk and compressing takes long, so other threads do both.
#include "files/compressed_stream.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "base/file_io.hpp"
#include "files/cache/file_cache.hpp"
#include "files/offloaded.hpp"
#include "skua/body_writer.hpp"

namespace skua::files {
namespace {

constexpr std::size_t chunk_bytes = 256_KiB;

std::atomic<int> stream_count{0};

// One of the few streams that there may be.
class Place {
 public:
  Place() noexcept : is_taken_(stream_count.fetch_add(1) < compressed_streams_at_most) {}
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  ~Place() { stream_count.fetch_sub(1); }

  [[nodiscard]] bool is_taken() const noexcept { return is_taken_; }

 private:
  bool is_taken_;
};

class Compressing {
 public:
  Compressing(std::unique_ptr<Place> place, coding::Encoder encoder, FoundFile& found)
      : place_(std::move(place)),
        encoder_(std::move(encoder)),
        size_bytes_(found.stat().size_bytes) {
    if (found.kept != nullptr) {
      kept_ = found.kept->file;
    } else {
      own_ = std::move(found.file.descriptor);
    }
  }

  [[nodiscard]] bool is_done() const noexcept { return offset_ == size_bytes_; }
  // Returns the next piece, which may be empty.
  std::string next() {
    const auto size =
        static_cast<std::size_t>(std::min<std::uint64_t>(chunk_bytes, size_bytes_ - offset_));
    plain_.resize(size);
    const int file = kept_ != nullptr ? kept_->number() : own_.number();
    const Result<std::size_t> count = base::read_at(file, offset_, std::span(plain_));
    if (!count) throw Exception(count.error());
    if (*count != size) throw Exception(Error(Errc::TruncatedBody, "the file has shrunk"));
    offset_ += size;
    std::string coded;
    const Result<void> encoded =
        is_done() ? encoder_.finish(plain_, coded) : encoder_.push(plain_, coded);
    if (!encoded) throw Exception(encoded.error());
    return coded;
  }

 private:
  std::unique_ptr<Place> place_;
  coding::Encoder encoder_;
  std::shared_ptr<const HeldFile> kept_;
  Descriptor own_;  // if it is not kept open
  std::uint64_t size_bytes_;
  std::uint64_t offset_ = 0;
  std::string plain_;
};

}  // namespace

std::optional<Response> compressed_stream(std::string_view path, FoundFile& file,
                                          const FileFields& fields, coding::Coding coding,
                                          WallTime now) {
  const FileHead plain =
      file.kept != nullptr ? file.kept->head : describe(path, file.stat(), now, fields);
  if (!is_worth_coding(plain.type, file.stat().size_bytes)) return std::nullopt;
  auto place = std::make_unique<Place>();
  if (!place->is_taken()) return std::nullopt;
  Result<coding::Encoder> encoder = coding::Encoder::create(coding, coding::levels(coding).usual);
  if (!encoder) return std::nullopt;
  const auto work = std::make_shared<Compressing>(std::move(place), *std::move(encoder), file);
  const FileHead head = coded_head(plain, coding);
  Response response = Response::stream(
      head.type, [work](BodyWriter& writer) { return write_offloaded(work, writer); });
  response.header("Content-Encoding", head.coding);
  response.header("X-Content-Type-Options", "nosniff");
  add_validators(response, head, fields.cache_control);
  return response;
}

}  // namespace skua::files
