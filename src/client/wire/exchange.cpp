// SPDX-License-Identifier: MIT
// Helpers shared by HTTP/1 and HTTP/2 connections.
#include "client/wire/exchange.hpp"

#include "skua/body_writer.hpp"

namespace skua::client {

std::optional<std::uint64_t> length_of(const Body& content) noexcept {
  const std::shared_ptr<const BodyStream>* const stream = content.stream();
  return stream == nullptr ? content.size_bytes() : (*stream)->length_bytes;
}

Result<Exchange::Step> read_step(Exchange& exchange, bool is_producer_ours) {
  if (!is_producer_ours) return exchange.read();
  try {
    return exchange.read();
  } catch (const Exception& exception) {
    return exception.error();
  }
}

h1::RequestHead head_of(const OutgoingRequest& request) noexcept {
  h1::RequestHead head{.method = request.method,
                       .other_method = request.other_method,
                       .target = request.target,
                       .form = request.form};
  if (request.content.kind() == Body::Kind::None) return head;
  const std::optional<std::uint64_t> length = length_of(request.content);
  head.body = length ? h1::BodyField::Length : h1::BodyField::Chunked;
  head.length_bytes = length.value_or(0);
  return head;
}

}  // namespace skua::client
