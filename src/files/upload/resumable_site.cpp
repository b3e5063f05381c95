// SPDX-License-Identifier: MIT
// In: requests of two protocols for resumable uploads, which differ in fields and statuses only.
// Out: appends to a part, and what became of it. The URL of an upload,
// `PREFIX/.skua-uploads/TOKEN/FOLDER/`, says where its part is, so nothing has to be looked up.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "async/off_loop.hpp"
#include "base/ascii.hpp"
#include "files/access/tree_access.hpp"
#include "files/upload/part_writer.hpp"
#include "files/upload/resumable_answers.hpp"
#include "files/upload/upload_answer.hpp"
#include "http/form/content_disposition.hpp"
#include "http/message/request_parts.hpp"
#include "skua/address.hpp"
#include "skua/async.hpp"
#include "skua/auth.hpp"
#include "skua/credentials.hpp"
#include "skua/field_lines.hpp"
#include "skua/handler.hpp"

namespace skua::files {
namespace {

using Site = std::shared_ptr<const UploadSite>;
using Writer = std::shared_ptr<PartWriter>;

constexpr std::size_t max_metadata_bytes = 4096;
constexpr std::size_t max_condition_bytes = 4096;
constexpr std::size_t max_owner_bytes = 1024;

std::optional<std::uint64_t> size_field(const Request& request, std::string_view name) {
  const auto value = request.header(name);
  return value ? parse_upload_size(*value) : std::nullopt;
}

std::string_view base_of(const Request& request, std::string_view path) noexcept {
  const std::string_view whole = request.path();
  return whole.substr(0, whole.size() - path.size());
}

// The user of HTTP Basic: who else knows the URL may not go on with the upload. Other schemes have
// tokens that change meanwhile. Nobody may have checked the name, so it gives no rights.
std::string owner_of(const Request& request) {
  const auto field = request.header("Authorization");
  if (!field) return {};
  auto login = BasicCredentials::parse(*field);
  return login ? std::move(login->user) : std::string();
}

// Returns who shares the room for uploads: a user whom a guard let in, or the clients of an
// address; empty for those on this machine, which may be a proxy. No user is called as an address.
std::string client_of(const Request& request) {
  if (const auth::User* const user = auth::user(request)) return "user " + user->name;
  const Address address = request.client_address().unmapped();
  if (!address.is_ip() || address.is_loopback()) return {};
  constexpr std::size_t network_bytes = 8;  // of an IPv6 address: one customer usually has the rest
  const Bytes bytes = address.ip_bytes();
  return "address " + std::string(text(bytes.first(std::min(bytes.size(), network_bytes))));
}

UploadRequest asked_by(const Request& request, std::string_view path) {
  UploadRequest asked{.is_tus = request.header("Tus-Resumable").has_value(),
                      .offset_bytes = size_field(request, "Upload-Offset"),
                      .length_bytes = size_field(request, "Upload-Length"),
                      .base = std::string(base_of(request, path))};
  const auto complete = request.header("Upload-Complete");
  if (!asked.is_tus && complete) asked.is_whole = parse_upload_complete(*complete);
  return asked;
}

// The draft forbids 104 to clients that do not name a version that we know.
void offer_resumption(const Request& request, const UploadOptions& options,
                      const std::string& url) {
  const auto version = size_field(request, "Upload-Draft-Interop-Version");
  detail::BodySource* const source = http::RequestAccess::parts(request).source;
  if (source == nullptr || !version) return;
  if (*version < first_draft_version || *version > last_draft_version) return;
  FieldLines lines;
  lines.add("Location", url);
  lines.add("Upload-Limit", limits_of(options));
  lines.add("Upload-Draft-Interop-Version", std::to_string(*version));
  source->inform(Status::UploadResumptionSupported, lines);
}

// Removes or leaves a part, off the loop.
Task<> end_part(Writer writer, bool is_removed) {
  const auto end = is_removed ? &PartWriter::remove : &PartWriter::leave;
  co_await async::off_loop(end, writer);
}

UploadResult result_of(const Error& error) noexcept {
  if (error.code() != Errc::Cancelled) return failed(error);
  return {.status = Status::Conflict, .reason = "another request goes on with the upload"};
}

// Bytes per write: large, so that the switch to another thread costs little.
constexpr std::size_t flushed_bytes = 256_KiB;

// Writes what has arrived, off the loop.
Task<Result<void>> write_part(Writer writer, bool is_last) {
  const auto write = is_last ? &PartWriter::keep : &PartWriter::flush;
  try {
    const Result<void> written = co_await async::off_loop(write, writer);
    co_return written;
  } catch (const Exception& error) {  // the thread pool's queue is full
    co_return error.error();
  }
}

// Appends the content of a request; the file gets its name if that was all.
Task<Response> append(Site site, Request& request, Writer writer, UploadRequest asked) {
  std::uint64_t size_bytes = writer->begin_bytes();
  const std::uint64_t most_bytes = writer->most_bytes();
  while (true) {
    const std::optional<Bytes> piece = co_await request.read();
    if (!piece) break;
    if (piece->size() > most_bytes - std::min(size_bytes, most_bytes)) {
      auto removing = end_part(writer, true);
      co_await removing;
      const bool is_announced = writer->state().length_bytes.has_value();
      co_return is_announced ? wrong_length(asked.is_tus) : too_long(site->options(), asked.is_tus);
    }
    size_bytes += piece->size();
    if (!writer->reserve(size_bytes)) {
      auto leaving = end_part(writer, false);
      co_await leaving;
      co_return refused(Status::InsufficientStorage, "other uploads need the room", asked.is_tus);
    }
    if (writer->add(*piece) < flushed_bytes) continue;
    auto writing = write_part(writer, false);
    const Result<void> written = co_await writing;
    if (!written) co_return refused(result_of(written.error()), asked.is_tus);
  }
  auto saving = write_part(writer, true);
  const Result<void> saved = co_await saving;
  if (!saved) co_return refused(result_of(saved.error()), asked.is_tus);
  const auto& length = writer->state().length_bytes;
  const bool has_length = length && size_bytes == *length;
  const bool is_whole = asked.is_tus ? has_length : asked.is_whole.value_or(false);
  if (!is_whole || (length && !has_length)) {
    auto leaving = end_part(writer, false);
    co_await leaving;
    co_return is_whole ? wrong_length(asked.is_tus) : appended(asked, *site, *writer, size_bytes);
  }
  const UploadResult result = co_await async::off_loop(&PartWriter::commit, writer);
  co_return completed(asked, *writer, result, size_bytes);
}

// Creation ----------------------------------------------------------------------------------------

// Returns the path of the file; empty if the request does not say.
std::string path_of(const Request& request, const UploadRequest& asked, std::string_view path) {
  std::string name;
  if (asked.is_tus) {
    const std::string_view metadata = request.header("Upload-Metadata").value_or("");
    for (const std::string_view key : {"filename", "name"}) {
      if (name.empty()) name = find_upload_metadata(metadata, key).value_or("");
    }
  } else if (path.ends_with('/')) {
    const auto field = request.header("Content-Disposition");
    auto disposition = field ? http::parse_content_disposition(*field) : Error(Errc::NotFound);
    if (disposition) name = disposition->filename.value_or("");
  }
  if (name.empty() || request.method() == Method::Put) {
    return path.ends_with('/') ? std::string() : std::string(path);
  }
  std::string folder(path);
  if (!folder.ends_with('/')) folder += '/';
  const std::string safe = http::safe_filename(name);
  return safe.empty() ? std::string() : folder + safe;
}

std::string conditions_of(const Request& request) {
  std::string lines;
  for (const auto& [name, value] : request.headers()) {
    for (const std::string_view kept : {"If-Match", "If-None-Match", "If-Unmodified-Since"}) {
      if (!ascii::equals_ignoring_case(name, kept)) continue;
      lines.append(kept).append(": ").append(value).append("\r\n");
    }
  }
  return lines;
}

Task<Response> create(Site site, Request& request, UploadRequest asked, std::string path,
                      PartState state) {
  const auto conditions = detail::keep_request(request);
  const std::string client = client_of(request);
  PartAccess access = co_await async::off_loop(&begin_part, site, path, state, conditions, client);
  if (access.refused) {
    // RFC 4918 §9.7.1: the missing folder is not the target of the request.
    if (access.refused->status == Status::NotFound) access.refused->status = Status::Conflict;
    co_return refused(*access.refused, asked.is_tus);
  }
  if (!asked.is_tus) offer_resumption(request, site->options(), part_url(asked, *access.writer));
  auto appending = append(site, request, access.writer, asked);
  Response response = co_await appending;
  co_return response;
}

Task<Response> answer_creation(Site site, Request& request, UploadRequest asked,
                               std::string_view path) {
  const auto answer = [](Response response) { return detail::finished_task(std::move(response)); };
  asked.creates = true;
  const auto content_length = http::RequestAccess::parts(request).length_bytes;
  PartState state{.owner = owner_of(request), .conditions = conditions_of(request)};
  if (asked.is_tus) {
    state.metadata = request.header("Upload-Metadata").value_or("");
    const bool is_deferred = request.header("Upload-Defer-Length") == "1";
    if (asked.length_bytes.has_value() == is_deferred) {
      return answer(refused(Status::BadRequest, "Upload-Length is missing or malformed", true));
    }
    const bool has_content = content_length.value_or(0) != 0;
    if (has_content && request.content_type() != "application/offset+octet-stream") {
      return answer(refused(Status::UnsupportedMediaType, "the content is no part", true));
    }
  } else {
    if (!asked.is_whole) {
      return answer(refused(Status::BadRequest, "Upload-Complete is malformed", false));
    }
    const bool is_last = *asked.is_whole;
    if (is_last && content_length &&
        asked.length_bytes.value_or(*content_length) != *content_length) {
      return answer(wrong_length(false));
    }
    if (!asked.length_bytes && is_last) asked.length_bytes = content_length;
  }
  state.length_bytes = asked.length_bytes;
  if (asked.length_bytes.value_or(0) > site->options().max_bytes) {
    return answer(too_long(site->options(), asked.is_tus));
  }
  // A longer state than max_state_bytes could not be read again.
  if (state.metadata.size() > max_metadata_bytes || state.conditions.size() > max_condition_bytes ||
      state.owner.size() > max_owner_bytes) {
    return answer(
        refused(Status::RequestHeaderFieldsTooLarge, "fields are too long", asked.is_tus));
  }
  std::string target = path_of(request, asked, path);
  if (target.empty()) {
    return answer(refused(Status::BadRequest, "the name of the file is missing", asked.is_tus));
  }
  // The requests that go on with it pass the guards of its own URL only.
  const std::string parts = asked.base + std::string(part_folder);
  if (!TreeAccess(request, path).allows(Method::Put, target) ||
      !TreeAccess(request, path, parts).allows(Method::Put, target)) {
    return answer(
        refused(Status::Forbidden, "uploads to this path cannot be resumed", asked.is_tus));
  }
  state.name = target.substr(target.rfind('/') + 1);
  return create(std::move(site), request, std::move(asked), std::move(target), std::move(state));
}

// The upload itself -------------------------------------------------------------------------------

/// The upload that a URL names.
struct Place {
  std::string token{};
  std::string folder{};
};

std::optional<Place> place_of(std::string_view path) {
  path.remove_prefix(part_folder.size());
  const std::size_t slash = path.find('/');
  if (slash == path.npos || !path.ends_with('/') || !is_part_token(path.substr(0, slash))) {
    return std::nullopt;
  }
  return Place{std::string(path.substr(0, slash)), std::string(path.substr(slash))};
}

std::optional<FinishedUpload> find_finished(const UploadSite& site, const Place& place,
                                            const std::string& owner) {
  auto found = site.unfinished().find_finished(place.token);
  if (found && !found->owner.empty() && found->owner != owner) return std::nullopt;
  return found;
}

// The size stays until another request appends. Blocks.
PartAccess look_at_part(const Site& site, const Place& place, const std::string& owner) {
  PartAccess access = resume_part(site, place.folder, place.token, owner);
  if (access.writer) access.writer->leave();
  return access;
}

Task<Response> tell_state(Site site, UploadRequest asked, Place place, std::string owner) {
  const PartAccess access = co_await async::off_loop(&look_at_part, site, place, owner);
  if (const auto done = find_finished(*site, place, owner)) {
    const PartState state{.length_bytes = done->size_bytes};
    co_return state_response(asked, site->options(), state, done->size_bytes, true);
  }
  if (access.refused) co_return refused(*access.refused, asked.is_tus);
  const PartWriter& writer = *access.writer;
  co_return state_response(asked, site->options(), writer.state(), writer.begin_bytes(), false);
}

// Returns why it is not removed. Blocks.
std::optional<UploadResult> remove_part(const Site& site, const Place& place,
                                        const std::string& owner) {
  const PartAccess access = resume_part(site, place.folder, place.token, owner);
  if (access.writer) access.writer->remove();
  return access.refused;
}

Task<Response> cancel(Site site, UploadRequest asked, Place place, std::string owner) {
  const auto result = co_await async::off_loop(&remove_part, site, place, owner);
  if (result) co_return refused(*result, asked.is_tus);
  co_return with_tus(Response(Status::NoContent), asked.is_tus);
}

/// A part that a request may append to, or why not.
struct Continued {
  std::optional<Response> refused{};
  Writer writer{};
};

// Opens a part and compares what is known of it with what the request says. Blocks.
Continued open_to_append(const Site& site, const UploadRequest& asked, const Place& place,
                         const std::string& owner, std::optional<std::uint64_t> content_length) {
  const auto refuse = [&](const Writer& writer, Response response) {
    if (writer) writer->leave();
    return Continued{.refused = std::move(response)};
  };
  const PartAccess access = resume_part(site, place.folder, place.token, owner);
  if (access.refused) return refuse(nullptr, refused(*access.refused, asked.is_tus));
  const Writer& writer = access.writer;
  const std::uint64_t size_bytes = writer->begin_bytes();
  if (asked.offset_bytes != size_bytes) return refuse(writer, wrong_offset(asked, size_bytes));
  std::optional<std::uint64_t> length = asked.length_bytes;
  const bool is_last = asked.is_whole.value_or(false);
  if (is_last && content_length) {
    const std::uint64_t end = size_bytes + *content_length;
    if (length && *length != end) return refuse(writer, wrong_length(asked.is_tus));
    length = end;
  }
  const auto& known = writer->state().length_bytes;
  if (length && known && *length != *known) return refuse(writer, wrong_length(asked.is_tus));
  if (length && *length > site->options().max_bytes) {
    return refuse(writer, too_long(site->options(), asked.is_tus));
  }
  if (length && !known) {
    const auto kept = writer->set_length(*length);
    if (!kept) return refuse(writer, refused(failed(kept.error()), asked.is_tus));
  }
  const std::uint64_t most_bytes = writer->most_bytes();
  if (content_length.value_or(0) > most_bytes - std::min(size_bytes, most_bytes)) {
    return refuse(writer, writer->state().length_bytes ? wrong_length(asked.is_tus)
                                                       : too_long(site->options(), asked.is_tus));
  }
  return {.writer = writer};
}

Task<Response> continue_upload(Site site, Request& request, UploadRequest asked, Place place) {
  const auto length = http::RequestAccess::parts(request).length_bytes;
  const std::string owner = owner_of(request);
  Continued continued =
      co_await async::off_loop(&open_to_append, site, asked, place, owner, length);
  if (find_finished(*site, place, owner)) co_return already_complete(asked.is_tus);
  if (continued.refused) co_return *std::move(continued.refused);
  auto appending = append(site, request, continued.writer, asked);
  Response response = co_await appending;
  co_return response;
}

Task<Response> answer_append(Site site, Request& request, UploadRequest asked, Place place) {
  const std::string_view type =
      asked.is_tus ? "application/offset+octet-stream" : "application/partial-upload";
  if (request.content_type() != type) {
    Response response =
        refused(Status::UnsupportedMediaType, "the content is no part", asked.is_tus);
    response.header("Accept-Patch", type);
    return detail::finished_task(std::move(response));
  }
  if (!asked.offset_bytes || (!asked.is_tus && !asked.is_whole)) {
    return detail::finished_task(refused(Status::BadRequest,
                                         "Upload-Offset or Upload-Complete is missing or malformed",
                                         asked.is_tus));
  }
  return continue_upload(std::move(site), request, std::move(asked), std::move(place));
}

// Old proxies and browsers know GET and POST only: tus, X-HTTP-Method-Override.
Method method_of(const Request& request) {
  const auto name = request.header("X-HTTP-Method-Override");
  if (request.method() != Method::Post || !name) return request.method();
  return parse_method(*name).value_or(Method::Post);
}

}  // namespace

bool is_for_resumable(const Request& request, std::string_view path) noexcept {
  if (!request.path().ends_with(path)) return false;  // its URL cannot be told
  if (path.starts_with(part_folder)) return true;
  switch (request.method()) {
    case Method::Options: return true;
    case Method::Put: return request.header("Upload-Complete").has_value();
    case Method::Post:
      if (request.header("Tus-Resumable")) return true;
      return request.header("Upload-Complete") && !request.content_type().starts_with("multipart/");
    default: return false;
  }
}

Task<Response> answer_resumable(Site site, Request& request, std::string_view path) {
  const bool is_part = path.starts_with(part_folder);
  if (request.method() == Method::Options) {
    return detail::finished_task(upload_options_response(site->options(), is_part));
  }
  UploadRequest asked = asked_by(request, path);
  if (asked.is_tus && request.header("Tus-Resumable") != tus_version) {
    Response response = refused(Status::PreconditionFailed, "another version of tus", true);
    return detail::finished_task(std::move(response.header("Tus-Version", tus_version)));
  }
  if (request.method() != Method::Head) {
    if (auto refused = refuse_upload(*site, request)) {
      return detail::finished_task(with_tus(*std::move(refused), asked.is_tus));
    }
  }
  if (!is_part) return answer_creation(std::move(site), request, std::move(asked), path);
  std::optional<Place> place = place_of(path);
  if (!place || !TreeAccess(request, path).allows(Method::Put, place->folder)) {
    return detail::finished_task(
        refused(Status::NotFound, "there is no such upload", asked.is_tus));
  }
  switch (method_of(request)) {
    case Method::Head:
      return tell_state(std::move(site), std::move(asked), *std::move(place), owner_of(request));
    case Method::Delete:
      return cancel(std::move(site), std::move(asked), *std::move(place), owner_of(request));
    case Method::Patch:
      return answer_append(std::move(site), request, std::move(asked), *std::move(place));
    default:
      return detail::finished_task(
          Response(Status::MethodNotAllowed).header("Allow", "HEAD, PATCH, DELETE, OPTIONS"));
  }
}

}  // namespace skua::files
