// SPDX-License-Identifier: MIT
// Records responses for the on_response hook, e.g. for an access log. Responses share one output,
// so the accounting notes the positions of their content, and counts it as the output is sent.
#include "server/accounting.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "http/message/request_parts.hpp"
#include "http/uri/authority.hpp"
#include "router/tree.hpp"
#include "server/resources.hpp"
#include "skua/auth.hpp"
#include "skua/middleware.hpp"

namespace skua::server {
namespace {

std::string_view value_or_empty(const http::Head& head, http::FieldName name) noexcept {
  const http::FieldLine* line = head.find(name);
  return line != nullptr ? head.value(*line) : std::string_view();
}

}  // namespace

/// A record in progress.
struct Accounting::Entry {
  struct Range {
    std::uint64_t begin;
    std::uint64_t end;
  };
  void note_sent(std::uint64_t position);

  RequestRecord record;
  std::string text;           // backs the views of the record
  std::vector<Range> unsent;  // positions of unsent content
  std::uint64_t end = 0;      // position, once finished
  loop::Instant began;
  bool is_finished = false;
};

Accounting::Accounting(Resources& resources, const net::Stream& stream,
                       const net::OutputQueue& output)
    : resources_(resources), stream_(stream), output_(output) {}

Accounting::~Accounting() = default;

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
  if (peer_.empty()) peer_ = stream_.peer().to_string();
  const http::Head& head = request_info.head;
  std::array<char, Address::max_text_bytes> buffer;
  std::string_view client = http::host_of(peer_);
  if (client.starts_with('[')) client = client.substr(1, client.size() - 2);
  if (resources_.origins != nullptr) {
    client = resources_.origins->origin_of(head, &stream_).client.format_host(buffer);
  }
  const std::array<std::pair<std::string_view RequestRecord::*, std::string_view>, 8> texts{{
      {&RequestRecord::client, client},
      {&RequestRecord::peer, peer_},
      {&RequestRecord::target, head.target()},
      {&RequestRecord::referer, value_or_empty(head, http::FieldName::Referer)},
      {&RequestRecord::user_agent, value_or_empty(head, http::FieldName::UserAgent)},
      {&RequestRecord::route,
       request_info.route != nullptr ? request_info.route->pattern : std::string_view()},
      {&RequestRecord::request_id, request_info.request_id},
      {&RequestRecord::user, request_info.user},
  }};
  // Copies the texts: the request may be gone before its response has been sent.
  auto last = entries_.before_begin();
  for (auto next = entries_.begin(); next != entries_.end(); ++next) last = next;
  Entry& entry = *entries_.emplace_after(last);
  std::size_t size_bytes = 0;
  for (const auto& [field, text] : texts) size_bytes += text.size();
  entry.text.reserve(size_bytes);
  for (const auto& [field, text] : texts) entry.text.append(text);
  std::size_t at = 0;
  for (const auto& [field, text] : texts) {
    entry.record.*field = std::string_view(entry.text).substr(at, text.size());
    at += text.size();
  }
  entry.began = request_info.began;
  entry.record.method = head.method;
  entry.record.version = head.version();
  entry.record.status = status;
  entry.record.head_bytes = head.size_bytes;
  entry.record.error = error;
  return entry;
}

void Accounting::wrote(Entry& entry, std::uint64_t content_bytes) {
  if (content_bytes == 0) return;
  const std::uint64_t end = written();
  const std::uint64_t begin = end - content_bytes;
  if (!entry.unsent.empty() && entry.unsent.back().end == begin) {
    entry.unsent.back().end = end;
  } else {
    entry.unsent.push_back({begin, end});
  }
}

void Accounting::finish(Entry& entry, bool is_cut) {
  entry.end = written();
  entry.is_finished = true;
  entry.record.is_cut = is_cut;
  sent(0);
}

void Accounting::sent(std::uint64_t count) {
  sent_ += count;
  std::forward_list<Entry> done;
  auto last_done = done.before_begin();
  auto before = entries_.before_begin();
  for (auto entry = entries_.begin(); entry != entries_.end(); entry = std::next(before)) {
    entry->note_sent(sent_);
    if (entry->is_finished && entry->end <= sent_) {
      done.splice_after(last_done, entries_, before);
      ++last_done;
    } else {
      before = entry;
    }
  }
  tell(done);
}

void Accounting::end() {
  std::forward_list<Entry> cut = std::exchange(entries_, {});
  for (Entry& entry : cut) entry.record.is_cut = true;
  tell(cut);
}

void Accounting::tell(std::forward_list<Entry>& entries) {
  if (entries.empty()) return;
  const loop::Instant now = resources_.loop.exact_now();
  for (Entry& entry : entries) {
    entry.record.duration = now - entry.began;
    resources_.options.hooks.on_response(entry.record);
  }
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

void note_out_of_memory(Resources& resources, const char* what) noexcept {
  ++resources.counters.out_of_memory;
  const auto& log = resources.options.hooks.log;
  if (!log) return;
  std::array<char, 128> line{};
  const int size = std::snprintf(line.data(), line.size(), "%s: memory ran out", what);
  log(LogLevel::Error, {line.data(), static_cast<std::size_t>(size)});
}

void count_refusal(Resources& resources, Errc code) noexcept {
  if (code == Errc::HandlerTimedOut) return;  // counted in handlers_cancelled
  WorkerCounters& counters = resources.counters;
  if (code == Errc::OutOfMemory) {
    ++counters.out_of_memory;
    return;
  }
  switch (status_for(code)) {
    case Status::RequestTimeout: ++counters.refused_slow; break;
    case Status::ServiceUnavailable:  // the server keeps too much content already
    case Status::ContentTooLarge:
    case Status::UriTooLong:
    case Status::RequestHeaderFieldsTooLarge: ++counters.refused_too_large; break;
    default: ++counters.refused_malformed; break;
  }
}

}  // namespace skua::server
