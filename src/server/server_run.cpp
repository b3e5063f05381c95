// SPDX-License-Identifier: MIT
// The threads of a server end by themselves: a drain, its deadline and a cancel are passed to the
// workers, each worker keeps its own time, and the last thread to leave marks the run as ended.
// wait() only waits for that mark, so ending a run does not depend on the thread that asked for it.
#include "server/server_run.hpp"

#include <algorithm>
#include <exception>
#include <new>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "base/file_io.hpp"
#include "files/open/held_file.hpp"
#include "net/listener.hpp"
#include "net/log.hpp"
#include "net/socket.hpp"
#include "tls/certificate_watch.hpp"

namespace skua::server {
namespace {

// A listener, its spare descriptor, the loop's own three, and a file being read.
constexpr std::size_t descriptors_per_thread = 6;
// A duplicate of a shared one, and its spare descriptor.
constexpr std::size_t descriptors_per_listener = 2;

}  // namespace

std::size_t connection_cap(const ServerOptions& options, std::size_t open_files,
                           std::size_t taken) noexcept {
  const std::size_t threads =
      options.threads != 0 ? options.threads : std::max(1U, std::thread::hardware_concurrency());
  const std::size_t needed = taken + threads * descriptors_per_thread +
                             options.listeners.size() * descriptors_per_listener;
  if (open_files <= needed) return 0;
  const std::size_t left = open_files - needed;
  // Half of the reserve is for files that responses hold open, a quarter for those of caches.
  const std::size_t reserve = std::min(2 * files::held_files_at_most(open_files), left / 2);
  return std::min(options.limits.connections, left - reserve);
}

// Hooks are wrapped, because they run where a server cannot handle an exception: between two
// requests, or while a connection closes.
Hooks guarded(Hooks hooks) {
  hooks.log = net::quiet(std::move(hooks.log));
  hooks.on_response = net::guarded(std::move(hooks.on_response), "on_response", hooks.log);
  hooks.on_connection_open =
      net::guarded(std::move(hooks.on_connection_open), "on_connection_open", hooks.log);
  hooks.on_connection_close =
      net::guarded(std::move(hooks.on_connection_close), "on_connection_close", hooks.log);
  hooks.on_connection_refused =
      net::guarded(std::move(hooks.on_connection_refused), "on_connection_refused", hooks.log);
  return hooks;
}

namespace {

thread_local const ServerRun* run_of_this_thread = nullptr;

}  // namespace

ServerRun::ServerRun(std::shared_ptr<const ServerSetup> setup)
    : setup_(std::move(setup)), shared_(setup_->options) {}

// The threads are about to end and no longer use any member.
ServerRun::~ServerRun() {
  for (std::thread& thread : threads_) {
    if (!thread.joinable()) continue;
    if (thread.get_id() == std::this_thread::get_id()) {
      thread.detach();
    } else {
      thread.join();
    }
  }
}

Result<std::shared_ptr<ServerRun>, Problem> ServerRun::create(
    std::shared_ptr<const ServerSetup> setup) {
  auto made = std::make_shared<ServerRun>(std::move(setup));
  if (auto prepared = made->prepare(); !prepared) return std::move(prepared).error();
  return made;
}

Result<void, Problem> ServerRun::prepare() {
  if (auto secure = prepare_tls(); !secure) return secure;
  return prepare_workers();
}

Result<void, Problem> ServerRun::prepare_workers() {
  const ServerOptions& options = setup_->options;
  if (const Result<void> limited = limit_connections(); !limited) {
    return Problem::from(limited.error());
  }
  for (unsigned i = 0; i < options.threads; ++i) {
    auto worker = Worker::create(setup_->router, options, shared_);
    if (!worker) return Problem::from(worker.error());
    workers_.push_back(*std::move(worker));
  }
  if (auto listening = listen(); !listening) return listening;
  if (shared_.tls != nullptr) workers_.front()->watch_certificates();
  threads_.reserve(workers_.size());
  return {};
}

Result<void> ServerRun::limit_connections() {
  const ServerOptions& options = setup_->options;
  if (options.raise_open_files) base::raise_open_files_limit();
  const std::size_t open_files = base::open_files_limit();
  shared_.connections.cap = connection_cap(options, open_files, base::open_files_count());
  if (shared_.connections.cap == 0 && options.limits.connections != 0) {
    return Error(Errc::TooManyOpenFiles, "RLIMIT_NOFILE (ulimit -n) is too low for connections");
  }
  if (shared_.connections.cap >= options.limits.connections || !options.hooks.log) return {};
  // A default that is nearly reached is no news.
  constexpr std::size_t few = 1024;
  const bool is_asked = options.limits.connections != Limits().connections;
  const bool is_news = is_asked || shared_.connections.cap < few;
  options.hooks.log(is_news ? LogLevel::Info : LogLevel::Debug,
                    "limited to " + std::to_string(shared_.connections.cap) +
                        " connections because the process may open only " +
                        std::to_string(open_files) + " files (RLIMIT_NOFILE, ulimit -n)");
  return {};
}

Result<void, Problem> ServerRun::prepare_tls() {
  std::vector<std::string> protocols{"http/1.1"};
  const ServerOptions& options = setup_->options;
  if (options.http2) protocols.insert(protocols.begin(), "h2");
  auto made = tls::ReloadableContext::create_if_enabled(options.tls, protocols, setup_->clock);
  if (!made) return std::move(made).error();
  if (*made == nullptr) return {};
  shared_.tls = *std::move(made);
  tls::log_warnings(options.hooks.log, *shared_.tls);
  return {};
}

namespace {

// net::could_not_listen() says more, but no other code of a small server needs that file.
SKUA_COLD Problem cannot_listen(std::string place, Error error) {
  place.insert(0, "could not listen on ").append(": ").append(error.message());
  return {error, std::move(place)};
}

}  // namespace

Result<void, Problem> ServerRun::listen() {
  const ServerOptions& options = setup_->options;
  if (!options.listeners.empty()) return listen_on_shared();
  const Result<Address> wanted = net::listen_address(options.host, options.port);
  if (!wanted) return cannot_listen(options.host, wanted.error());
  if (options.reuse_port && !wanted->is_ip()) {
    return Problem{Error(Errc::Unsupported, "listen"), "reuse_port: Unix sockets have no ports"};
  }
  const bool is_spread = workers_.size() > 1 && setup_->system_balances;
  const bool is_balanced = wanted->is_ip() && (is_spread || options.reuse_port);
  const Result<void> listening = is_balanced ? listen_on_all(*wanted) : listen_on_first(*wanted);
  if (!listening) return cannot_listen(wanted->to_string(), listening.error());
  return {};
}

// The kernel does not balance shared sockets: with every worker on each of them, one connection
// would wake all.
Result<void, Problem> ServerRun::listen_on_shared() {
  std::size_t next = 0;
  for (const ListeningSocket& listener : setup_->options.listeners) {
    Result<Socket, Problem> socket = net::share(listener);
    if (!socket) return std::move(socket).error();
    const Address address = socket->local_address();
    if (std::ranges::find(addresses_, address) == addresses_.end()) addresses_.push_back(address);
    if (listener.owns_path) own_path_ = address.path();
    Worker& worker = *workers_[next++ % workers_.size()];
    worker.acceptor().listen(*std::move(socket), sockets::Acceptor::Queue::Shared);
    worker.acceptor().share_with(sockets::acceptors_of(workers_));
  }
  return {};
}

// Every worker has a listener of its own; the kernel balances.
Result<void> ServerRun::listen_on_all(const Address& wanted) {
  auto sockets = net::create_listeners(wanted, workers_.size(), setup_->options.reuse_port);
  if (!sockets) return sockets.error();
  addresses_ = {sockets->front().local_address()};
  for (std::size_t i = 0; i < workers_.size(); ++i)
    workers_[i]->acceptor().listen(std::move((*sockets)[i]));
  return {};
}

// The first worker accepts for all, if it is the only one or the kernel does not balance.
Result<void> ServerRun::listen_on_first(const Address& wanted) {
  Result<Socket> socket = net::create_listener(wanted);
  if (!socket) return socket.error();
  addresses_ = {socket->local_address()};
  own_path_ = addresses_.front().path();
  sockets::Acceptor& acceptor = workers_.front()->acceptor();
  acceptor.listen(*std::move(socket));
  acceptor.share_with(sockets::acceptors_of(workers_));
  return {};
}

Result<void> ServerRun::start() {
  const std::lock_guard joining(joining_);  // wait() must join all threads
  {
    const std::lock_guard lock(mutex_);
    running_ = workers_.size();
  }
  for (const auto& worker : workers_) {
    try {
      threads_.emplace_back([self = shared_from_this(), &worker] { self->run(*worker); });
    } catch (const std::system_error& error) {
      return give_up({Errc::SystemFailure, "start a thread", error.code().value()});
    } catch (const std::bad_alloc&) {
      return give_up({Errc::OutOfMemory, "start a thread"});
    }
  }
  return {};
}

Error ServerRun::give_up(Error why) {
  cancel();
  threads_ended(workers_.size() - threads_.size());
  return why;
}

void ServerRun::run(Worker& worker) {
  run_of_this_thread = this;
  worker.run();
  threads_ended(1);
}

void ServerRun::threads_ended(std::size_t count) {
  const std::lock_guard lock(mutex_);
  running_ -= count;
  if (running_ != 0) return;
  if (!own_path_.empty()) ::unlink(own_path_.c_str());
  state_ = ServerState::Ended;
  changed_.notify_all();
}

bool ServerRun::is_own_thread() const noexcept {
  return run_of_this_thread == this || shared_.pool.is_own_thread();
}

void ServerRun::begin_drain(Duration deadline) {
  {
    const std::lock_guard lock(mutex_);
    if (state_ == ServerState::Ended) return;
    const bool is_delayed = state_ == ServerState::Running && running_ != 0 &&
                            deadline > Duration::zero() && !are_sockets_shared_ &&
                            setup_->options.timeouts.drain_delay > Duration::zero();
    state_ = is_delayed ? ServerState::Leaving : ServerState::Draining;
    if (is_delayed) {
      return workers_.front()->loop().post([this, deadline] { start_delay(deadline); });
    }
  }
  for (const auto& worker : workers_) worker->begin_drain(deadline);
}

void ServerRun::start_delay(Duration deadline) {
  if (state() != ServerState::Leaving) return;
  deadline_after_delay_ = deadline;
  const auto go_on = [](void* self) noexcept {
    ServerRun& run = *static_cast<ServerRun*>(self);
    run.begin_drain(run.deadline_after_delay_);
  };
  delay_timer_.emplace(workers_.front()->loop().timers(), go_on, this);
  delay_timer_->start(setup_->options.timeouts.drain_delay);
}

void ServerRun::cancel() { begin_drain(Duration::zero()); }

// The workers' sockets are theirs; a worker that has ended has none left.
std::vector<ListeningSocket> ServerRun::listening_sockets() {
  if (is_own_thread()) return {};
  struct Answers {
    std::vector<Socket> sockets{};
    std::size_t missing = 0;
  };
  const auto answers = std::make_shared<Answers>();  // a run that ends may answer late
  answers->sockets.reserve(workers_.size() + setup_->options.listeners.size());
  std::unique_lock lock(mutex_);
  for (const auto& worker : workers_) {
    if (running_ == 0) {  // no thread has started yet, or all have ended
      worker->acceptor().duplicate_listeners(answers->sockets);
      continue;
    }
    worker->loop().post([this, answers, &acceptor = worker->acceptor()] {
      const std::lock_guard answer(mutex_);
      acceptor.duplicate_listeners(answers->sockets);
      --answers->missing;
      changed_.notify_all();
    });
    ++answers->missing;
  }
  changed_.wait(lock, [&] { return answers->missing == 0 || state_ == ServerState::Ended; });
  std::vector<ListeningSocket> listeners;
  for (Socket& socket : answers->sockets) {
    const Address address = socket.local_address();
    const bool owns_path = !own_path_.empty() && address.path() == own_path_;
    listeners.push_back({std::make_shared<Socket>(std::move(socket)), name_of(address), owns_path});
  }
  return listeners;
}

// Returns the name that the socket has in the options.
std::string ServerRun::name_of(const Address& address) const {
  for (const ListeningSocket& listener : setup_->options.listeners) {
    if (listener.socket->local_address() == address) return listener.name;
  }
  return {};
}

void ServerRun::share_listening_sockets() {
  const std::lock_guard lock(mutex_);
  are_sockets_shared_ = true;
  own_path_.clear();
  for (const auto& worker : workers_) {
    worker->loop().post([acceptor = &worker->acceptor()] { acceptor->share_queues(); });
  }
}

std::size_t ServerRun::post_to_workers(const std::function<void()>& call) {
  if (state() == ServerState::Ended) return 0;
  const auto safe = net::guarded(call, "on_each_thread", setup_->options.hooks.log);
  for (const auto& worker : workers_) worker->loop().post(safe);
  return workers_.size();
}

void ServerRun::wait() {
  if (is_own_thread()) return;
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return state_ == ServerState::Ended; });
  }
  const std::lock_guard joining(joining_);
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

ServerState ServerRun::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

void ServerRun::add_to(Counters& sum) const {
  for (const auto& worker : workers_) worker->add_to(sum);
  const loop::WorkerPool::Counts offloads = shared_.pool.counts();
  sum.offloads_refused += offloads.refused;
  if (state() == ServerState::Ended) return;  // dropped calls may still be in the queue
  sum.offloads_running += offloads.running;
  sum.offloads_waiting += offloads.waiting;
  sum.content_kept_bytes += shared_.content_budget.kept_bytes();
}

}  // namespace skua::server
