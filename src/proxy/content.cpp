// SPDX-License-Identifier: MIT
// Content on its way through the proxy, each at the speed of its slower side.
#include "proxy/content.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/ascii.hpp"
#include "http/message/request_parts.hpp"
#include "http/message/trailers.hpp"
#include "proxy/grpc.hpp"
#include "skua/body_writer.hpp"
#include "skua/task.hpp"

namespace skua::proxy {
namespace {

using client::IncomingResponse;
using client::IncomingResponsePointer;
using http::FieldName;
using http::Head;

constexpr std::size_t kept_bytes = 16 * 1024;  // of a request, to be sent again

/// A request's content, with what was sent of it.
struct Upload {
  explicit Upload(Request& passed_on) noexcept : request(passed_on) {}

  void keep(Bytes piece) {
    is_kept = is_kept && piece.size() <= kept_bytes - kept.size();
    if (is_kept) {
      kept.append(text(piece));
    } else {
      kept = std::string();
    }
  }

  Request& request;
  std::string kept{};   // from its first byte on
  bool is_kept = true;  // all that was sent
  bool has_begun = false;
};

// A name with `_` is one with `-` to servers that pass fields on as variables.
bool is_allowed(const Head& trailers, const http::FieldLine& line) {
  const std::string_view name = trailers.name(line);
  if (!http::is_allowed_in_trailers(line.name, name)) return false;
  if (name.find('_') == name.npos) return true;
  std::string folded(name);
  std::ranges::replace(folded, '_', '-');
  return http::is_allowed_in_trailers(http::find_field_name(folded), folded);
}

void add_trailers(BodyWriter& out, const Head& trailers) {
  for (const http::FieldLine& line : trailers.fields) {
    if (is_allowed(trailers, line)) out.trailer(trailers.name(line), trailers.value(line));
  }
}

// HTTP/1 has trailers only in place of a length.
std::optional<std::uint64_t> length_before_trailers(const Head& head,
                                                    std::optional<std::uint64_t> length) noexcept {
  const bool has_both = head.version() == Version::Http2 && head.has(FieldName::Trailer);
  return has_both ? std::nullopt : length;
}

Task<> send(std::shared_ptr<Upload> upload, BodyWriter& out) {
  upload->has_begun = true;
  if (!upload->kept.empty()) co_await out.write(std::string(upload->kept));
  while (true) {
    const std::optional<Bytes> piece = co_await upload->request.read();
    if (!piece) break;
    upload->keep(*piece);
    co_await out.write(*piece);
  }
  add_trailers(out, http::RequestAccess::parts(upload->request).source->trailers());
}

// Only calls have a deadline here.
bool is_overdue_call(const IncomingResponse& incoming, const Problem& why) {
  return why.code() == Errc::TimedOut && is_grpc(incoming.head()) &&
         incoming.core().loop.now() >= incoming.asked().deadline;
}

Task<> send(std::shared_ptr<IncomingResponse> incoming, std::optional<Bytes> first,
            BodyWriter& out) {
  if (first) co_await out.write(*first);
  while (true) {
    Result<std::optional<Bytes>, Problem> read = co_await incoming->read();
    if (!read && is_overdue_call(*incoming, read.error())) co_return end_overdue(out);
    const std::optional<Bytes> piece = std::move(read).value();
    if (!piece) break;
    co_await out.write(*piece);
  }
  add_trailers(out, incoming->trailers());
}

bool has_events(const Head& head) noexcept {
  constexpr std::string_view events = "text/event-stream";
  const http::FieldLine* const type = head.find(FieldName::ContentType);
  return type != nullptr &&
         ascii::equals_ignoring_case(head.value(*type).substr(0, events.size()), events);
}

Task<> send_nothing(BodyWriter&) { co_return; }

}  // namespace

std::shared_ptr<const bool> pass_content_on(Request& request, client::RequestSpec& spec) {
  const http::RequestParts& parts = http::RequestAccess::parts(request);
  auto upload = std::make_shared<Upload>(request);
  auto stream = std::make_shared<BodyStream>();
  stream->length_bytes = length_before_trailers(*parts.head, parts.length_bytes);
  stream->produce = [upload](BodyWriter& out) { return send(upload, out); };
  spec.content = Body(std::shared_ptr<const BodyStream>(std::move(stream)));
  spec.is_content_given = true;
  if (spec.forwarding) spec.forwarding->may_repeat = [upload] { return upload->is_kept; };
  return {upload, &upload->has_begun};
}

std::optional<std::uint64_t> length_to_declare(const IncomingResponse& incoming) noexcept {
  if (is_grpc(incoming.head())) return std::nullopt;  // which ends with its status in trailers
  return length_before_trailers(incoming.head(), incoming.length_bytes());
}

Body content_of(IncomingResponsePointer incoming, std::optional<Bytes> first) {
  const std::shared_ptr<IncomingResponse> shared(std::move(incoming));
  auto stream = std::make_shared<BodyStream>();
  stream->length_bytes = length_to_declare(*shared);
  stream->is_endless = has_events(shared->head());
  stream->produce = [shared, first](BodyWriter& out) { return send(shared, first, out); };
  return Body(std::shared_ptr<const BodyStream>(std::move(stream)));
}

Body no_content() {
  auto stream = std::make_shared<BodyStream>();
  stream->is_empty = true;
  stream->produce = send_nothing;
  return Body(std::shared_ptr<const BodyStream>(std::move(stream)));
}

}  // namespace skua::proxy
