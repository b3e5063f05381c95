// SPDX-License-Identifier: MIT
// What a server tells about its responses: counters, and the hook that an access log hangs on.
#include "server/journal.hpp"

#include <string_view>

namespace skua::server {
namespace {

std::string_view value_or_empty(const http::Head& head, http::FieldName name) noexcept {
  const http::FieldLine* line = head.find(name);
  return line != nullptr ? head.value(*line) : std::string_view();
}

}  // namespace

std::string peer_of(const void* stream) {
  return static_cast<const net::Stream*>(stream)->peer().to_string();
}

void record_response(const Resources& resources, const net::Stream& stream, const http::Head& head,
                     Status status, std::uint64_t content_bytes, Errc error) {
  const auto& tell = resources.options.hooks.on_response;
  if (!tell) return;
  const std::string peer = peer_of(&stream);
  tell({.peer = peer,
        .target = head.target(),
        .referer = value_or_empty(head, http::FieldName::Referer),
        .user_agent = value_or_empty(head, http::FieldName::UserAgent),
        .method = head.method,
        .version = head.version(),
        .status = status,
        .body_bytes = content_bytes,
        .error = error});
}

void count_refusal(Resources& resources, Errc code) noexcept {
  if (code == Errc::HandlerTimedOut) return;  // one of handlers_cancelled
  WorkerCounters& counters = resources.counters;
  switch (status_for(code)) {
    case Status::RequestTimeout: ++counters.refused_slow; break;
    case Status::ServiceUnavailable:  // it keeps too much content already
    case Status::ContentTooLarge:
    case Status::UriTooLong:
    case Status::RequestHeaderFieldsTooLarge: ++counters.refused_too_large; break;
    default: ++counters.refused_malformed; break;
  }
}

}  // namespace skua::server
