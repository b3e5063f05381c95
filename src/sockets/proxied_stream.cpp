// SPDX-License-Identifier: MIT
// In: a stream that begins with a PROXY header. Out: the rest of it. A header that arrives whole is
// read where it lies; what follows it in the same piece goes on to the sink in the same call.
#include "sockets/proxied_stream.hpp"

#include <new>
#include <utility>

#include "sockets/proxy_header.hpp"

namespace skua::sockets {

ProxiedStream::ProxiedStream(std::unique_ptr<net::Stream> inner, ProxiedStreamOwner& owner)
    : inner_(std::move(inner)), owner_(owner) {
  inner_->listen(*this);
}

Address ProxiedStream::peer() const {
  return client_.family() != Address::Family::None ? client_ : inner_->peer();
}

Address ProxiedStream::local() const {
  return server_.family() != Address::Family::None ? server_ : inner_->local();
}

void ProxiedStream::close() {
  state_ = State::Closing;
  inner_->close();
}

void ProxiedStream::on_receive(std::span<char> bytes) {
  if (state_ == State::Open) [[likely]]
    return sink().on_receive(bytes);
  if (state_ != State::Header) return;
  const Result<std::optional<std::size_t>> used = take_header({bytes.data(), bytes.size()});
  if (!used) return refuse(used.error());
  if (!*used) return;
  has_header_ = true;
  state_ = State::Open;
  // Each call to the sink may close this stream.
  sink().on_established();
  if (state_ == State::Open && **used < bytes.size()) sink().on_receive(bytes.subspan(**used));
}

// Returns how many of the bytes belong to the header, once it is complete.
Result<std::optional<std::size_t>> ProxiedStream::take_header(std::string_view bytes) noexcept try {
  const std::size_t kept_bytes = kept_.size();
  if (kept_bytes != 0) kept_.append(bytes.substr(0, max_proxy_header_bytes - kept_bytes));
  const auto header = read_proxy_header(kept_bytes != 0 ? std::string_view(kept_) : bytes);
  if (!header) return header.error();
  const std::optional<ProxyHeader>& found = *header;
  if (!found) {
    if (kept_bytes == 0) kept_.assign(bytes);
    return std::nullopt;
  }
  client_ = found->client;
  server_ = found->server;
  is_client_secure_ = found->is_secure;
  std::string().swap(kept_);
  return found->size_bytes - kept_bytes;
} catch (const std::bad_alloc&) {
  return Error(Errc::OutOfMemory, "PROXY header");
}

// A proxy may connect only to see whether the server accepts, and then leave.
void ProxiedStream::on_receive_end(Error error) {
  if (state_ == State::Open) return sink().on_receive_end(error);
  if (state_ != State::Header) return;
  if (kept_.empty() || error.code() != Errc::None) return end(error);
  refuse({Errc::MalformedProxyHeader, "the end"});
}

void ProxiedStream::refuse(Error why) {
  if (why.code() == Errc::MalformedProxyHeader) owner_.on_bad_proxy_header(why, inner_->peer());
  end(why);
}

void ProxiedStream::end(Error error) {
  state_ = State::Ended;
  kept_.clear();
  sink().on_receive_end(error);
}

}  // namespace skua::sockets
