// SPDX-License-Identifier: MIT
// In: an open file. Out: content that keeps it open, or that opens it on demand.
#include "files/file_body.hpp"

#include <algorithm>
#include <cerrno>
#include <span>
#include <utility>

#include "base/file_io.hpp"
#include "skua/async.hpp"
#include "skua/body_writer.hpp"
#include "skua/literals.hpp"

namespace skua::files {
namespace {

constexpr std::uint64_t piece_bytes = 64_KiB;

using ReadAt = Result<std::size_t> (*)(int, std::uint64_t, std::span<char>) noexcept;

// Reads one piece, provided that the file has not changed since its head was sent.
Result<std::string> read_piece(const FilePlace& place, const FileStat& stat, FilePart part,
                               ReadAt read_at) {
  const Result<OpenFile> file = place.open();
  if (!file) return file.error();
  if (file->stat != stat) return Error(Errc::TruncatedBody, "the file was changed");
  std::string piece(static_cast<std::size_t>(part.size_bytes), '\0');
  const Result<std::size_t> count = read_at(file->descriptor.number(), part.offset, piece);
  if (!count) return count.error();
  if (*count < piece.size()) return Error(Errc::TruncatedBody, "the file was changed");
  return piece;
}

struct Source {
  FilePlace place;
  FileStat stat;
  FilePart part;
};

Task<> write_pieces(std::shared_ptr<const Source> source, BodyWriter& writer) {
  FilePart left = source->part;
  while (left.size_bytes != 0) {
    const std::uint64_t size_bytes = std::min(left.size_bytes, piece_bytes);
    const auto read = [source, part = FilePart{left.offset, size_bytes}](ReadAt read_at) {
      return read_piece(source->place, source->stat, part, read_at);
    };
    Result<std::string> piece = read(base::read_resident);
    if (!piece && piece.error().code() == Errc::WouldBlock) {
      const auto call = [read] { return read(base::read_at); };
      try {
        auto reading = offload(call);
        piece = co_await reading;
      } catch (const Exception&) {  // the queue of the pool is full
        piece = Error(Errc::Unsupported);
      }
    }
    if (!piece && piece.error().code() == Errc::Unsupported) piece = read(base::read_at);
    left.offset += size_bytes;
    left.size_bytes -= size_bytes;
    auto written = writer.write(Body(std::move(piece).value()));
    co_await written;
  }
}

}  // namespace

Result<OpenFile> FilePlace::open() const {
  if (root != nullptr) return root->find(path);
  // A pipe without a writer would block.
  Descriptor file(disk::open(path.c_str(), disk::for_reading));
  if (!file) return Error::from_system(errno, "open");
  const Result<FileStat> stat = stat_of(file.number());
  if (!stat) return stat.error();
  return OpenFile{std::move(file), *stat};
}

Body file_body(OpenFile file, FilePlace place, FilePart part) {
  if (auto held = HeldFile::take(file.descriptor, HeldFile::Holder::Response)) {
    expect_file_ranges();
    const int number = held->number();
    return FileRange{std::move(held), number, part.offset, part.size_bytes};
  }
  const auto source = std::make_shared<const Source>(Source{std::move(place), file.stat, part});
  BodyStream stream{.length_bytes = part.size_bytes};
  stream.produce = [source](BodyWriter& writer) { return write_pieces(source, writer); };
  return Body(std::make_shared<const BodyStream>(std::move(stream)));
}

}  // namespace skua::files
