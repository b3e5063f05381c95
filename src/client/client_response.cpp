// SPDX-License-Identifier: MIT
// The public ClientResponse: a view of a IncomingResponse.
#include "skua/client_response.hpp"

#include <utility>

#include "base/ascii.hpp"
#include "client/files/download.hpp"
#include "client/wire/incoming_response.hpp"

namespace skua {
namespace {

std::optional<std::string_view> find(const http::Head& head, std::string_view name,
                                     std::size_t nth) noexcept {
  const http::FieldName known = http::find_field_name(name);
  for (const http::FieldLine& line : head.fields) {
    if (line.name != known) continue;
    if (known == http::FieldName::Other && !ascii::equals_ignoring_case(head.name(line), name)) {
      continue;
    }
    if (nth-- == 0) return head.value(line);
  }
  return std::nullopt;
}

std::optional<std::pair<std::string_view, std::string_view>> at(const http::Head& head,
                                                                std::size_t nth) noexcept {
  if (nth >= head.fields.size()) return std::nullopt;
  return std::pair{head.name(head.fields[nth]), head.value(head.fields[nth])};
}

}  // namespace

ClientResponse::ClientResponse(std::unique_ptr<client::IncomingResponse> incoming) noexcept
    : incoming_(std::move(incoming)) {}
ClientResponse::ClientResponse(ClientResponse&&) noexcept = default;
ClientResponse& ClientResponse::operator=(ClientResponse&&) noexcept = default;
ClientResponse::~ClientResponse() = default;

Status ClientResponse::status() const noexcept { return incoming_->status(); }
Version ClientResponse::version() const noexcept { return incoming_->head().version(); }
std::string_view ClientResponse::reason() const noexcept { return incoming_->head().target(); }

std::optional<std::string_view> ClientResponse::header(std::string_view name,
                                                       std::size_t nth) const noexcept {
  return find(incoming_->head(), name, nth);
}

std::optional<std::pair<std::string_view, std::string_view>> ClientResponse::header_line(
    std::size_t nth) const noexcept {
  return at(incoming_->head(), nth);
}

std::optional<std::pair<std::string_view, std::string_view>> ClientResponse::trailer_line(
    std::size_t nth) const noexcept {
  return at(incoming_->trailers(), nth);
}

std::optional<std::string_view> ClientResponse::trailer(std::string_view name) const noexcept {
  return find(incoming_->trailers(), name, 0);
}

const Url& ClientResponse::url() const noexcept { return incoming_->url(); }
unsigned ClientResponse::redirects() const noexcept { return incoming_->asked().redirects; }
std::optional<std::uint64_t> ClientResponse::length_bytes() const noexcept {
  return incoming_->length_bytes();
}
bool ClientResponse::is_decoded() const noexcept { return incoming_->is_decoded(); }

const Address& ClientResponse::remote_address() const noexcept {
  static const Address unknown;
  const client::PeerFacts* const peer = incoming_->asked().peer.get();
  return peer != nullptr ? peer->address : unknown;
}

const TlsInfo* ClientResponse::tls() const noexcept {
  const client::PeerFacts* const peer = incoming_->asked().peer.get();
  return peer != nullptr && peer->tls ? &*peer->tls : nullptr;
}

const ClientTimings& ClientResponse::timings() const noexcept { return incoming_->timings(); }

Task<Result<std::optional<Bytes>, Problem>> ClientResponse::read() { return incoming_->read(); }

Task<Result<std::string, Problem>> ClientResponse::text() { return text(incoming_->text_limit()); }

Task<Result<std::string, Problem>> ClientResponse::text(std::size_t limit_bytes) {
  return client::read_text(*incoming_, limit_bytes);
}

Task<Result<std::uint64_t, Problem>> ClientResponse::save(std::string path) {
  return client::save(*incoming_, std::move(path));
}

}  // namespace skua
