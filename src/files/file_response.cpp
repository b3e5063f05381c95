// SPDX-License-Identifier: MIT
// In: a request's preconditions and ranges, and a file. Out: the response to them. Cached and open
// files differ only in where the bytes of a range come from.
#include "files/file_response.hpp"

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>

#include "base/file_io.hpp"
#include "files/file_body.hpp"
#include "files/file_head.hpp"
#include "files/file_site.hpp"
#include "files/safe_path.hpp"
#include "http/message/conditional.hpp"
#include "http/message/range.hpp"
#include "skua/response.hpp"
#include "skua/router.hpp"

namespace skua::files {
namespace {

using http::ByteRange;
using http::RangeSet;

// The parts are copied into one string, so this bounds the memory that one request can use.
constexpr std::uint64_t max_multipart_bytes = 256_KiB;

// The bytes of a file: in memory, open for several responses, or for this one.
class Content {
 public:
  explicit Content(const CachedFile& cached)
      : whole_(cached.whole), size_bytes_(cached.whole->body().size()) {}
  explicit Content(const KeptFile& kept) : kept_(kept.file), size_bytes_(kept.stat.size_bytes) {}
  Content(OpenFile file, FilePlace place)
      : file_(std::move(file)), place_(std::move(place)), size_bytes_(file_.stat.size_bytes) {}

  [[nodiscard]] std::uint64_t size_bytes() const noexcept { return size_bytes_; }

  // These two move the file out.
  [[nodiscard]] Body slice(ByteRange range) && {
    if (whole_) return Body(SharedText{whole_, text(range)});
    return part({range.first, range.size_bytes()});
  }
  [[nodiscard]] Body all() && { return part({0, size_bytes_}); }

  // Appends a copy of the bytes; returns false if the file has shrunk.
  [[nodiscard]] bool append(std::string& out, ByteRange range) const {
    if (whole_) {
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
  [[nodiscard]] Body part(FilePart part) {
    if (!kept_) return file_body(std::move(file_), std::move(place_), part);
    const int number = kept_->number();
    return FileRange{std::move(kept_), number, part.offset, part.size_bytes};
  }
  [[nodiscard]] std::string_view text(ByteRange range) const noexcept {
    return whole_->body().substr(static_cast<std::size_t>(range.first),
                                 static_cast<std::size_t>(range.size_bytes()));
  }

  std::shared_ptr<const PreparedResponse> whole_;
  std::shared_ptr<const HeldFile> kept_;
  OpenFile file_;
  FilePlace place_;
  std::uint64_t size_bytes_;
};

Content content_of(FoundFile found, const std::shared_ptr<const Root>& root,
                   std::string_view path) {
  if (found.cached != nullptr) return Content(*found.cached);
  if (found.kept != nullptr) return Content(*found.kept);
  std::string opened(path);
  if (found.coding) opened += sibling_suffix(*found.coding);
  return {std::move(found.file), {root, std::move(opened)}};
}

// 128 random bits: no file contains them by chance, and no attacker can craft one that does.
std::string make_boundary() {
  constexpr std::string_view digits = "0123456789abcdef";
  std::random_device random;
  std::string boundary = "skua-";
  for (int word = 0; word < 4; ++word) {
    unsigned bits = random();
    for (int i = 0; i < 8; ++i, bits >>= 4U) boundary += digits[bits & 15U];
  }
  return boundary;
}

// Formats multipart/byteranges with the parts in the requested order. RFC 9110 §14.6
std::optional<std::string> multipart(const Content& content, std::span<const ByteRange> ranges,
                                     std::string_view type, std::string_view boundary) {
  std::string out;
  for (const ByteRange& range : ranges) {
    out.append("--").append(boundary).append("\r\nContent-Type: ").append(type);
    out.append("\r\nContent-Range: ").append(http::content_range(range, content.size_bytes()));
    out.append("\r\n\r\n");
    if (!content.append(out, range)) return std::nullopt;
    out.append("\r\n");
  }
  out.append("--").append(boundary).append("--\r\n");
  return out;
}

Response partial(const FileHead& head, Body body, std::string_view type,
                 std::string_view cache_control) {
  Response response(Status::PartialContent, std::move(body), type);
  if (!head.coding.empty()) response.header("Content-Encoding", head.coding);
  add_validators(response, head, cache_control);
  response.header("Accept-Ranges", "bytes");
  response.header("X-Content-Type-Options", "nosniff");
  return response;
}

// Returns the response to a Range field, or nullopt if that is the whole file.
std::optional<Response> range_response(std::string_view field, Content& content,
                                       const FileHead& head, std::string_view cache_control) {
  const RangeSet set = http::parse_ranges(field, content.size_bytes());
  if (set.kind() == RangeSet::Kind::Whole) return std::nullopt;
  if (set.kind() == RangeSet::Kind::Unsatisfiable) {
    Response response(Status::RangeNotSatisfiable);
    response.header("Content-Range", http::unsatisfied_range(content.size_bytes()));
    return response;
  }
  const std::span<const ByteRange> ranges = set.ranges();
  if (ranges.size() == 1) {
    const std::uint64_t size_bytes = content.size_bytes();
    Response response =
        partial(head, std::move(content).slice(ranges[0]), head.type, cache_control);
    response.header("Content-Range", http::content_range(ranges[0], size_bytes));
    return response;
  }
  // Content-Encoding would be that of the multipart message, not of its parts.
  if (set.total_bytes() > max_multipart_bytes || !head.coding.empty()) return std::nullopt;
  const std::string boundary = make_boundary();
  std::optional<std::string> text = multipart(content, ranges, head.type, boundary);
  if (!text) return std::nullopt;
  return partial(head, Body(*std::move(text)), "multipart/byteranges; boundary=" + boundary,
                 cache_control);
}

// Returns the Range field if it applies: only to GET (RFC 9110 §14.2), and only if there is one.
std::optional<std::string_view> find_range(const http::Head& request, const FileHead& head,
                                           WallTime now) noexcept {
  if (!request.has(http::FieldName::Range) || request.method != Method::Get) return std::nullopt;
  std::optional<std::string_view> range;
  for (const http::FieldLine& line : request.fields) {
    if (line.name != http::FieldName::Range) continue;
    if (range) return std::nullopt;  // not a list field: two are invalid
    range = request.value(line);
  }
  const auto seconds = std::chrono::floor<std::chrono::seconds>(now);
  if (!http::range_applies(request, head.validators(), seconds)) return std::nullopt;
  return range;
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

  switch (http::check_preconditions(request, head.validators(),
                                    std::chrono::floor<std::chrono::seconds>(now))) {
    case http::Precondition::NotModified:
      return cached != nullptr ? Response(cached->unchanged)
                               : unchanged_response(head, cache_control);
    case http::Precondition::Failed: return Status::PreconditionFailed;
    case http::Precondition::Proceed: break;
  }
  const std::optional<std::string_view> range = find_range(request, head, now);
  if (cached != nullptr && !range) return Response(cached->whole);
  Content content = content_of(std::move(found), root, path);
  if (range) {
    if (auto response = range_response(*range, content, head, cache_control)) {
      return *std::move(response);
    }
  }
  if (cached != nullptr) return Response(cached->whole);
  return whole_response(head, std::move(content).all(), cache_control);
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
  if (!file) return status_for(file.error().code());
  const files::FileStat stat = file->stat;
  if (stat.kind != files::FileKind::Regular) return Status::NotFound;
  const files::FileHead head = files::describe(path, stat, std::chrono::system_clock::now());
  Body body;
  if (stat.size_bytes != 0) {
    body = files::file_body(*std::move(file), std::move(place), {0, stat.size_bytes});
  }
  Response response(Status::Ok, std::move(body), type.empty() ? head.type : type);
  files::add_validators(response, head, {});
  response.header("X-Content-Type-Options", "nosniff");
  return response;
}

Router& Router::file(Pattern<0> url, const std::string& path, const FileOptions& options,
                     Where where) {
  auto [folder, file_name] = split_path(path);
  // The program names the file, so a leading dot does not hide it.
  const files::PathPolicy policy{.dotfiles = true, .follow_symlinks = options.follow_symlinks};
  files::Root root = files::Root::open(folder, policy).value();
  if (root.find(file_name).value().stat.kind != files::FileKind::Regular) {
    throw Exception(Error(Errc::NotFound, "Router::file: not a regular file"));
  }
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
