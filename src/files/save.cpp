// SPDX-License-Identifier: MIT
// The content of a request into a file, which has its name only when it is whole.
#include "files/save.hpp"

#include <optional>
#include <string>

#include "skua/request.hpp"

namespace skua {
namespace files {

Task<Result<void>> FileSaver::begin() {
  const auto create = [file = file_, path = path_] { return file->create(*path); };
  return offload(create);
}

Task<Result<void>> FileSaver::write(Bytes piece) {
  size_bytes_ += piece.size();
  const auto put = [file = file_, text = std::make_shared<const std::string>(text(piece))] {
    return file->write(*text);
  };
  return offload(put);
}

Task<Result<std::uint64_t>> FileSaver::end() {
  const auto keep = [file = file_, path = path_, size_bytes = size_bytes_] {
    const Result<void> kept = file->keep_as(*path);
    return kept ? Result<std::uint64_t>(size_bytes) : Result<std::uint64_t>(kept.error());
  };
  return offload(keep);
}

}  // namespace files

Task<Result<std::uint64_t>> Request::save(std::string path) {
  files::FileSaver saver(std::move(path));
  const Result<void> begun = co_await saver.begin();
  if (!begun) co_return begun.error();
  while (true) {
    const std::optional<Bytes> piece = co_await read();
    if (!piece) break;
    const Result<void> written = co_await saver.write(*piece);
    if (!written) co_return written.error();
  }
  Result<std::uint64_t> saved = co_await saver.end();
  co_return saved;
}

}  // namespace skua
