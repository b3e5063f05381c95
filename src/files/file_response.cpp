// SPDX-License-Identifier: MIT
// In: a request's preconditions and ranges, and a file. Out: the response to them. Cached and open
// files differ only in where the bytes of a range come from.
#include "files/file_response.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/file_io.hpp"
#include "files/file_body.hpp"
#include "files/file_head.hpp"
#include "files/file_site.hpp"
#include "files/safe_path.hpp"
#include "http/message/cause.hpp"
#include "http/message/conditional.hpp"
#include "http/message/partial_content.hpp"
#include "skua/response.hpp"
#include "skua/router.hpp"

namespace skua::files {
namespace {

// The bytes of a file: in memory, open for several responses, or for this one.
class Content final : public http::RangeSource {
 public:
  explicit Content(SharedText memory)
      : memory_(std::move(memory)), size_bytes_(memory_.text.size()) {}
  explicit Content(const KeptFile& kept) : kept_(kept.file), size_bytes_(kept.stat.size_bytes) {}
  Content(OpenFile file, FilePlace place)
      : file_(std::move(file)), place_(std::move(place)), size_bytes_(file_.stat.size_bytes) {}

  [[nodiscard]] std::uint64_t size_bytes() const noexcept override { return size_bytes_; }

  Body part(http::ByteRange range) override {
    if (memory_.owner) return SharedText{memory_.owner, text(range)};
    return open_part({range.first, range.size_bytes()});
  }
  [[nodiscard]] Body all() {
    if (memory_.owner) return std::move(memory_);
    return open_part({0, size_bytes_});
  }

  [[nodiscard]] bool append(std::string& out, http::ByteRange range) const override {
    if (memory_.owner) {
      out.append(text(range));
      return true;
    }
    const auto size = static_cast<std::size_t>(range.size_bytes());
    const std::size_t begin = out.size();
    out.resize(begin + size);
    const std::span<char> into = std::span(out).subspan(begin);
    const int file = kept_ ? kept_->number() : file_.descriptor.number();
    return base::read_at(file, range.first, into).value_or(0U) == size;
  }

 private:
  [[nodiscard]] Body open_part(FilePart part) {
    if (!kept_) return file_body(std::move(file_), std::move(place_), part);
    const int number = kept_->number();
    expect_file_ranges();
    return FileRange{std::move(kept_), number, part.offset, part.size_bytes};
  }
  [[nodiscard]] std::string_view text(http::ByteRange range) const noexcept {
    return memory_.text.substr(static_cast<std::size_t>(range.first),
                               static_cast<std::size_t>(range.size_bytes()));
  }

  SharedText memory_;
  std::shared_ptr<const HeldFile> kept_;
  OpenFile file_;
  FilePlace place_;
  std::uint64_t size_bytes_;
};

Content content_of(FoundFile found, const std::shared_ptr<const Root>& root,
                   std::string_view path) {
  if (found.cached != nullptr) {
    return Content(SharedText{found.cached->whole, found.cached->whole->body()});
  }
  if (found.kept != nullptr && found.is_copied && found.kept->bytes.owner) {
    return Content(found.kept->bytes);
  }
  if (found.kept != nullptr) return Content(*found.kept);
  std::string opened(path);
  if (found.coding) opened += sibling_suffix(*found.coding);
  return {std::move(found.file), {root, std::move(opened)}};
}

}  // namespace

Response file_response(const http::Head& request, FoundFile found,
                       const std::shared_ptr<const Root>& root, std::string_view path,
                       const FileFields& fields, WallTime now) {
  const std::string_view cache_control = fields.cache_control;
  const CachedFile* const cached = found.cached;
  FileHead described;
  if (cached == nullptr && found.kept == nullptr) {
    described = describe(path, found.file.stat, now, fields, found.coding);
  }
  const FileHead& head = cached != nullptr       ? cached->head
                         : found.kept != nullptr ? found.kept->head
                                                 : described;

  const auto seconds = std::chrono::floor<std::chrono::seconds>(now);
  switch (http::check_preconditions(request, head.validators(), seconds)) {
    case http::Precondition::NotModified:
      return cached != nullptr ? Response(cached->unchanged)
                               : unchanged_response(head, cache_control);
    case http::Precondition::Failed: return Status::PreconditionFailed;
    case http::Precondition::Proceed: break;
  }
  const auto range = http::find_range(request, head.validators(), seconds);
  if (cached != nullptr && !range) return Response(cached->whole);
  Response whole =
      cached != nullptr ? Response(cached->whole) : whole_response(head, Body(), cache_control);
  Content content = content_of(std::move(found), root, path);
  if (range && http::make_partial(whole, *range, content)) return whole;
  if (cached == nullptr) whole.content() = content.all();
  return whole;
}

}  // namespace skua::files

// Response::file and Router::file: a single file as a response, and at a URL.

namespace skua {
namespace {

// Splits a path into its folder, and its last component with a leading slash.
std::pair<std::string, std::string> split_path(const std::string& path) {
  const std::size_t name = disk::name_begin(path);
  return {name == 0 ? "." : path.substr(0, name), "/" + path.substr(name)};
}

}  // namespace

Response Response::file(const std::string& path, std::string_view type) {
  files::FilePlace place{.path = path};
  Result<files::OpenFile> file = place.open();
  if (!file) return http::failure_response(file.error());
  const files::FileStat stat = file->stat;
  if (stat.kind != files::FileKind::Regular) return Status::NotFound;
  const files::FileHead head = files::describe(path, stat, std::chrono::system_clock::now());
  Body body;
  if (stat.size_bytes != 0) {
    body = files::file_body(*std::move(file), std::move(place), {0, stat.size_bytes});
  }
  Response response(Status::Ok, std::move(body), type.empty() ? head.type : type);
  files::add_validators(response, head, {});
  if (response.content().file() != nullptr) response.header("Accept-Ranges", "bytes");
  response.header("X-Content-Type-Options", "nosniff");
  return response;
}

Router& Router::file(Pattern<0> url, const std::string& path, const FileOptions& options,
                     Where where) {
  if (options.content_etags && !files::ContentTags::is_available()) {
    throw Exception(files::ContentTags::missing());
  }
  auto [folder, file_name] = split_path(path);
  // The program names the file, so a leading dot does not hide it.
  const files::PathPolicy policy{.dotfiles = true, .follow_symlinks = options.follow_symlinks};
  Result<files::Root> opened = files::Root::open(folder, policy);
  if (!opened) throw Exception(files::could_not("open the folder", folder, opened.error()));
  files::Root root = *std::move(opened);
  const Result<files::OpenFile> file = root.find(file_name);
  if (!file) throw Exception(files::could_not("open the file", path, file.error()));
  if (file->stat.kind != files::FileKind::Regular) {
    throw Exception(Problem{Error(Errc::NotFound, "Router::file"),
                            "could not serve " + path + ": it is not a regular file"});
  }
  root.on_replaced(options.on_replaced);
  const auto site = std::make_shared<const files::FileSite>(std::move(root), options,
                                                            std::make_unique<files::TimeSource>());
  return get(
      url,
      [site, name = std::move(file_name)](const Request& request) {
        return site->answer(request, name);
      },
      where);
}

}  // namespace skua
