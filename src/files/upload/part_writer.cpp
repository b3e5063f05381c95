// SPDX-License-Identifier: MIT
// In: pieces of a resumable upload. Out: a part on the disk that grows with each request, until it
// gets the name of the file.
#include "files/upload/part_writer.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "async/destroy_off_loop.hpp"
#include "base/file_io.hpp"
#include "h1/head_parser.hpp"
#include "http/message/request_parts.hpp"

namespace skua::files {
namespace {

constexpr const char* no_upload = "there is no such upload";

// A request that has nothing but the preconditions of the one that began an upload.
class KeptConditions {
 public:
  explicit KeptConditions(const std::string& lines)
      : text_("PUT / HTTP/1.1\r\n" + lines + "\r\n"),
        parser_(h1::HeadKind::Request, {}, lines_),
        is_valid_(parser_.parse(text_) == h1::ParseStatus::Complete) {
    parts_.head = &parser_.head();
  }
  KeptConditions(const KeptConditions&) = delete;
  KeptConditions& operator=(const KeptConditions&) = delete;

  [[nodiscard]] bool is_valid() const noexcept { return is_valid_; }
  [[nodiscard]] const Request& request() const noexcept { return request_; }

 private:
  std::string text_;
  std::array<http::FieldLine, 16> lines_;
  h1::HeadParser parser_;
  bool is_valid_;
  http::RequestParts parts_;
  Request request_{parts_};
};

std::optional<PartState> read_state(const Folder& folder, const std::string& token) {
  const std::string name = std::string(unfinished_prefix).append(token).append(state_suffix);
  const disk::Descriptor file(folder.open(name, disk::for_reading));
  if (!file) return std::nullopt;
  std::string text(max_state_bytes, '\0');
  const auto count = base::read_at(file.number(), 0, text);
  if (!count) return std::nullopt;
  text.resize(*count);
  return parse_state(text);
}

// Removes the parts of this folder that have expired.
void expire(const UploadSite& site) {
  for (const auto& [token, path] : site.unfinished().idle()) {
    Result<OpenFile> opened = site.root().find(path);
    if (!opened) {
      site.unfinished().remove(token);
      continue;
    }
    const Folder folder(std::move(opened->descriptor));
    const Result<FileStat> part = folder.stat(std::string(unfinished_prefix) + token);
    if (part && !is_expired(*part, site.options().keep_unfinished)) continue;
    if (remove_part(folder, token)) site.unfinished().remove(token);
  }
}

/// Leaves an upload, which may take a while. The folder keeps the writer until then, so that a
/// request that takes over waits for it.
class Leaving {
 public:
  Leaving(std::shared_ptr<const UploadSite> site, std::shared_ptr<PartWriter> writer) noexcept
      : site_(std::move(site)), writer_(std::move(writer)) {}
  Leaving(const Leaving&) = delete;
  Leaving& operator=(const Leaving&) = delete;
  ~Leaving() {
    writer_->leave();
    site_->unfinished().drop_writer(*writer_);
  }

 private:
  std::shared_ptr<const UploadSite> site_;
  std::shared_ptr<PartWriter> writer_;
};

// Returns the writer of a request, which leaves the upload when the request lets go of it.
std::shared_ptr<PartWriter> begin_writing(const std::shared_ptr<const UploadSite>& site,
                                          std::unique_ptr<UploadFile> file, std::string folder,
                                          PartState state, std::uint64_t size_bytes) {
  const auto writer = std::make_shared<PartWriter>(site, std::move(file), std::move(folder),
                                                   std::move(state), size_bytes);
  std::shared_ptr<PartWriter> held(writer.get(), [leaving = std::make_shared<Leaving>(
                                                      site, writer)](PartWriter* /*left*/) mutable {
    async::destroy_off_loop(std::move(leaving));
  });
  site->unfinished().exchange_writer(writer->token(), writer);
  return held;
}

}  // namespace

PartWriter::PartWriter(std::shared_ptr<const UploadSite> site, std::unique_ptr<UploadFile> file,
                       std::string folder, PartState state, std::uint64_t size_bytes)
    : site_(std::move(site)),
      file_(std::move(file)),
      token_(file_->token()),
      folder_(std::move(folder)),
      state_(std::move(state)),
      begin_bytes_(size_bytes) {}

PartWriter::~PartWriter() { leave(); }

std::uint64_t PartWriter::most_bytes() const noexcept {
  return std::min(state_.length_bytes.value_or(site_->options().max_bytes),
                  site_->options().max_bytes);
}

bool PartWriter::reserve(std::uint64_t size_bytes) {
  if (state_.length_bytes || size_bytes <= reserved_bytes_) return true;
  const std::uint64_t most = most_bytes();
  const std::uint64_t wanted = std::min(most, size_bytes + std::min(reserved_step_bytes, most));
  if (!site_->unfinished().reserve(token_, wanted, site_->options())) return false;
  reserved_bytes_ = wanted;
  return true;
}

std::size_t PartWriter::add(Bytes piece) {
  const std::lock_guard lock(content_mutex_);
  content_.append(text(piece));
  return content_.size();
}

std::string PartWriter::take_content() {
  const std::lock_guard lock(content_mutex_);
  return std::exchange(content_, {});
}

Result<void> PartWriter::flush_locked() {
  if (file_ == nullptr) return Error(Errc::Cancelled, "upload");
  Result<void> written = file_->write(take_content());
  if (!written) remove_locked();  // a full disk is not kept full by parts
  return written;
}

Result<void> PartWriter::flush() {
  const std::lock_guard lock(mutex_);
  return flush_locked();
}

Result<void> PartWriter::keep() {
  const std::lock_guard lock(mutex_);
  if (auto flushed = flush_locked(); !flushed) return flushed;
  Result<void> kept = file_->keep();
  if (!kept) remove_locked();
  return kept;
}

void PartWriter::leave() noexcept {
  const std::lock_guard lock(mutex_);
  if (file_ == nullptr) return;
  // As much as possible; whatever fails, the size of the file says how far it got.
  const std::string rest = take_content();
  if (!rest.empty()) static_cast<void>(file_->write(rest));
  file_->leave();
  file_.reset();
}

void PartWriter::remove_locked() {
  file_.reset();
  site_->unfinished().remove(token_);
}

void PartWriter::remove() {
  const std::lock_guard lock(mutex_);
  if (file_ != nullptr) remove_locked();
}

UploadResult PartWriter::commit() {
  const auto turn = site_->unfinished().lock(token_);
  const std::lock_guard lock(mutex_);
  if (file_ == nullptr) {
    return {.status = Status::Conflict, .reason = "another request goes on with the upload"};
  }
  const Result<FileStat> stat = file_->stat();
  UploadResult result = file_->commit();
  remove_locked();
  if (result.reason.empty() && stat) {
    site_->unfinished().finish(
        {.token = token_, .owner = state_.owner, .size_bytes = stat->size_bytes});
  }
  return result;
}

Result<void> PartWriter::set_length(std::uint64_t length_bytes) {
  const std::lock_guard lock(mutex_);
  if (file_ == nullptr) return Error(Errc::Cancelled, "upload");
  if (!site_->unfinished().reserve(token_, length_bytes, site_->options())) {
    return Error(Errc::SystemFailure, "upload", ENOSPC);
  }
  state_.length_bytes = length_bytes;
  return file_->keep_state(state_);
}

PartAccess begin_part(const std::shared_ptr<const UploadSite>& site, const std::string& path,
                      const PartState& state, std::shared_ptr<const Request> conditions,
                      const std::string& client) {
  expire(*site);
  auto file = std::make_unique<UploadFile>(site, path, std::move(conditions));
  if (auto refused = file->begin_part(state)) return {.refused = std::move(refused)};
  const std::string folder = path.substr(0, path.rfind('/') + 1);
  UploadClaim claim{.folder = folder, .length_bytes = state.length_bytes, .client = client};
  if (!site->unfinished().add(file->token(), std::move(claim), site->options())) {
    return {.refused = UploadResult{Status::InsufficientStorage, "too many unfinished uploads"}};
  }
  return {.writer = begin_writing(site, std::move(file), folder, state, 0)};
}

PartAccess resume_part(const std::shared_ptr<const UploadSite>& site, const std::string& folder,
                       const std::string& token, const std::string& owner) {
  const auto turn = site->unfinished().lock(token);
  const auto missing = [] {
    return PartAccess{.refused = UploadResult{Status::NotFound, no_upload}};
  };
  Result<OpenFile> opened = site->root().find(folder);
  if (!opened || !folder.ends_with('/')) return missing();
  const auto state = read_state(Folder(std::move(opened->descriptor)), token);
  if (!state || (!state->owner.empty() && state->owner != owner)) return missing();
  const auto conditions = std::make_shared<const KeptConditions>(state->conditions);
  if (!conditions->is_valid()) return missing();
  if (const auto before = site->unfinished().exchange_writer(token, nullptr)) before->leave();
  auto file = std::make_unique<UploadFile>(
      site, folder + state->name,
      std::shared_ptr<const Request>(conditions, &conditions->request()));
  // Another process has begun it, for a client that is not known here: nobody may have checked the
  // name of its owner.
  UploadClaim claim{.folder = folder, .length_bytes = state->length_bytes};
  site->unfinished().adopt(token, std::move(claim), site->options());
  if (auto refused = file->resume_part(token)) return {.refused = std::move(refused)};
  const Result<FileStat> stat = file->stat();
  if (!stat) {
    file->leave();
    return {.refused = failed(stat.error())};
  }
  if (is_expired(*stat, site->options().keep_unfinished)) {
    site->unfinished().remove(token);
    return missing();  // the file's destructor removes it
  }
  return {.writer = begin_writing(site, std::move(file), folder, *state, stat->size_bytes)};
}

}  // namespace skua::files
