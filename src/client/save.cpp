// SPDX-License-Identifier: MIT
// In: content. Out: a file, written off the loop and put in its place only when it is complete.
#include "client/save.hpp"

#include <memory>
#include <utility>

#include "client/off_loop.hpp"
#include "client/problem.hpp"
#include "files/partial_file.hpp"

namespace skua::client {
namespace {

constexpr std::size_t batch_bytes = 256 * 1024;  // each costs a change of threads

Problem could_not_write(const std::string& path, Error error) {
  return could_not("write '" + path + "'", error);
}

/// Fills the batch. Returns false at the end of the content.
Task<Result<bool, Problem>> fill(Reception& reception, std::string& batch) {
  batch.clear();
  while (batch.size() < batch_bytes) {
    Result<std::optional<Bytes>, Problem> piece = co_await reception.read();
    if (!piece) co_return piece.error();
    const std::optional<Bytes>& bytes = *piece;
    if (!bytes) co_return !batch.empty();
    batch.append(text(*bytes));
  }
  co_return true;
}

}  // namespace

Task<Result<std::uint64_t, Problem>> write_content(
    Reception& reception, std::string path, std::function<Result<void>(const std::string&)> write) {
  const auto batch = std::make_shared<std::string>();
  const auto write_batch = [batch, write = std::move(write)] { return write(*batch); };
  std::uint64_t size_bytes = 0;
  while (true) {
    Result<bool, Problem> filled = co_await fill(reception, *batch);
    // Data that has arrived is written even if the content has failed.
    if (!batch->empty()) {
      const Result<void> written = co_await off_loop(write_batch);
      if (!written) co_return could_not_write(path, written.error());
      size_bytes += batch->size();
    }
    if (!filled) co_return filled.error();
    if (!*filled) co_return size_bytes;
  }
}

Task<Result<std::uint64_t, Problem>> save(Reception& reception, std::string path) {
  const auto file = std::make_shared<files::PartialFile>();
  const auto create = [file, path] { return file->create(path); };
  const Result<void> created = co_await off_loop(create);
  if (!created) co_return could_not_write(path, created.error());
  const auto write = [file](const std::string& piece) { return file->write(piece); };
  // NOLINTNEXTLINE(misc-const-correctness): it is moved from
  Task<Result<std::uint64_t, Problem>> writing = write_content(reception, path, write);
  Result<std::uint64_t, Problem> size_bytes = co_await std::move(writing);
  if (!size_bytes) co_return size_bytes.error();
  const auto keep = [file, path] { return file->keep_as(path); };
  const Result<void> kept = co_await off_loop(keep);
  if (!kept) co_return could_not_write(path, kept.error());
  co_return size_bytes;
}

}  // namespace skua::client
