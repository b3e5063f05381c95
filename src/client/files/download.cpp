// SPDX-License-Identifier: MIT
// In: a request. Out: a file. If an earlier part exists, asks the server for the rest on condition
// that the content is unchanged: it then answers 206, otherwise 200 with all of it.
#include "client/files/download.hpp"

#include <chrono>
#include <memory>
#include <utility>

#include "base/http_date.hpp"
#include "client/fetch.hpp"
#include "client/files/partial_content.hpp"
#include "client/files/resumable_file.hpp"
#include "client/problem.hpp"
#include "client/request_spec.hpp"
#include "client/waiting.hpp"
#include "files/save.hpp"

namespace skua::client {
namespace {

std::optional<std::string_view> value_of(const http::Head& head, http::FieldName name) noexcept {
  const http::FieldLine* const line = head.find(name);
  if (line == nullptr) return std::nullopt;
  return head.value(*line);
}

ContentRange content_range(const http::Head& head) noexcept {
  const auto field = value_of(head, http::FieldName::ContentRange);
  return parse_content_range(field.value_or("")).value_or(ContentRange());
}

Validators validators_of(const http::Head& head) noexcept {
  return {.etag = value_of(head, http::FieldName::Etag),
          .last_modified = value_of(head, http::FieldName::LastModified),
          .date = value_of(head, http::FieldName::Date)};
}

/// Returns the Last-Modified time if it is a strong validator. RFC 9110 §8.8.2.2
std::optional<std::chrono::sys_seconds> modified_of(const http::Head& head) {
  Validators validators = validators_of(head);
  validators.etag.reset();
  return parse_http_date(strong_validator(validators), wall_time());
}

class Download final {
 public:
  Download(std::shared_ptr<Core> core, RequestSpec spec, std::string path, DownloadOptions options)
      : core_(std::move(core)),
        spec_(std::move(spec)),
        path_(std::move(path)),
        options_(options),
        file_(std::make_shared<ResumableFile>(
            path_, ResumableFile::Options{.keeps_part = options.resume})) {
    spec_.decompress = false;  // a range of coded content is not a range of the file
  }

  Task<Result<Downloaded, Problem>> run();

 private:
  template <class F>
  Task<Result<void, Problem>> on_disk(F work);
  Task<Result<IncomingResponsePointer, Problem>> ask(bool for_rest);
  [[nodiscard]] Verdict judge(const IncomingResponse& incoming, bool for_rest) const noexcept;
  Task<Result<Downloaded, Problem>> write(IncomingResponse& incoming);
  Task<Result<Downloaded, Problem>> finish();
  [[nodiscard]] Downloaded all_there() const noexcept;

  const std::shared_ptr<Core> core_;
  RequestSpec spec_;
  const std::string path_;
  const DownloadOptions options_;
  const std::shared_ptr<ResumableFile> file_;  // calls on another thread may outlive this
  std::uint64_t resumed_bytes_ = 0;
};

template <class F>
Task<Result<void, Problem>> Download::on_disk(F work) {
  const Result<void> done = co_await off_loop(work);
  if (done) co_return {};
  co_return could_not("write '" + path_ + "'", done.error());
}

Task<Result<IncomingResponsePointer, Problem>> Download::ask(bool for_rest) {
  auto spec = std::make_unique<RequestSpec>(spec_);
  if (for_rest) {
    spec->fields.set("Range", "bytes=" + std::to_string(file_->size_bytes()) + "-");
    spec->fields.set("If-Range", file_->origin().validator);
  }
  Result<IncomingResponsePointer, Problem> got = co_await fetch(core_, std::move(spec));
  co_return got;
}

Task<Result<Downloaded, Problem>> Download::finish() {
  const auto keep = [file = file_] { return file->keep(); };
  Result<void, Problem> kept = co_await on_disk(keep);
  if (!kept) co_return std::move(kept).error();
  co_return all_there();
}

Downloaded Download::all_there() const noexcept {
  Downloaded downloaded;
  downloaded.size_bytes = file_->size_bytes();
  downloaded.resumed_bytes = resumed_bytes_;
  return downloaded;
}

Task<Result<Downloaded, Problem>> Download::write(IncomingResponse& incoming) {
  Result<void, Problem> done;
  std::optional<std::uint64_t> total_bytes;
  if (incoming.status() == Status::PartialContent) {
    total_bytes = content_range(incoming.head()).total;
    resumed_bytes_ = file_->size_bytes();
    incoming.count_from(resumed_bytes_);
    file_->append();
  } else {
    PartOrigin origin{.url = origin_url(incoming.url()),
                      .validator = strong_validator(validators_of(incoming.head())),
                      .total_bytes = incoming.length_bytes()};
    const auto start = [file = file_, origin = std::move(origin)] { return file->start(origin); };
    done = co_await on_disk(start);
  }
  if (!done) co_return std::move(done).error();
  if (const auto modified = modified_of(incoming.head())) file_->set_modified(*modified);
  const auto write = [file = file_](const std::string& piece) { return file->write(piece); };
  // NOLINTNEXTLINE(misc-const-correctness): it is moved from
  Task<Result<std::uint64_t, Problem>> writing = write_content(incoming, path_, write);
  const Result<std::uint64_t, Problem> written = co_await std::move(writing);
  if (!written) {
    const auto give_up = [file = file_]() -> Result<void> {
      file->give_up();
      return {};
    };
    static_cast<void>(co_await off_loop(give_up));
    co_return written.error();
  }
  // A server may send less than was requested. RFC 9110 §14.2
  if (total_bytes && *total_bytes != file_->size_bytes()) {
    co_return could_not(incoming.step(), Errc::TruncatedBody);
  }
  Result<Downloaded, Problem> finished = co_await finish();
  co_return finished;
}

Verdict Download::judge(const IncomingResponse& incoming, bool for_rest) const noexcept {
  const KnownPart part{.size_bytes = file_->size_bytes(),
                       .validator = file_->origin().validator,
                       .total_bytes = file_->origin().total_bytes,
                       .is_all = file_->found() == ResumableFile::Found::Whole};
  return client::judge({.status = incoming.head().status,
                        .range = content_range(incoming.head()),
                        .validators = validators_of(incoming.head())},
                       for_rest ? &part : nullptr);
}

Task<Result<Downloaded, Problem>> Download::run() {
  const auto look = [file = file_] { return file->look({}); };
  Result<void, Problem> done;
  // Content that can be sent only once leaves no second try if the part turns out to be useless.
  if (options_.resume && is_repeatable(spec_)) done = co_await on_disk(look);
  if (!done) co_return std::move(done).error();
  bool for_rest = file_->found() != ResumableFile::Found::Nothing;
  Result<IncomingResponsePointer, Problem> got = co_await ask(for_rest);
  if (!got) co_return got.error();
  Verdict verdict = judge(**got, for_rest);
  if (verdict == Verdict::Again) {
    co_await (*got)->discard();
    for_rest = false;
    got = co_await ask(for_rest);
    if (!got) co_return got.error();
    verdict = judge(**got, for_rest);
  }
  if (verdict == Verdict::Refuse) co_return (*got)->unexpected_status();
  if (verdict == Verdict::Whole) {
    co_await (*got)->discard();
    resumed_bytes_ = file_->size_bytes();
    if (file_->found() == ResumableFile::Found::Whole) co_return all_there();
    file_->append();
    Result<Downloaded, Problem> finished = co_await finish();
    co_return finished;
  }
  Result<Downloaded, Problem> written = co_await write(**got);
  co_return written;
}

}  // namespace

Task<Result<Downloaded, Problem>> download(std::shared_ptr<Core> core,
                                           std::unique_ptr<RequestSpec> spec, std::string path,
                                           DownloadOptions options) {
  Download download(std::move(core), std::move(*spec), std::move(path), options);
  Result<Downloaded, Problem> downloaded = co_await download.run();
  co_return downloaded;
}

// In: content. Out: a file, written off the loop and put in its place only when it is complete.

namespace {

constexpr std::size_t batch_bytes = 256 * 1024;  // each costs a change of threads

Problem could_not_write(const std::string& path, Error error) {
  return could_not("write '" + path + "'", error);
}

/// Fills the batch. Returns false at the end of the content.
Task<Result<bool, Problem>> fill(IncomingResponse& incoming, std::string& batch) {
  batch.clear();
  while (batch.size() < batch_bytes) {
    Result<std::optional<Bytes>, Problem> piece = co_await incoming.read();
    if (!piece) co_return piece.error();
    const std::optional<Bytes>& bytes = *piece;
    if (!bytes) co_return !batch.empty();
    batch.append(text(*bytes));
  }
  co_return true;
}

}  // namespace

Task<Result<std::uint64_t, Problem>> write_content(
    IncomingResponse& incoming, std::string path,
    std::function<Result<void>(const std::string&)> write) {
  const auto batch = std::make_shared<std::string>();
  const auto write_batch = [batch, write = std::move(write)] { return write(*batch); };
  std::uint64_t size_bytes = 0;
  while (true) {
    Result<bool, Problem> filled = co_await fill(incoming, *batch);
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

Task<Result<std::uint64_t, Problem>> save(IncomingResponse& incoming, std::string path) {
  const auto file = std::make_shared<files::PartialFile>();
  const auto create = [file, path] { return file->create(path); };
  const Result<void> created = co_await off_loop(create);
  if (!created) co_return could_not_write(path, created.error());
  const auto write = [file](const std::string& piece) { return file->write(piece); };
  // NOLINTNEXTLINE(misc-const-correctness): it is moved from
  Task<Result<std::uint64_t, Problem>> writing = write_content(incoming, path, write);
  Result<std::uint64_t, Problem> size_bytes = co_await std::move(writing);
  if (!size_bytes) co_return size_bytes.error();
  const auto keep = [file, path] { return file->keep_as(path); };
  const Result<void> kept = co_await off_loop(keep);
  if (!kept) co_return could_not_write(path, kept.error());
  co_return size_bytes;
}

}  // namespace skua::client
