// SPDX-License-Identifier: MIT
// In: options and a factory of sessions. Out: workers on their threads, the first of them on the
// caller's. Every worker has a listener of its own if the system balances between them.
#include "skua/tcp_server.hpp"

#include <signal.h>

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>
#include <utility>

#include "base/disk.hpp"
#include "loop/signal.hpp"
#include "net/listener.hpp"
#include "net/log.hpp"
#include "net/problem.hpp"
#include "net/socket.hpp"
#include "sockets/tcp_worker.hpp"
#include "tls/certificate_watch.hpp"

namespace skua::detail {

using sockets::TcpWorker;

namespace {

/// Options that others take for "no limit", and that would let nobody stay here.
Result<void, Problem> check(const TcpServerOptions& options) {
  const Error refused(Errc::Unsupported, "TcpServerOptions");
  if (options.clients == 0) {
    return Problem{refused, "TcpServerOptions::clients is 0, so that nobody could connect"};
  }
  if (options.idle <= Duration::zero()) {
    return Problem{refused,
                   "TcpServerOptions::idle is 0, so that each client would be idle at once: "
                   "Duration::max() is never"};
  }
  return {};
}

Problem already_listening() {
  return net::could_not("listen", Error(Errc::AlreadyStarted, "server"));
}

}  // namespace

/// A server and its threads.
class TcpServerCore {
 public:
  TcpServerCore(TcpServerOptions options, MakeTcpSession make)
      : shared_{.options = std::move(options), .make_session = std::move(make)} {
    shared_.options.log = net::quiet(std::move(shared_.options.log));
    if (shared_.options.threads == 0) {
      shared_.options.threads = std::max(1U, std::thread::hardware_concurrency());
    }
  }
  TcpServerCore(const TcpServerCore&) = delete;
  TcpServerCore& operator=(const TcpServerCore&) = delete;
  ~TcpServerCore();

  Result<void, Problem> listen();
  Result<void, Problem> listen(Socket socket);
  Result<void, Problem> run();
  Result<void, Problem> run_until_signal(const std::function<void()>& on_ready);
  Result<bool, Problem> poll(Duration max_wait);
  void request_stop() noexcept;

  [[nodiscard]] const Address& address() const noexcept { return address_; }
  [[nodiscard]] std::size_t client_count() const noexcept { return shared_.clients.open.load(); }

 private:
  Result<void, Problem> begin();
  Result<void, Problem> prepare();
  Result<void, Problem> listen_at(const Address& wanted);
  Result<void, Problem> listen_on_all(const Address& wanted);
  Result<void, Problem> conclude(Result<void, Problem> listening);
  void accept_for_all(Socket socket);
  Result<void, Problem> serve();
  Result<void, Problem> start_threads();
  void join();

  sockets::TcpShared shared_;
  std::vector<std::unique_ptr<TcpWorker>> workers_;
  std::atomic<bool> has_workers_{false};  // they listen, so request_stop() may wake them
  std::vector<std::thread> threads_;
  Address address_;
  bool owns_file_ = false;  // the Unix socket's, which is removed in the end
  bool has_run_ = false;
};

TcpServerCore::~TcpServerCore() {
  request_stop();
  join();
  workers_.clear();
  if (owns_file_) disk::unlink(std::string(address_.path()).c_str());
}

Result<void, Problem> TcpServerCore::prepare() {
  const TcpServerOptions& options = shared_.options;
  if (auto checked = check(options); !checked) return checked;
  static const loop::SteadyClock clock;
  auto context = tls::ReloadableContext::create_if_enabled(options.tls, options.protocols, clock);
  if (!context) return std::move(context).error();
  shared_.tls = *std::move(context);
  if (shared_.tls != nullptr) tls::log_warnings(options.log, *shared_.tls);
  for (unsigned i = 0; i < options.threads; ++i) {
    auto worker = TcpWorker::create(shared_);
    if (!worker) return Problem::from(worker.error());
    workers_.push_back(*std::move(worker));
  }
  if (shared_.tls != nullptr) workers_.front()->watch_certificates();
  return {};
}

Result<void, Problem> TcpServerCore::listen() {
  const TcpServerOptions& options = shared_.options;
  const Result<Address> wanted = net::listen_address(options.host, options.port);
  if (!wanted) return net::could_not("listen on", options.host, wanted.error());
  if (!workers_.empty()) return already_listening();
  Result<void, Problem> listening = prepare();
  if (listening) listening = listen_at(*wanted);
  return conclude(std::move(listening));
}

Result<void, Problem> TcpServerCore::listen(Socket socket) {
  if (!workers_.empty()) return already_listening();
  // Checks that it listens.
  Result<Socket, Problem> shared =
      net::share({.socket = std::make_shared<const Socket>(std::move(socket))});
  if (!shared) return std::move(shared).error();
  Result<void, Problem> listening = prepare();
  if (listening) accept_for_all(*std::move(shared));
  return conclude(std::move(listening));
}

// After a failure, the server may try again with new workers: no other thread knows the old ones.
Result<void, Problem> TcpServerCore::conclude(Result<void, Problem> listening) {
  if (listening) {
    has_workers_.store(true);
  } else {
    workers_.clear();
  }
  return listening;
}

Result<void, Problem> TcpServerCore::listen_at(const Address& wanted) {
  if (wanted.is_ip() && workers_.size() > 1 && net::balances_listeners) {
    return listen_on_all(wanted);
  }
  if (wanted.family() == Address::Family::Unix) {
    Result<UnixSocket, Problem> socket = UnixSocket::listen_on(wanted);
    if (!socket) return std::move(socket).error();
    owns_file_ = !wanted.path().empty();
    accept_for_all(*std::move(socket));
    return {};
  }
  Result<TcpSocket, Problem> socket =
      TcpSocket::listen_on(wanted, {.reuse_port = shared_.options.reuse_port});
  if (!socket) return std::move(socket).error();
  accept_for_all(*std::move(socket));
  return {};
}

// Every worker has a listener of its own; the system balances.
Result<void, Problem> TcpServerCore::listen_on_all(const Address& wanted) {
  auto sockets = net::create_listeners(wanted, workers_.size(), shared_.options.reuse_port);
  if (!sockets) return net::could_not_listen(wanted, sockets.error());
  address_ = sockets->front().local_address();
  for (std::size_t i = 0; i < workers_.size(); ++i)
    workers_[i]->acceptor().listen(std::move((*sockets)[i]));
  return {};
}

// The first worker accepts for all, if it is the only one or the system does not balance.
void TcpServerCore::accept_for_all(Socket socket) {
  address_ = socket.local_address();
  sockets::Acceptor& acceptor = workers_.front()->acceptor();
  acceptor.listen(std::move(socket));
  acceptor.share_with(sockets::acceptors_of(workers_));
}

Result<void, Problem> TcpServerCore::begin() {
  if (has_run_) return net::could_not("run", Error(Errc::AlreadyStarted, "server"));
  if (workers_.empty()) {
    if (auto listening = listen(); !listening) return listening;
  }
  has_run_ = true;
  return {};
}

Result<void, Problem> TcpServerCore::run() {
  if (auto begun = begin(); !begun) return begun;
  return serve();
}

Result<void, Problem> TcpServerCore::run_until_signal(const std::function<void()>& on_ready) {
  if (auto begun = begin(); !begun) return begun;
  const auto watcher = loop::SignalWatcher::create(workers_.front()->loop(), {SIGINT, SIGTERM},
                                                   [this](int) { request_stop(); });
  if (!watcher) return Problem::from(watcher.error());
  if (on_ready) on_ready();
  return serve();
}

Result<void, Problem> TcpServerCore::serve() {
  if (auto started = start_threads(); !started) return started;
  workers_.front()->run();
  join();
  return {};
}

Result<void, Problem> TcpServerCore::start_threads() {
  for (std::size_t i = 1; i < workers_.size(); ++i) {
    try {
      threads_.emplace_back([worker = workers_[i].get()] { worker->run(); });
    } catch (const std::system_error& error) {
      request_stop();
      join();
      return Problem::from({Errc::SystemFailure, "start a thread", error.code().value()});
    }
  }
  return {};
}

void TcpServerCore::join() {
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

Result<bool, Problem> TcpServerCore::poll(Duration max_wait) {
  if (shared_.options.threads != 1) {
    return net::could_not("poll", Error(Errc::Unsupported, "the server has several threads"));
  }
  if (workers_.empty()) {
    if (auto listening = listen(); !listening) return std::move(listening).error();
  }
  return workers_.front()->run_once(max_wait);
}

// A worker that is made meanwhile sees the first store before it waits.
void TcpServerCore::request_stop() noexcept {
  shared_.is_stopping.store(true);
  if (!has_workers_.load()) return;
  for (const auto& worker : workers_) worker->wake();
}

}  // namespace skua::detail

namespace skua {

TcpServerBase::TcpServerBase(TcpServerOptions options, detail::MakeTcpSession make)
    : core_(std::make_unique<detail::TcpServerCore>(std::move(options), std::move(make))) {}
TcpServerBase::~TcpServerBase() = default;

Result<void, Problem> TcpServerBase::listen() { return core_->listen(); }
Result<void, Problem> TcpServerBase::listen(StreamSocket socket) {
  return core_->listen(std::move(socket));
}
const Address& TcpServerBase::address() const noexcept { return core_->address(); }
Result<void, Problem> TcpServerBase::run() { return core_->run(); }
Result<void, Problem> TcpServerBase::run_until_signal(const std::function<void()>& on_ready) {
  return core_->run_until_signal(on_ready);
}
Result<bool, Problem> TcpServerBase::poll(Duration max_wait) { return core_->poll(max_wait); }
void TcpServerBase::request_stop() noexcept { core_->request_stop(); }
std::size_t TcpServerBase::client_count() const noexcept { return core_->client_count(); }

}  // namespace skua
