// SPDX-License-Identifier: MIT
// One thread of a TcpServer. It accepts while the server is below its limit, owns its clients until
// they are closed, and ends once the server stops and nothing is left.
#include "sockets/tcp_worker.hpp"

#include <exception>
#include <new>
#include <utility>

#include "net/socket.hpp"
#include "net/tcp_stream.hpp"
#include "tls/tls_stream.hpp"

namespace skua::sockets {
namespace {

constexpr Duration limit_retry = 100ms;

}  // namespace

Result<std::unique_ptr<TcpWorker>> TcpWorker::create(TcpShared& shared) {
  auto loop = loop::Loop::create({.backend = shared.options.backend});
  if (!loop) return loop.error();
  return std::unique_ptr<TcpWorker>(new TcpWorker(shared, *std::move(loop)));
}

TcpWorker::TcpWorker(TcpShared& shared, std::unique_ptr<loop::Loop> loop)
    : shared_(shared),
      loop_(std::move(loop)),
      clients_data_{.options = shared.options,
                    .make_session = shared.make_session,
                    .loop = *loop_,
                    .kept_bytes = shared.kept_bytes,
                    .on_closed =
                        [](void* self, TcpClient& client) noexcept {
                          static_cast<TcpWorker*>(self)->client_closed(client);
                        },
                    .owner = this},
      resume_timer_(
          loop_->timers(),
          [](void* self) noexcept { static_cast<TcpWorker*>(self)->update_pressure(); }, this),
      stop_timer_(
          loop_->timers(), [](void* self) noexcept { static_cast<TcpWorker*>(self)->close_all(); },
          this) {}

TcpWorker::~TcpWorker() {
  close_all();
  while (listener_ != nullptr || !clients_.empty()) loop_->run_once(Duration(0));
}

void TcpWorker::listen(Socket socket) {
  listener_ = std::make_unique<net::Listener>(*loop_, std::move(socket),
                                              static_cast<net::ListenerSink&>(*this));
  listener_->resume();
}

void TcpWorker::adopt(Socket socket) {
  // A shared_ptr because posted functions must be copyable. It closes the socket if the loop drops
  // the post.
  auto shared = std::make_shared<Socket>(std::move(socket));
  loop_->post([this, shared] { open(std::move(*shared)); });
}

void TcpWorker::run() {
  while (run_once(Duration(-1))) {
  }
}

bool TcpWorker::run_once(Duration max_wait) {
  if (!is_stopping_ && shared_.is_stopping.load()) begin_stop();
  loop_->run_once(max_wait);
  return !is_stopping_ || listener_ != nullptr || !clients_.empty();
}

void TcpWorker::on_accept(Socket socket) {
  if (!accepts(socket)) return;
  receiver_ ? receiver_(std::move(socket)) : open(std::move(socket));
}

/// Whether the filters let the peer in. One that throws lets nobody in.
bool TcpWorker::accepts(const Socket& socket) const {
  const TcpServerOptions& options = shared_.options;
  if (options.ip_filter == nullptr && !options.accepts) return true;
  const Address peer = socket.peer_address().unmapped();
  if (options.ip_filter != nullptr && !options.ip_filter->accepts(peer)) return false;
  if (!options.accepts) return true;
  try {
    return options.accepts(peer);
  } catch (const std::exception& error) {
    log(LogLevel::Error, std::string("TcpServerOptions::accepts threw: ").append(error.what()));
  } catch (...) {
    log(LogLevel::Error, "TcpServerOptions::accepts threw an exception of an unknown type");
  }
  return false;
}

// A client that cannot be served for lack of memory is closed by its destructor.
void TcpWorker::open(Socket socket) try {
  net::set_no_delay(socket.descriptor());
  std::unique_ptr<net::Stream> stream =
      std::make_unique<net::TcpStream>(loop_->backend(), std::move(socket));
  if (shared_.tls != nullptr) {
    stream = std::make_unique<tls::TlsStream>(*loop_, std::move(stream), shared_.tls->current());
  }
  auto owned = std::make_unique<TcpClient>(clients_data_, std::move(stream));
  TcpClient& client = *owned.release();  // client_closed takes it back
  clients_.push_back(client);
  shared_.open_clients.fetch_add(1, std::memory_order_relaxed);
  client.start();
  if (is_stopping_) client.stop();
  update_pressure();
} catch (const std::bad_alloc&) {
  log(LogLevel::Error, "out of memory: a new client was disconnected");
}

void TcpWorker::client_closed(TcpClient& client) noexcept {
  const std::unique_ptr<TcpClient> owned(&client);
  client.unlink();
  shared_.open_clients.fetch_sub(1, std::memory_order_relaxed);
  update_pressure();
}

void TcpWorker::update_pressure() noexcept {
  if (listener_ == nullptr || is_stopping_) return;
  if (shared_.open_clients.load(std::memory_order_relaxed) < shared_.options.clients) {
    if (std::exchange(is_at_limit_, false)) listener_->resume();
    return resume_timer_.stop();
  }
  if (!std::exchange(is_at_limit_, true)) listener_->pause();
  resume_timer_.start(limit_retry);
}

void TcpWorker::on_accept_paused(Error error) { log(LogLevel::Warning, error.message()); }

void TcpWorker::begin_stop() {
  is_stopping_ = true;
  resume_timer_.stop();
  stop_timer_.start(shared_.options.shutdown);
  if (listener_ != nullptr) listener_->drain();
  clients_.for_each([](TcpClient& client) { client.stop(); });
}

void TcpWorker::close_all() noexcept {
  clients_.for_each([](TcpClient& client) { client.close(); });
  if (listener_ != nullptr) listener_->close();
}

void TcpWorker::log(LogLevel level, std::string_view text) const noexcept {
  if (!shared_.options.log) return;
  try {
    shared_.options.log(level, text);
  } catch (...) {  // NOLINT(bugprone-empty-catch): nobody is left to be told
  }
}

}  // namespace skua::sockets
