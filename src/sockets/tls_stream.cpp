// SPDX-License-Identifier: MIT
// In: connections without TLS. Out: connections with it, once the handshake has succeeded.
#include "skua/tls_stream.hpp"

#include <utility>

#include "loop/clock.hpp"
#include "net/problem.hpp"
#include "sockets/connect.hpp"
#include "sockets/handshake.hpp"
#include "sockets/stream_core.hpp"
#include "tls/client_context.hpp"
#include "tls/reloadable_context.hpp"

namespace skua {

using sockets::StreamCore;

namespace {

const loop::Clock& wall() noexcept {
  static const loop::SteadyClock clock;
  return clock;
}

/// Runs the handshake of either side, whose context is `side`.
template <class Side>
Task<Result<net::HeldStream, Problem>> secure(net::HeldStream stream, Side side, std::string step,
                                              net::TimeLimit limit) {
  sockets::Handshake handshake(loop::Loop::current(), std::move(stream), std::move(side));
  Result<net::HeldStream, Problem> secured = co_await handshake.run(std::move(step), limit);
  co_return secured;
}

/// Takes the connection out of a stream that nobody uses and that has brought no bytes yet.
Result<net::HeldStream, Problem> take(const StreamCore::Self& core, const std::string& step) {
  if (core == nullptr || !core->is_open()) {
    return net::could_not(step, Error(Errc::Closed, "the stream is not open"));
  }
  if (!core->unread().empty()) {
    return net::could_not(step, Errc::TlsHandshakeFailed, "there is data before the handshake");
  }
  if (!core->has_sent_all()) {
    return net::could_not(step, Errc::AlreadyStarted, "not everything has been sent");
  }
  return net::HeldStream(core->give_up());
}

Result<void, Problem> check_host(const std::string& step, std::string_view host) {
  const std::string_view fault = tls::ClientContext::fault_of(host);
  if (fault.empty()) return {};
  return net::could_not(step, Errc::InvalidHost, std::string(fault));
}

}  // namespace

TlsConnector::TlsConnector(std::shared_ptr<const tls::ClientContext> context) noexcept
    : context_(std::move(context)) {}

Result<TlsConnector, Problem> TlsConnector::create(const ClientTlsOptions& options,
                                                   const std::vector<std::string>& protocols) {
  auto context = tls::ClientContext::create(options, protocols);
  if (!context) return std::move(context).error();
  return TlsConnector(*std::move(context));
}

TlsAcceptor::TlsAcceptor(std::shared_ptr<tls::ReloadableContext> context) noexcept
    : context_(std::move(context)) {}

Result<TlsAcceptor, Problem> TlsAcceptor::create(const TlsOptions& options,
                                                 const std::vector<std::string>& protocols) {
  auto context = tls::ReloadableContext::create(options, protocols, wall());
  if (!context) return std::move(context).error();
  return TlsAcceptor(*std::move(context));
}

Result<void, Problem> TlsAcceptor::reload() { return context_->reload(); }

TlsStream::TlsStream(std::shared_ptr<StreamCore> core) noexcept : Stream(std::move(core)) {}

Task<Result<TlsStream, Problem>> TlsStream::connect(TlsConnector connector, std::string host,
                                                    std::uint16_t port, ConnectOptions options) {
  const std::string step = "speak TLS with " + host + ":" + std::to_string(port);
  if (auto checked = check_host(step, host); !checked) co_return std::move(checked).error();
  Result<net::HeldStream, Problem> plain = co_await sockets::connect(host, port, options);
  if (!plain) co_return std::move(plain).error();
  const net::TimeLimit limit{options.handshake, "ConnectOptions::handshake"};
  std::unique_ptr<tls::Engine> engine = connector.context_->connect(host, port);
  Result<net::HeldStream, Problem> secured =
      co_await secure(*std::move(plain), std::move(engine), step, limit);
  if (!secured) co_return std::move(secured).error();
  co_return TlsStream(StreamCore::open(loop::Loop::current(), *std::move(secured)));
}

Task<Result<TlsStream, Problem>> TlsStream::connect(TlsConnector connector, TcpStream stream,
                                                    std::string host, Duration patience) {
  const std::string step = "speak TLS with " + host;
  if (auto checked = check_host(step, host); !checked) co_return std::move(checked).error();
  Result<net::HeldStream, Problem> plain = take(stream.core(), step);
  if (!plain) co_return std::move(plain).error();
  const net::TimeLimit limit{patience};
  std::unique_ptr<tls::Engine> engine = connector.context_->connect(host);
  Result<net::HeldStream, Problem> secured =
      co_await secure(*std::move(plain), std::move(engine), step, limit);
  if (!secured) co_return std::move(secured).error();
  co_return TlsStream(StreamCore::open(loop::Loop::current(), *std::move(secured)));
}

Task<Result<TlsStream, Problem>> TlsStream::accept(TlsAcceptor acceptor, TcpStream stream,
                                                   Duration patience) {
  const std::string step = "speak TLS with a client";
  Result<net::HeldStream, Problem> plain = take(stream.core(), step);
  if (!plain) co_return std::move(plain).error();
  const net::TimeLimit limit{patience};
  std::shared_ptr<const tls::ServerContext> context = acceptor.context_->current();
  Result<net::HeldStream, Problem> secured =
      co_await secure(*std::move(plain), std::move(context), step, limit);
  if (!secured) co_return std::move(secured).error();
  co_return TlsStream(StreamCore::open(loop::Loop::current(), *std::move(secured)));
}

std::string_view TlsStream::protocol() const noexcept {
  return core() != nullptr && core()->is_open() ? core()->stream().protocol() : std::string_view();
}

}  // namespace skua
