// SPDX-License-Identifier: MIT
// Content on its way through the proxy, each at the speed of its slower side.
#include "proxy/content.hpp"

#include <algorithm>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include "base/ascii.hpp"
#include "http/message/request_parts.hpp"
#include "http/message/trailers.hpp"
#include "proxy/grpc.hpp"
#include "skua/body_reader.hpp"
#include "skua/body_writer.hpp"
#include "skua/task.hpp"

namespace skua::proxy {
namespace {

using client::IncomingResponse;
using client::IncomingResponsePointer;
using http::FieldName;
using http::Head;
using skua::detail::BodySink;
using skua::detail::ContentTaker;

constexpr std::size_t kept_bytes = 16 * 1024;  // of a request, to be sent again
constexpr std::size_t part_bytes = 64 * 1024;  // of what had to be read: then there must be room

/// Passes content on to a sink at the moment of its arrival.
class Passing : public ContentTaker {
 public:
  Taken take(std::string_view piece) noexcept override {
    if (sink_ == nullptr || failure_ != nullptr) return Taken::Nothing;
    try {
      pass(piece);
    } catch (...) {
      failure_ = std::current_exception();
      return Taken::Last;
    }
    return sink_->has_room() ? Taken::All : Taken::Last;
  }
  /// Begins to pass content on.
  void begin(BodySink& sink) noexcept {
    sink_ = &sink;
    failure_ = nullptr;
  }
  void end() noexcept { sink_ = nullptr; }
  /// Passes on the first part of a piece that had to be read, possibly an empty one. Returns the
  /// rest, for which there must be room first.
  std::string_view go_on(std::string_view piece) {
    if (failure_ != nullptr) std::rethrow_exception(std::exchange(failure_, nullptr));
    const std::string_view part = piece.substr(0, part_bytes);
    if (!part.empty()) pass(part);
    return piece.substr(part.size());
  }

 protected:
  Passing() = default;
  ~Passing() = default;
  virtual void pass(std::string_view piece) { sink_->write_text(piece); }

 private:
  BodySink* sink_ = nullptr;
  std::exception_ptr failure_;
};

/// A request's content, with what was sent of it.
struct Upload final : Passing {
  explicit Upload(Request& passed_on) noexcept : request(passed_on) {}

  void pass(std::string_view piece) override {
    keep(piece);
    Passing::pass(piece);
  }

  void keep(std::string_view piece) {
    const bool fits = is_kept && piece.size() <= kept_bytes - kept.size();
    is_kept = false;  // also if there is no memory
    if (fits) {
      kept.append(piece);
      is_kept = true;
    } else {
      kept = std::string();
    }
  }

  Request& request;
  std::string kept{};   // from its first byte on
  bool is_kept = true;  // all that was sent
  bool has_begun = false;
};

/// Passes an upload on as long as it lives.
class UploadInProgress final {
 public:
  UploadInProgress(const std::shared_ptr<Upload>& upload, BodySink& sink) : upload_(*upload) {
    upload->begin(sink);
    const http::RequestParts& parts = http::RequestAccess::parts(upload->request);
    if (parts.source != nullptr) parts.source->pass_to(upload);
  }
  UploadInProgress(const UploadInProgress&) = delete;
  UploadInProgress& operator=(const UploadInProgress&) = delete;
  ~UploadInProgress() { upload_.end(); }

 private:
  Upload& upload_;
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
  BodySink& sink = skua::detail::sink_of(out);
  const UploadInProgress in_progress(upload, sink);
  while (true) {
    const std::optional<Bytes> piece = co_await upload->request.read();
    if (!piece) break;
    std::string_view rest = text(*piece);
    do {
      rest = upload->go_on(rest);
      co_await BodyWriter::Awaiter(sink);
    } while (!rest.empty());
  }
  upload->go_on({});
  add_trailers(out, http::RequestAccess::parts(upload->request).source->trailers());
}

/// The content of a response.
class Download final : public Passing {
 public:
  Download(IncomingResponse& incoming, BodySink& sink) noexcept : incoming_(incoming) {
    begin(sink);
    incoming.pass_to(this);
  }
  Download(const Download&) = delete;
  Download& operator=(const Download&) = delete;
  ~Download() { incoming_.pass_to(nullptr); }

 private:
  IncomingResponse& incoming_;
};

// Only calls have a deadline here.
bool is_overdue_call(const IncomingResponse& incoming, const Problem& why) {
  return why.code() == Errc::TimedOut && is_grpc(incoming.head()) &&
         incoming.core().loop.now() >= incoming.asked().deadline;
}

Task<> send(std::shared_ptr<IncomingResponse> incoming, std::optional<Bytes> first,
            BodyWriter& out) {
  BodySink& sink = skua::detail::sink_of(out);
  Download download(*incoming, sink);
  std::string_view rest = first ? text(*first) : std::string_view();
  while (true) {
    do {
      rest = download.go_on(rest);
      if (sink.has_room()) continue;
      incoming->pause();
      co_await BodyWriter::Awaiter(sink);
    } while (!rest.empty());
    Result<std::optional<Bytes>, Problem> read = co_await incoming->read();
    if (!read && is_overdue_call(*incoming, read.error())) co_return end_overdue(out);
    const std::optional<Bytes> piece = std::move(read).value();
    if (!piece) break;
    rest = text(*piece);
  }
  download.go_on({});
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
