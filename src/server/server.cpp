// SPDX-License-Identifier: MIT
// The life cycle of a server: New -> Running -> Draining -> Ended, and from there again. Each cycle
// is a ServerRun; this file tracks the current one, and lets only one thread start the next.
#include "skua/server.hpp"

#include "async/guarded.hpp"
#include "base/ascii.hpp"
#include "net/log.hpp"
#include "server/server_run.hpp"
#include "skua/meter.hpp"
#include "skua/shutdown_signals.hpp"

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

namespace skua {
namespace {

using server::ServerRun;
using server::ServerSetup;

ServerOptions completed(ServerOptions options) {
  if (options.threads == 0) options.threads = std::max(1U, std::thread::hardware_concurrency());
  if (!std::ranges::all_of(options.server_name, ascii::is_field_value))
    throw std::invalid_argument("ServerOptions: server_name contains a control character");
  options.hooks = server::guarded(std::move(options.hooks));
  return options;
}

}  // namespace

struct Server::Impl {
  Impl(const Router& router, ServerOptions options)
      : setup(new ServerSetup{router, completed(std::move(options))}) {}

  Result<void, Problem> start(const std::function<Result<void, Problem>()>& before_threads);
  Result<std::shared_ptr<ServerRun>, Problem> replace_run(
      const std::shared_ptr<ServerRun>& old,
      const std::function<Result<void, Problem>()>& before_threads);
  void stop(Duration deadline);
  [[nodiscard]] std::shared_ptr<ServerRun> present() const;

  const std::shared_ptr<const ServerSetup> setup;
  mutable std::mutex mutex;
  std::condition_variable start_ended;
  // Guarded by mutex. A run is shared because it may briefly outlive its server.
  std::shared_ptr<ServerRun> run;
  std::optional<std::thread::id> starter;  // the thread inside start()
  bool is_start_stopped = false;           // the start in progress is to be abandoned
  Counters past;                           // sums of the runs before this one
};

Server::Server(const Router& router, ServerOptions options)
    : impl_(std::make_unique<Impl>(router, std::move(options))) {
  if (const auto& metrics = impl_->setup->options.metrics) metrics->add(*this);
}

Server::~Server() {
  shutdown(Duration(0));
  if (const auto& metrics = impl_->setup->options.metrics) metrics->remove(*this);
}

Result<void, Problem> Server::start() { return impl_->start({}); }

Result<void, Problem> Server::start(const std::function<Result<void, Problem>()>& before_threads) {
  return impl_->start(before_threads);
}

Result<void, Problem> Server::Impl::start(
    const std::function<Result<void, Problem>()>& before_threads) {
  std::shared_ptr<ServerRun> old;
  {
    const std::lock_guard lock(mutex);
    if (starter || (run != nullptr && run->state() != ServerState::Ended)) {
      return Problem::from(Error(Errc::AlreadyStarted, "start"));
    }
    starter = std::this_thread::get_id();
    is_start_stopped = false;
    old = run;
  }
  auto made = replace_run(old, before_threads);
  if (!made) return std::move(made).error();
  const Result<void> started = (*made)->start();
  if (!started) return Problem::from(started.error());
  return {};
}

// Slow operations and calls of hooks happen without the lock.
Result<std::shared_ptr<ServerRun>, Problem> Server::Impl::replace_run(
    const std::shared_ptr<ServerRun>& old,
    const std::function<Result<void, Problem>()>& before_threads) {
  struct Ending {
    ~Ending() {
      const std::lock_guard lock(impl.mutex);
      impl.starter.reset();
      impl.start_ended.notify_all();
    }
    Impl& impl;
  } const ending{*this};
  if (old != nullptr) old->wait();
  auto made = ServerRun::create(setup);
  if (!made) return made;
  std::unique_lock lock(mutex);
  const Counters past_before = past;
  if (old != nullptr) old->add_to(past);
  run = *made;  // port() and url() know it from now on
  const auto give_up = [&](Problem why) {
    run = old;
    past = past_before;
    (*made)->abandon();
    return why;
  };
  if (before_threads) {
    lock.unlock();
    Result<void, Problem> ready = async::attempted(before_threads, "start");
    lock.lock();
    if (!ready) return give_up(std::move(ready).error());
  }
  if (is_start_stopped) return give_up(Problem::from(Error(Errc::Cancelled, "start")));
  return made;
}

std::shared_ptr<ServerRun> Server::Impl::present() const {
  const std::lock_guard lock(mutex);
  return run;
}

// Drains the current run, and abandons a start in progress.
void Server::Impl::stop(Duration deadline) {
  std::shared_ptr<ServerRun> ended;
  {
    const std::lock_guard lock(mutex);
    if (starter) is_start_stopped = true;
    ended = run;
  }
  if (ended != nullptr) ended->begin_drain(deadline);
}

void Server::shutdown() { shutdown(impl_->setup->options.timeouts.shutdown); }

void Server::shutdown(Duration deadline) {
  impl_->stop(deadline);
  wait();
}

void Server::begin_shutdown() { impl_->stop(impl_->setup->options.timeouts.shutdown); }

void Server::cancel() { impl_->stop(Duration::zero()); }

void Server::wait() {
  Impl& impl = *impl_;
  std::shared_ptr<ServerRun> waited;
  {
    std::unique_lock lock(impl.mutex);
    if (impl.starter == std::this_thread::get_id()) return;  // in a hook called by start()
    impl.start_ended.wait(lock, [&impl] { return !impl.starter; });
    waited = impl.run;
  }
  if (waited != nullptr) waited->wait();
}

ServerState Server::state() const noexcept {
  const std::shared_ptr<ServerRun> run = impl_->present();
  return run == nullptr ? ServerState::New : run->state();
}

std::uint16_t Server::port() const noexcept {
  const std::shared_ptr<ServerRun> run = impl_->present();
  return run == nullptr ? std::uint16_t{0} : run->addresses().front().port();
}

std::vector<std::string> Server::urls() const {
  const std::shared_ptr<ServerRun> run = impl_->present();
  if (run == nullptr) return {};
  const char* const scheme = run->tls() != nullptr ? "https://" : "http://";
  std::vector<std::string> urls;
  for (const Address& address : run->addresses()) {
    urls.push_back((address.is_ip() ? scheme : "") + address.to_string());
  }
  return urls;
}

std::string Server::url() const {
  const std::vector<std::string> all = urls();
  return all.empty() ? std::string() : all.front();
}

BackendChoice Server::backend() const noexcept {
  const std::shared_ptr<ServerRun> run = impl_->present();
  return run == nullptr ? impl_->setup->options.backend : run->backend();
}

void Server::publish(std::string_view topic, std::string_view text, MessageType type) {
  const std::shared_ptr<ServerRun> run = impl_->present();
  if (run != nullptr) run->hub().publish(topic, type, text);
}

Result<void, Problem> Server::reload_tls() {
  const std::shared_ptr<ServerRun> run = impl_->present();
  tls::ReloadableContext* const context = run == nullptr ? nullptr : run->tls();
  if (context == nullptr) {
    return Problem::from(Error(Errc::Unsupported, "the server does not use TLS"));
  }
  auto reloaded = context->reload();
  tls::log_reload(impl_->setup->options.hooks.log, *context,
                  reloaded ? nullptr : &reloaded.error());
  return reloaded;
}

std::string Server::tls_fingerprint() const {
  const std::shared_ptr<ServerRun> run = impl_->present();
  const tls::ReloadableContext* const context = run == nullptr ? nullptr : run->tls();
  return context == nullptr ? std::string() : context->current()->fingerprint();
}

std::optional<std::chrono::system_clock::time_point> Server::tls_expiry() const {
  const std::shared_ptr<ServerRun> run = impl_->present();
  const tls::ReloadableContext* const context = run == nullptr ? nullptr : run->tls();
  if (context == nullptr) return std::nullopt;
  return std::chrono::system_clock::from_time_t(context->current()->ends_at());
}

Counters Server::counters() const {
  std::shared_ptr<ServerRun> run;
  Counters sum;
  {
    const std::lock_guard lock(impl_->mutex);
    run = impl_->run;
    sum = impl_->past;
  }
  if (run != nullptr) run->add_to(sum);
  return sum;
}

std::vector<ListeningSocket> Server::listening_sockets() const {
  const std::shared_ptr<ServerRun> run = impl_->present();
  return run == nullptr ? std::vector<ListeningSocket>() : run->listening_sockets();
}

void Server::share_listening_sockets() {
  if (const std::shared_ptr<ServerRun> run = impl_->present()) run->share_listening_sockets();
}

std::size_t Server::on_each_thread(const std::function<void()>& call) {
  const std::shared_ptr<ServerRun> run = impl_->present();
  return run == nullptr ? 0 : run->post_to_workers(call);
}

const std::function<void(LogLevel, std::string_view)>& Server::log() const noexcept {
  return impl_->setup->options.hooks.log;
}

Result<void, Problem> serve(const Router& router, ServerOptions options) {
  if (!options.hooks.log) options.hooks.log = net::to_standard_error();
  const ShutdownSignals signals;
  Server server(router, std::move(options));
  if (auto started = server.start(); !started) return started;
  signals.wait_and_drain(server);
  return {};
}

}  // namespace skua
