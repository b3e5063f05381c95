// SPDX-License-Identifier: MIT
// In: a request. Out: an identifier that correlates log lines across systems. It is unique but not
// secret.
#include <algorithm>
#include <cstdint>
#include <stdexcept>

#include "base/ascii.hpp"
#include "crypto/random.hpp"
#include "skua/middleware.hpp"

namespace skua {
namespace {

constexpr std::size_t longest_bytes = 128;

bool is_sane(std::string_view id) noexcept {
  return !id.empty() && id.size() <= longest_bytes &&
         std::all_of(id.begin(), id.end(), [](char c) { return c > ' ' && c < '\x7f'; });
}

}  // namespace

RequestIds::RequestIds(RequestIdOptions options) : options_(std::move(options)) {
  if (!ascii::is_token_text(options_.field)) {
    throw std::invalid_argument("request_id: the field name is not a token");
  }
}

std::optional<Response> RequestIds::guard(Request& request) const {
  const auto incoming = request.header(options_.field);
  if (options_.trust_incoming && incoming && is_sane(*incoming)) {
    request.attachments().set(RequestId{std::string(*incoming)});
  } else {
    request.attachments().set(RequestId{crypto::random_token().value()});
  }
  return std::nullopt;
}

void RequestIds::finish(const Request& request, Response& response) const {
  // A guard of an outer router may have answered before ours ran.
  const RequestId* const id = request.attachments().find<RequestId>();
  if (id != nullptr) response.header(options_.field, id->value);
}

}  // namespace skua
