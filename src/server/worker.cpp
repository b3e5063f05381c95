// SPDX-License-Identifier: MIT
// One thread of a server. It accepts while the server is below its cap, owns its connections until
// they are closed, and ends once it drains and nothing is left.
#include "server/worker.hpp"

#include <new>
#include <utility>

#include "base/memory.hpp"
#include "loop/clock.hpp"
#include "net/listener.hpp"
#include "net/tcp_stream.hpp"
#include "server/accounting.hpp"
#include "tls/tls_stream.hpp"

namespace skua::server {
namespace {

constexpr Duration cap_retry = 100ms;
/// After many bytes, free memory is trimmed once no connection has closed for this long.
constexpr Duration trim_delay = 2s;
constexpr std::uint64_t trim_after_bytes = 16_MiB;

}  // namespace

class Worker::Door final : private net::ListenerSink {
 public:
  Door(Worker& worker, Socket socket, Queue queue)
      : worker_(worker),
        queue_(queue),
        listener_(*worker.loop_, std::move(socket), static_cast<net::ListenerSink&>(*this)) {}

  void resume() { listener_.resume(); }
  void pause() { listener_.pause(); }
  void close() { listener_.close(); }
  void drain() { queue_ == Queue::Own ? listener_.drain() : listener_.close(); }

 private:
  void on_accept(Socket socket) override { worker_.accepted(std::move(socket)); }
  void on_accept_paused(Error error) override { worker_.accept_paused(error); }
  void on_listener_closed() override { worker_.door_closed(*this); }

  Worker& worker_;
  const Queue queue_;
  net::Listener listener_;
};

Result<std::unique_ptr<Worker>> Worker::create(const Router& router, const ServerOptions& options,
                                               SharedState& shared, const loop::Clock* clock) {
  auto loop = loop::Loop::create({.backend = options.backend, .clock = clock});
  if (!loop) return loop.error();
  return std::unique_ptr<Worker>(new Worker(*std::move(loop), router, options, shared));
}

Worker::Worker(std::unique_ptr<loop::Loop> loop, const Router& router, const ServerOptions& options,
               SharedState& shared)
    : options_(options),
      shared_(shared),
      loop_(std::move(loop)),
      resources_(router, options, *loop_, shared.hub, shared.content_budget, shared.connection_ids,
                 static_cast<ConnectionOwner&>(*this)),
      filter_(options, resources_.counters, *loop_),
      resume_timer_(
          loop_->timers(),
          [](void* self) noexcept { static_cast<Worker*>(self)->update_pressure(); }, this),
      reload_timer_(
          loop_->timers(),
          [](void* self) noexcept { static_cast<Worker*>(self)->reload_certificates(); }, this),
      trim_timer_(
          loop_->timers(), [](void* self) noexcept { static_cast<Worker*>(self)->trim_memory(); },
          this),
      drain_timer_(
          loop_->timers(), [](void* self) noexcept { static_cast<Worker*>(self)->close_all(); },
          this) {
  loop_->use_pool(&shared.pool);
}

Worker::~Worker() {
  close_all();
  while (!doors_.empty() || !connections_.empty()) loop_->run_once(Duration(0));
}

void Worker::listen(Socket socket, Queue queue) {
  doors_.push_back(std::make_unique<Door>(*this, std::move(socket), queue));
}

void Worker::run() {
  for (const auto& door : doors_) door->resume();
  loop_->run();
}

bool Worker::adopt(Socket& socket) {
  const std::lock_guard lock(adopting_);
  if (has_ended_) return false;
  // First, so that none is left without a post if memory runs out.
  if (adopted_.empty()) loop_->post([this] { serve_adopted(); });
  adopted_.push_back(std::move(socket));
  // It counts at once: a worker that is busy must not let the others exceed the cap.
  shared_.open_connections.fetch_add(1, std::memory_order_relaxed);
  return true;
}

void Worker::serve_adopted() {
  std::vector<Socket> batch;
  {
    const std::lock_guard lock(adopting_);
    batch.swap(adopted_);
  }
  for (Socket& socket : batch) {
    // If it is too late, close_all() has been here.
    if (loop_->now() < drained_by_) guarded([&] { open(std::move(socket)); });
    // After serve() has counted it again: a dip would let the worker that accepts exceed the cap.
    shared_.open_connections.fetch_sub(1, std::memory_order_relaxed);
  }
  end_if_done();
}

void Worker::begin_drain(Duration deadline) {
  loop_->post([this, deadline] { drain(deadline); });
}

void Worker::add_to(Counters& sum) const noexcept {
  resources_.counters.add_to(sum);
  const loop::SystemCalls& calls = loop_->backend().system_calls();
  sum.wait_calls += calls.waits;
  sum.receive_calls += calls.receives;
  sum.send_calls += calls.sends;
  sum.other_calls += calls.others;
}

void Worker::accepted(Socket socket) {
  guarded([&] {
    Socket admitted = filter_.admit(std::move(socket));
    if (!admitted) return;
    if (receiver_ && receiver_(admitted)) return update_pressure();
    open(std::move(admitted));
  });
}

// A connection that cannot be served for lack of memory is closed by its destructor.
template <class Work>
void Worker::guarded(Work&& work) noexcept {
  try {
    std::forward<Work>(work)();
  } catch (const std::bad_alloc&) {
    note_out_of_memory(resources_, "a new connection was closed");
  }
}

void Worker::open(Socket socket) {
  net::set_no_delay(socket.descriptor());
  std::unique_ptr<net::Stream> stream =
      std::make_unique<net::TcpStream>(loop_->backend(), std::move(socket));
  if (shared_.tls != nullptr) {
    stream = std::make_unique<tls::TlsStream>(*loop_, std::move(stream), shared_.tls->current());
  }
  serve(std::move(stream));
}

void Worker::watch_certificates() {
  const Duration interval = options_.tls.reload_interval;
  if (interval > Duration(0)) reload_timer_.start(interval);
}

void Worker::reload_certificates() {
  const Result<bool, Problem> reloaded = shared_.tls->reload_if_changed();
  watch_certificates();
  const auto& log = options_.hooks.log;
  if (!log) return;
  if (!reloaded) {
    log(LogLevel::Error, "TLS: keeping the old certificates: " + reloaded.error().text);
  } else if (*reloaded) {
    log(LogLevel::Info, "TLS: certificates reloaded");
  }
}

void Worker::serve(std::unique_ptr<net::Stream> stream) {
  const auto& tell = options_.hooks.on_connection_open;
  const std::string peer = tell ? stream->peer().to_string() : std::string();
  auto owned = std::make_unique<Connection>(resources_, std::move(stream));
  Connection& connection = *owned.release();  // connection_closed takes it back
  connections_.push_back(connection);
  ++resources_.counters.accepted;
  shared_.open_connections.fetch_add(1, std::memory_order_relaxed);
  if (tell) tell(peer);
  connection.start();
  if (resources_.is_draining) connection.drain();
  update_pressure();
}

void Worker::connection_closed(Connection& connection) noexcept {
  const std::unique_ptr<Connection> owned(&connection);
  ++resources_.counters.closed;
  shared_.open_connections.fetch_sub(1, std::memory_order_relaxed);
  connection.unlink();
  update_pressure();
  if (taken_bytes() - trimmed_bytes_ >= trim_after_bytes) trim_timer_.start(trim_delay);
  end_if_done();
}

void Worker::update_pressure() noexcept {
  const std::size_t open = shared_.open_connections.load(std::memory_order_relaxed);
  const std::size_t cap = shared_.connection_cap;
  resources_.is_under_pressure = open > cap / 5 * 4;
  if (doors_.empty() || resources_.is_draining) return;
  if (open < cap) {
    resume_timer_.stop();
    if (!std::exchange(is_at_cap_, false)) return;
    for (const auto& door : doors_) door->resume();
    return;
  }
  if (!std::exchange(is_at_cap_, true)) {
    ++resources_.counters.accept_pauses;
    for (const auto& door : doors_) door->pause();
  }
  resume_timer_.start(cap_retry);
}

// Counts the bytes that peers have ever made us hold, including decompressed messages.
std::uint64_t Worker::taken_bytes() const noexcept {
  return resources_.counters.bytes_received + resources_.codecs.inflaters().made_bytes();
}

// Gives memory back to the system that the allocator kept after a burst.
void Worker::trim_memory() noexcept {
  trimmed_bytes_ = taken_bytes();
  base::give_back_free_memory();
}

void Worker::accept_paused(Error error) {
  ++resources_.counters.accept_pauses;
  if (const auto& log = options_.hooks.log) log(LogLevel::Warning, error.message());
}

void Worker::door_closed(Door& door) noexcept {
  std::erase_if(doors_, [&door](const auto& own) { return own.get() == &door; });
  end_if_done();
}

void Worker::drain(Duration deadline) {
  const loop::Instant end = later(loop_->now(), deadline);
  if (end < drained_by_) {
    drained_by_ = end;
    drain_timer_.start(deadline);
  }
  if (!resources_.is_draining) stop_taking();
  if (deadline <= Duration::zero()) close_all();
}

void Worker::stop_taking() {
  resources_.is_draining = true;
  resume_timer_.stop();
  reload_timer_.stop();
  trim_timer_.stop();
  connections_.for_each([](Connection& connection) { connection.drain(); });
  for (const auto& door : doors_) door->drain();
  end_if_done();
}

void Worker::close_all() noexcept {
  connections_.for_each([](Connection& connection) { connection.close(); });
  for (const auto& door : doors_) door->close();
}

void Worker::end_if_done() {
  if (!resources_.is_draining || !doors_.empty() || !connections_.empty()) return;
  {
    const std::lock_guard lock(adopting_);
    if (!adopted_.empty()) return;  // serve_adopted() comes back
    has_ended_ = true;
  }
  is_done_ = true;
  loop_->stop();
}

}  // namespace skua::server
