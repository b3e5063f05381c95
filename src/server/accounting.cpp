// SPDX-License-Identifier: MIT
// Records responses for the on_response hook, e.g. for an access log. Responses share one output,
// so the accounting notes the positions of their content, and counts it as the output is sent.
#include "server/accounting.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <string_view>
#include <utility>
#include <vector>

#include "http/message/request_parts.hpp"
#include "http/uri/authority.hpp"
#include "net/log.hpp"
#include "net/stream.hpp"
#include "router/tree.hpp"
#include "server/resources.hpp"
#include "skua/auth.hpp"
#include "skua/middleware.hpp"

namespace skua::server {
namespace {

/// A record is held until its response was sent.
constexpr std::size_t longest_described_bytes = 1024;

std::string_view value_or_empty(const http::Head& head, http::FieldName name) noexcept {
  const http::FieldLine* line = head.find(name);
  return line != nullptr ? head.value(*line) : std::string_view();
}

}  // namespace

Accounting::Accounting(Resources& resources, detail::ConnectionSource& connection,
                       const net::Stream& stream, const net::OutputQueue& output)
    : resources_(resources), connection_(connection), stream_(stream), output_(output) {}

Accounting::~Accounting() {
  while (first_ != nullptr) resources_.spare_entries.give(*std::exchange(first_, first_->next));
}

Address peer_of(const void* stream) { return static_cast<const net::Stream*>(stream)->peer(); }

std::string_view request_id_of(const Request& request) noexcept {
  const auto* const id = request.attachments().find<RequestId>();
  return id != nullptr ? id->value : std::string_view();
}

std::string_view user_of(const Request& request) noexcept {
  const auth::User* const user = auth::user(request);
  return user != nullptr ? std::string_view(user->name) : std::string_view();
}

Accounting::Entry& Accounting::begin(const RequestInfo& request_info, Status status, Errc error) {
  resources_.send_clock.forget();
  Entry& entry = resources_.spare_entries.take();
  *last_ = &entry;
  last_ = &entry.next;
  entry.owner = this;
  entry.begin = written();
  entry.began = request_info.began;
  entry.route = request_info.route;
  RequestRecord& record = entry.record;
  record.method = request_info.head.method;
  record.version = request_info.head.version();
  record.status = status;
  record.head_bytes = request_info.head.size_bytes;
  record.received_bytes = record.head_bytes + request_info.content_bytes;
  record.error = error;
  if (resources_.options.hooks.on_response) describe(entry, request_info);
  return entry;
}

// Copies the texts: the request may be gone before its response has been sent.
void Accounting::describe(Entry& entry, const RequestInfo& request_info) {
  const skua::Connection& connection = connection_.connection();
  if (peer_.empty()) peer_ = connection.peer_address().to_string();
  const http::Head& head = request_info.head;
  std::array<char, Address::max_text_bytes> buffer;
  std::string_view client = http::host_of(peer_);
  if (client.starts_with('[')) client = client.substr(1, client.size() - 2);
  if (resources_.origins != nullptr) {
    client = resources_.origins->origin_of(head, &stream_).client.format_host(buffer);
  }
  const auto field = [&](http::FieldName name) {
    return value_or_empty(head, name).substr(0, longest_described_bytes);
  };
  const std::array<std::pair<std::string_view RequestRecord::*, std::string_view>, 9> texts{{
      {&RequestRecord::client, client},
      {&RequestRecord::peer, peer_},
      {&RequestRecord::target, head.target()},
      {&RequestRecord::referer, field(http::FieldName::Referer)},
      {&RequestRecord::user_agent, field(http::FieldName::UserAgent)},
      {&RequestRecord::route,
       request_info.route != nullptr ? request_info.route->pattern : std::string_view()},
      {&RequestRecord::request_id, request_info.request_id},
      {&RequestRecord::user, request_info.user},
      {&RequestRecord::method_name,
       head.method == Method::Other ? head.method_name() : std::string_view()},
  }};
  std::size_t size_bytes = 0;
  for (const auto& [to, text] : texts) size_bytes += text.size();
  entry.text.reserve(size_bytes);
  for (const auto& [to, text] : texts) entry.text.append(text);
  std::size_t at = 0;
  for (const auto& [to, text] : texts) {
    entry.record.*to = std::string_view(entry.text).substr(at, text.size());
    at += text.size();
  }
  if (head.method != Method::Other) entry.record.method_name = name(head.method);
  entry.record.connection_id = connection.id();
  entry.record.tls = connection.tls();
}

void Accounting::wrote_head(Entry& entry) noexcept {
  entry.framing_bytes = written() - entry.begin;
}

void Accounting::wrote(Entry& entry, std::uint64_t content_bytes, std::uint64_t framing_bytes) {
  resources_.send_clock.forget();
  entry.framing_bytes += framing_bytes;
  if (content_bytes == 0) return;
  const std::uint64_t end = written();
  const std::uint64_t begin = end - content_bytes;
  if (!entry.unsent.empty() && entry.unsent.back().end == begin) {
    entry.unsent.back().end = end;
  } else {
    entry.unsent.push_back({begin, end});
  }
}

void Accounting::received(Entry& entry, std::uint64_t content_bytes) noexcept {
  std::uint64_t& received_bytes = entry.record.received_bytes;
  received_bytes = std::max(received_bytes, entry.record.head_bytes + content_bytes);
}

void Accounting::finish(Entry& entry, ResponseEnd end) {
  entry.end = written();
  entry.is_finished = true;
  entry.record.end = end;
  if (entry.end <= sent_) sent(0);
}

void Accounting::sent(std::uint64_t count) {
  sent_ += count;
  loop::Instant now{};  // the clock is read if something has happened
  const auto read_clock = [&] {
    if (now == loop::Instant()) now = resources_.send_clock.now(resources_.loop);
  };
  Entry** link = &first_;
  while (*link != nullptr && (*link)->begin <= sent_) {
    Entry& entry = **link;
    entry.note_sent(sent_);
    if (!entry.is_begun && entry.begin < sent_) {
      read_clock();
      entry.is_begun = true;
      entry.record.first_byte = now - entry.began;
    }
    if (entry.is_finished && entry.end <= sent_) {
      *link = entry.next;
      if (last_ == &entry.next) last_ = link;
      read_clock();
      tell(entry, now);
    } else {
      link = &entry.next;
    }
  }
}

void Accounting::end() {
  const loop::Instant now = resources_.loop.exact_now();
  last_ = &first_;
  while (first_ != nullptr) {
    Entry& entry = *std::exchange(first_, first_->next);
    if (entry.record.end == ResponseEnd::Complete) entry.record.end = why_ended_;
    tell(entry, now);
  }
}

// Reports a response that has left the list.
void Accounting::tell(Entry& entry, loop::Instant now) {
  RequestRecord& record = entry.record;
  record.is_cut = record.end != ResponseEnd::Complete;
  record.duration = now - entry.began;
  // HTTP/2: frames of other streams are in between.
  const std::uint64_t end = entry.is_finished ? std::min(entry.end, sent_) : sent_;
  record.sent_bytes = record.version == Version::Http2 ? record.body_bytes + entry.framing_bytes
                                                       : end - std::min(entry.begin, end);
  if (resources_.meter != nullptr) resources_.meter->responded(entry.route, record);
  if (const auto& hook = resources_.options.hooks.on_response) {
    record.start = std::chrono::system_clock::now() -
                   std::chrono::duration_cast<std::chrono::system_clock::duration>(record.duration);
    hook(record);
  }
  resources_.spare_entries.give(entry);
}

void Accounting::Entry::note_sent(std::uint64_t position) {
  auto range = unsent.begin();
  for (; range != unsent.end() && range->begin < position; ++range) {
    const std::uint64_t end_of_sent = std::min(position, range->end);
    record.body_bytes += end_of_sent - range->begin;
    range->begin = end_of_sent;
    if (end_of_sent != range->end) break;
  }
  unsent.erase(unsent.begin(), range);
}

namespace {

constexpr std::size_t kept_entries = 256;
constexpr std::size_t kept_text_bytes = 2 * 1024;
constexpr std::size_t kept_ranges = 64;

}  // namespace

SpareEntries::~SpareEntries() {
  while (first_ != nullptr) delete std::exchange(first_, first_->next);
}

Accounting::Entry& SpareEntries::take() {
  if (first_ == nullptr) return *new Accounting::Entry;
  --count_;
  Accounting::Entry& entry = *std::exchange(first_, first_->next);
  entry.next = nullptr;
  return entry;
}

// Keeps the memory of texts, unless it is large.
void SpareEntries::give(Accounting::Entry& entry) noexcept {
  const bool is_small =
      entry.text.capacity() <= kept_text_bytes && entry.unsent.capacity() <= kept_ranges;
  if (count_ == kept_entries || !is_small) {
    delete &entry;
    return;
  }
  // begin() and tell() set the rest.
  if (!entry.text.empty()) entry.record = {};
  entry.record.body_bytes = 0;
  entry.record.end = ResponseEnd::Complete;
  entry.record.first_byte = {};
  entry.text.clear();
  entry.unsent.clear();
  entry.framing_bytes = 0;
  entry.is_begun = entry.is_finished = false;
  entry.next = std::exchange(first_, &entry);
  ++count_;
}

void note_out_of_memory(Resources& resources, const char* what) noexcept {
  ++resources.counters.out_of_memory;
  const auto& log = resources.options.hooks.log;
  if (!log) return;
  std::array<char, 128> line{};
  const int size = std::snprintf(line.data(), line.size(), "%s: memory ran out", what);
  log(LogLevel::Error, {line.data(), static_cast<std::size_t>(size)});
}

namespace {

// The server keeps too much already. A client cannot tell why, so the operator is told.
void note_overload(Resources& resources) noexcept {
  ++resources.counters.refused_overloaded;
  const auto& log = resources.options.hooks.log;
  if (!log || !resources.content_budget.may_tell(resources.loop.now())) return;
  net::tell(log, LogLevel::Warning,
            {"requests get 503 to save memory: see Limits::server_body_bytes and "
             "server_head_bytes"});
}

}  // namespace

void count_refusal(Resources& resources, Errc code) noexcept {
  if (code == Errc::HandlerTimedOut) return;  // counted in handlers_cancelled
  WorkerCounters& counters = resources.counters;
  if (code == Errc::OutOfMemory) {
    ++counters.out_of_memory;
    return;
  }
  switch (status_for(code)) {
    case Status::RequestTimeout: ++counters.refused_slow; break;
    case Status::ServiceUnavailable: note_overload(resources); break;
    case Status::ContentTooLarge:
    case Status::UriTooLong:
    case Status::RequestHeaderFieldsTooLarge: ++counters.refused_too_large; break;
    default: ++counters.refused_malformed; break;
  }
}

}  // namespace skua::server
