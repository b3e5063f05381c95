// SPDX-License-Identifier: MIT
// In: a request for an archive. Out: a response that makes it while it is sent, on other threads.
// If that fails, the content ends without its last chunk, so that the client can tell.
#include "files/archive/archive_response.hpp"

#include <array>
#include <string>
#include <utility>

#include "coding/coding.hpp"
#include "files/access/tree_access.hpp"
#include "files/archive/archive_source.hpp"
#include "files/archive/entry_name.hpp"
#include "files/archive/folder_walk.hpp"
#include "files/listing/escape.hpp"
#include "files/offloaded.hpp"
#include "http/message/cause.hpp"
#include "skua/body_writer.hpp"

namespace skua::files {
namespace {

struct KnownArchive {
  std::string_view name;
  std::string_view type;
  ArchiveFormat format;
};

constexpr std::array<KnownArchive, 3> known_archives = {
    {{"zip", "application/zip", ArchiveFormat::Zip},
     {"tar.gz", "application/gzip", ArchiveFormat::TarGzip},
     {"tar", "application/x-tar", ArchiveFormat::Tar}}};

constexpr const char* retry_seconds = "30";

bool is_possible(ArchiveFormat format) noexcept {
  return format != ArchiveFormat::TarGzip || coding::is_available(coding::Coding::Gzip);
}

const KnownArchive* find_archive(std::string_view name) noexcept {
  for (const KnownArchive& one : known_archives) {
    if (one.name == name && is_possible(one.format)) return &one;
  }
  return nullptr;
}

// RFC 6266 §4.3, appendix D: a name of ASCII for old clients, and the real one.
std::string disposition(const std::string& file_name) {
  std::string plain = file_name;
  for (char& c : plain) {
    if (static_cast<unsigned char>(c) >= 0x80) c = '_';
  }
  std::string field = "attachment; filename=\"" + plain + "\"";
  if (plain == file_name) return field;
  field += "; filename*=UTF-8''";
  append_path(field, file_name);
  return field;
}

/// An archive that is being sent.
struct ArchiveWork {
  [[nodiscard]] bool is_done() const noexcept { return source->is_done(); }
  std::string next() { return source->next().value(); }

  async::Semaphore::Permit permit{};
  std::unique_ptr<ArchiveSource> source{};
};

}  // namespace

std::optional<Response> answer_archive(const Request& request,
                                       const std::shared_ptr<const Root>& root,
                                       std::string_view path, const async::Semaphore& permits) {
  const auto asked = request.query("archive");
  if (!asked) return std::nullopt;
  const KnownArchive* const archive = find_archive(*asked);
  if (archive == nullptr) {
    return Response(Status::BadRequest, is_possible(ArchiveFormat::TarGzip)
                                            ? "archive is zip, tar.gz or tar\n"
                                            : "archive is zip or tar\n");
  }
  const Result<OpenFile> folder = root->find(path);
  if (!folder) return http::failure_response(folder.error());
  const auto work = std::make_shared<ArchiveWork>();  // std::function copies it
  work->permit = permits.try_acquire();
  if (!work->permit) {
    Response full(Status::ServiceUnavailable,
                  "too many archives are being made; try again later\n");
    return std::move(full.header("Retry-After", retry_seconds));
  }
  const std::string name = archive_name(path);
  FolderWalk walk(root, std::string(path), name, {}, TreeAccess(request, path));
  auto source = ArchiveSource::create(std::move(walk), archive->format);
  if (!source) return Response(source.error());
  work->source = *std::move(source);
  Response response = Response::stream(
      archive->type, [work](BodyWriter& writer) { return write_offloaded(work, writer); });
  response.header("Content-Disposition",
                  disposition(std::string(name).append(".").append(archive->name)));
  response.header("Cache-Control", "no-store");
  response.header("Accept-Ranges", "none");
  response.header("X-Content-Type-Options", "nosniff");
  return response;
}

std::string_view archive_links() noexcept {
  constexpr std::string_view all =
      "<p>Download this folder: <a rel=\"nofollow\" href=\"?archive=zip\">zip</a> "
      "<a rel=\"nofollow\" href=\"?archive=tar\">tar</a> "
      "<a rel=\"nofollow\" href=\"?archive=tar.gz\">tar.gz</a></p>\n";
  constexpr std::string_view plain =
      "<p>Download this folder: <a rel=\"nofollow\" href=\"?archive=zip\">zip</a> "
      "<a rel=\"nofollow\" href=\"?archive=tar\">tar</a></p>\n";
  return is_possible(ArchiveFormat::TarGzip) ? all : plain;
}

}  // namespace skua::files
