// SPDX-License-Identifier: MIT
// One thread of a TcpServer. It accepts while the server is below its limit, owns its clients until
// they are closed, and ends once the server stops and nothing is left.
#include "sockets/tcp_worker.hpp"

#include <exception>
#include <utility>

#include "net/log.hpp"
#include "net/socket.hpp"

namespace skua::sockets {
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
      acceptor_(*loop_, shared.tls.get(), shared.clients, static_cast<AcceptorOwner&>(*this)),
      stop_timer_(
          loop_->timers(), [](void* self) noexcept { static_cast<TcpWorker*>(self)->close_all(); },
          this) {
  loop_->use_log(&shared.options.log);
}

TcpWorker::~TcpWorker() {
  close_all();
  while (!acceptor_.end() || !clients_.empty()) loop_->run_once(Duration(0));
}

void TcpWorker::watch_certificates() {
  certificate_watch_.emplace(*loop_, *shared_.tls, shared_.options.tls.reload_interval,
                             shared_.options.log);
}

void TcpWorker::run() {
  while (run_once(Duration(-1))) {
  }
  loop_->drop_belongings();
}

bool TcpWorker::run_once(Duration max_wait) {
  if (!is_stopping_ && shared_.is_stopping.load()) begin_stop();
  loop_->run_once(max_wait);
  const bool is_finishing = loop_->kept_tasks().count != 0 && !is_closed_;
  return !is_stopping_ || !clients_.empty() || !acceptor_.end() || is_finishing;
}

Socket TcpWorker::admit(Socket connection) {
  return accepts(connection) ? std::move(connection) : Socket();
}

/// Whether the filters let the peer in. One that throws lets nobody in.
bool TcpWorker::accepts(const Socket& connection) const {
  const TcpServerOptions& options = shared_.options;
  if (options.ip_filter == nullptr && !options.accepts) return true;
  const Address peer = connection.peer_address().unmapped();
  if (options.ip_filter != nullptr && !options.ip_filter->accepts(peer)) return false;
  if (!options.accepts) return true;
  try {
    return options.accepts(peer);
  } catch (const std::exception& error) {
    net::tell(options.log, LogLevel::Error, {"TcpServerOptions::accepts threw: ", error.what()});
  } catch (...) {
    net::tell(options.log, LogLevel::Error,
              {"TcpServerOptions::accepts threw an exception of an unknown type"});
  }
  return false;
}

void TcpWorker::serve(std::unique_ptr<net::Stream> stream) {
  auto owned = std::make_unique<TcpClient>(clients_data_, std::move(stream));
  TcpClient& client = *owned.release();  // client_closed takes it back
  clients_.push_back(client);
  acceptor_.opened();
  client.start();
  if (is_stopping_) client.stop();
}

void TcpWorker::client_closed(TcpClient& client) noexcept {
  const std::unique_ptr<TcpClient> owned(&client);
  client.unlink();
  acceptor_.closed();
}

void TcpWorker::on_accept_paused(Error why) noexcept {
  if (why.code() == Errc::None) return;
  net::tell(shared_.options.log, LogLevel::Warning, why);
}

// The client was disconnected by the destructor of its socket.
void TcpWorker::on_accept_failed() noexcept {
  net::tell(shared_.options.log, LogLevel::Error, {"out of memory: a new client was disconnected"});
}

void TcpWorker::begin_stop() {
  is_stopping_ = true;
  if (certificate_watch_) certificate_watch_->stop();
  stop_timer_.start(shared_.options.shutdown);
  acceptor_.drain();
  clients_.for_each([](TcpClient& client) { client.stop(); });
}

void TcpWorker::close_all() noexcept {
  is_closed_ = true;
  clients_.for_each([](TcpClient& client) { client.close(); });
  acceptor_.close();
}

}  // namespace skua::sockets
