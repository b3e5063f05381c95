// SPDX-License-Identifier: MIT
// In: a request, whose views end with the handler. Out: a copy that owns all but the content.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "http/captures.hpp"
#include "http/field.hpp"
#include "http/request_parts.hpp"
#include "skua/request.hpp"

namespace skua {
namespace {

std::size_t end_of_text(const http::Head& head) noexcept {
  std::size_t end = std::size_t{head.target_begin} + head.target_bytes;
  for (const http::FieldLine& line : head.fields) {
    end = std::max({end, std::size_t{line.name_begin} + line.name_bytes,
                    std::size_t{line.value_begin} + line.value_bytes});
  }
  return end;
}

struct KeptRequest {
  explicit KeptRequest(const http::RequestParts& parts, const http::Captures* matched)
      : text(parts.head->base, end_of_text(*parts.head)),
        lines(parts.head->fields.begin(), parts.head->fields.end()),
        path(parts.path),
        query(parts.query),
        host(parts.host),
        upgrade(parts.upgrade),
        peer(parts.peer != nullptr ? parts.peer(parts.peer_context) : std::string()),
        head(*parts.head) {
    head.base = text.data();
    head.fields = lines;
    known = {.head = &head,
             .path = path,
             .query = query,
             .host = host,
             .peer = [](const void* kept) { return *static_cast<const std::string*>(kept); },
             .peer_context = &peer,
             .is_secure = parts.is_secure,
             .upgrade = upgrade};
    if (matched == nullptr) return;
    captures.names = matched->names;
    captures.count = matched->count;
    // Captures are views of the path, or empty.
    for (std::uint32_t i = 0; i < matched->count; ++i) {
      const std::string_view value = (*matched)[i];
      const bool is_inside = value.data() >= parts.path.data() &&
                             value.data() <= parts.path.data() + parts.path.size();
      captures.texts[i] = {is_inside ? path.data() + (value.data() - parts.path.data()) : "",
                           is_inside ? value.size() : 0};
    }
    http::RequestAccess::bind(request, &captures);
  }

  std::string text;
  std::vector<http::FieldLine> lines;
  std::string path;
  std::string query;
  std::string host;
  std::string upgrade;
  std::string peer;
  http::Head head;
  http::RequestParts known;
  http::Captures captures;
  Request request{known};
};

}  // namespace

std::shared_ptr<Request> detail::keep_request(const Request& request) {
  auto kept = std::make_shared<KeptRequest>(http::RequestAccess::parts(request),
                                            http::RequestAccess::captures(request));
  return {kept, &kept->request};
}

}  // namespace skua
