// SPDX-License-Identifier: MIT
// A server: workers and the threads they run on. Everything that can fail fails in start(), on the
// caller's thread, before the first thread is started.
#include "skua/server.hpp"

#include "base/ascii.hpp"
#include "h2/session.hpp"
#include "server/worker.hpp"
#include "skua/shutdown_signals.hpp"
#include "tls/reloadable_context.hpp"

#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace skua {
namespace {

Result<net::Address> listen_address(const ServerOptions& options) {
  constexpr std::string_view unix_prefix = "unix:";
  const std::string_view host = options.host;
  if (host.starts_with(unix_prefix))
    return net::Address::unix_path(host.substr(unix_prefix.size()));
  return net::Address::parse(host == "localhost" ? "127.0.0.1" : host, options.port);
}

BackendChoice choice(loop::BackendKind kind) noexcept {
  switch (kind) {
    case loop::BackendKind::Epoll: return BackendChoice::Epoll;
    case loop::BackendKind::IoUring: return BackendChoice::IoUring;
    case loop::BackendKind::Poll: return BackendChoice::Poll;
    case loop::BackendKind::Auto: break;
  }
  return BackendChoice::Auto;
}

// An Error refers to text that never goes away. A server that cannot start, or cannot read its
// certificates again, says so rarely.
Error lasting_error(const Problem& problem) {
  static std::mutex mutex;
  static std::vector<std::unique_ptr<const std::string>> texts;
  const std::lock_guard lock(mutex);
  for (const auto& text : texts) {
    if (*text == problem.text) return {problem.error.code(), text->c_str()};
  }
  texts.push_back(std::make_unique<const std::string>(problem.text));
  return {problem.error.code(), texts.back()->c_str()};
}

}  // namespace

struct Server::Impl {
  Impl(const Router& served, ServerOptions told) : router(served), options(std::move(told)) {
    if (options.threads == 0) options.threads = std::max(1U, std::thread::hardware_concurrency());
    if (!std::ranges::all_of(options.server_name, ascii::is_field_value))
      throw std::invalid_argument("ServerOptions: the server_name has a control character");
  }

  Result<void> listen_on_all(const net::Address& wanted);
  Result<void> listen_on_first(const net::Address& wanted);
  Result<void> prepare_tls();
  void warn_of_certificates() const;
  void run_threads();
  void end(Duration deadline);

  const Router& router;
  ServerOptions options;
  server::SharedState shared{options};
  loop::SteadyClock clock;
  net::Address address;
  std::vector<std::unique_ptr<server::Worker>> workers;
  std::vector<std::thread> threads;
  std::mutex ending;
  std::mutex mutex;
  std::condition_variable changed;
  std::size_t running = 0;  // threads; guarded by mutex
};

Server::Server(const Router& router, ServerOptions options)
    : impl_(std::make_unique<Impl>(router, std::move(options))) {}

Server::~Server() { shutdown(Duration(0)); }

Result<void> Server::start() {
  Impl& impl = *impl_;
  SKUA_ASSERT(impl.workers.empty());
  const Result<net::Address> wanted = listen_address(impl.options);
  if (!wanted) return wanted.error();
  if (impl.options.tls.is_enabled()) {
    if (const Result<void> secure = impl.prepare_tls(); !secure) return secure;
  }
  for (unsigned i = 0; i < impl.options.threads; ++i) {
    auto worker = server::Worker::create(impl.router, impl.options, impl.shared);
    if (!worker) return impl.workers.clear(), worker.error();
    impl.workers.push_back(*std::move(worker));
  }
  const Result<void> listening = wanted->is_ip() && impl.workers.size() > 1
                                     ? impl.listen_on_all(*wanted)
                                     : impl.listen_on_first(*wanted);
  if (!listening) return impl.workers.clear(), listening.error();
  if (impl.shared.tls != nullptr) impl.workers.front()->watch_certificates();
  impl.run_threads();
  return {};
}

Result<void> Server::Impl::prepare_tls() {
  std::vector<std::string> protocols{"http/1.1"};
  if (options.http2 && h2::is_available()) protocols.insert(protocols.begin(), "h2");
  auto made = tls::ReloadableContext::create(options.tls, std::move(protocols), clock);
  if (!made) return lasting_error(made.error());
  shared.tls = *std::move(made);
  warn_of_certificates();
  return {};
}

void Server::Impl::warn_of_certificates() const {
  if (!options.hooks.log) return;
  for (const std::string& warning : shared.tls->current()->warnings()) {
    options.hooks.log(LogLevel::Warning, "TLS: " + warning);
  }
}

void Server::publish(std::string_view topic, std::string_view text, MessageType type) {
  impl_->shared.hub.publish(topic, type, text);
}

Result<void> Server::reload_tls() {
  Impl& impl = *impl_;
  if (impl.shared.tls == nullptr) return Error(Errc::Unsupported, "no TLS is spoken");
  const std::optional<Problem> problem = impl.shared.tls->reload();
  const auto& log = impl.options.hooks.log;
  if (problem) {
    if (log) log(LogLevel::Error, "TLS: the old certificates stay: " + problem->text);
    return lasting_error(*problem);
  }
  if (log) log(LogLevel::Info, "TLS: certificates were read again");
  impl.warn_of_certificates();
  return {};
}

std::string Server::tls_fingerprint() const {
  return impl_->shared.tls == nullptr ? std::string() : impl_->shared.tls->current()->fingerprint();
}

// The kernel balances: every worker listens itself.
Result<void> Server::Impl::listen_on_all(const net::Address& wanted) {
  // Sockets that share a port also share it with another process of ours, silently. So ask once for
  // the port alone: a port that is taken must be an error.
  {
    const Result<net::Socket> probe = net::create_listener(wanted);
    if (!probe) return probe.error();
    address = net::local_address(probe->descriptor());
  }
  for (const auto& worker : workers) {
    Result<net::Socket> socket = net::create_listener(address, {.reuse_port = true});
    if (!socket) return socket.error();
    worker->listen(*std::move(socket));
  }
  return {};
}

// One worker accepts for all: where there is only one, and where the kernel does not balance.
Result<void> Server::Impl::listen_on_first(const net::Address& wanted) {
  Result<net::Socket> socket = net::create_listener(wanted);
  if (!socket) return socket.error();
  address = net::local_address(socket->descriptor());
  workers.front()->listen(*std::move(socket));
  if (workers.size() > 1) {
    workers.front()->hand_over([this, next = std::size_t{0}](net::Socket accepted) mutable {
      next = (next + 1) % workers.size();
      workers[next]->adopt(std::move(accepted));
    });
  }
  return {};
}

void Server::Impl::run_threads() {
  running = workers.size();
  for (const auto& worker : workers) {
    threads.emplace_back([this, &worker] {
      worker->run();
      const std::lock_guard lock(mutex);
      --running;
      changed.notify_all();
    });
  }
}

void Server::Impl::end(Duration deadline) {
  for (const auto& worker : workers) worker->begin_drain();
  {
    std::unique_lock lock(mutex);
    changed.wait_for(lock, deadline, [this] { return running == 0; });
  }
  for (const auto& worker : workers) worker->cancel();
  for (std::thread& thread : threads) thread.join();
  threads.clear();
  if (!address.path().empty()) ::unlink(std::string(address.path()).c_str());
}

std::uint16_t Server::port() const noexcept { return impl_->address.port(); }

std::string Server::url() const {
  const std::string place = impl_->address.to_string();
  const std::string_view scheme = impl_->shared.tls == nullptr ? "http://" : "https://";
  return impl_->address.is_ip() ? std::string(scheme).append(place) : place;
}

BackendChoice Server::backend() const noexcept {
  return impl_->workers.empty() ? impl_->options.backend
                                : choice(impl_->workers.front()->backend());
}

void Server::shutdown() { shutdown(impl_->options.timeouts.shutdown); }

void Server::shutdown(Duration deadline) {
  const std::lock_guard lock(impl_->ending);  // a second caller waits until the first is through
  if (!impl_->threads.empty()) impl_->end(deadline);
}

void Server::cancel() {
  for (const auto& worker : impl_->workers) worker->cancel();
}

Counters Server::counters() const {
  Counters sum;
  for (const auto& worker : impl_->workers) worker->add_to(sum);
  return sum;
}

Result<void> serve(const Router& router, ServerOptions options) {
  const ShutdownSignals signals;
  Server server(router, std::move(options));
  if (const Result<void> started = server.start(); !started) return started;
  signals.wait_and_drain(server);
  return {};
}

}  // namespace skua
