// SPDX-License-Identifier: MIT
// One thread of a server. It accepts while the server is below its cap, owns its connections until
// they are closed, and ends once it drains and nothing is left.
#include "server/worker.hpp"

#include <utility>

#include "loop/clock.hpp"
#include "net/log.hpp"
#include "net/socket.hpp"
#include "server/accounting.hpp"
#include "server/proxies/support.hpp"
#include "skua/trusted_proxies.hpp"

namespace skua::server {
Result<std::unique_ptr<Worker>> Worker::create(const Router& router, const ServerOptions& options,
                                               SharedState& shared, const loop::Clock* clock) {
  auto loop = loop::Loop::create({.backend = options.backend, .clock = clock});
  if (!loop) return loop.error();
  std::unique_ptr<Worker> made(new Worker(*std::move(loop), router, options, shared));
  if (const TrustedProxies* const proxies = options.trusted_proxies.get()) {
    made->header_reader_ = proxies->support()->join(made->resources_, made->acceptor_);
  }
  return made;
}

Worker::Worker(std::unique_ptr<loop::Loop> loop, const Router& router, const ServerOptions& options,
               SharedState& shared)
    : options_(options),
      shared_(shared),
      loop_(std::move(loop)),
      resources_(router, options, *loop_, shared.hub, shared.content_budget, shared.connection_ids,
                 static_cast<ConnectionOwner&>(*this)),
      filter_(options, resources_.counters, *loop_),
      acceptor_(*loop_, shared.tls.get(), shared.connections,
                static_cast<sockets::AcceptorOwner&>(*this)),
      drain_timer_(
          loop_->timers(), [](void* self) noexcept { static_cast<Worker*>(self)->close_all(); },
          this) {
  loop_->use_pool(&shared.pool);
  loop_->use_log(&options.hooks.log);
  loop_->kept_tasks().on_last_end = [](void* self) noexcept {
    static_cast<Worker*>(self)->end_if_done();
  };
  loop_->kept_tasks().context = this;
  loop_->on_trim([](void* texts) noexcept { static_cast<body::SpareTexts*>(texts)->clear(); },
                 &resources_.spare_texts);
  if (resources_.meter == nullptr) return;
  loop_->measure_turns(
      [](void* meter, Duration busy) noexcept {
        static_cast<detail::ThreadMeter*>(meter)->turned(busy);
      },
      resources_.meter.get());
}

Worker::~Worker() {
  close_all();
  while (!acceptor_.end() || !connections_.empty()) loop_->run_once(Duration(0));
  loop_->drop_belongings();
}

void Worker::run() {
  loop_->run();
  loop_->drop_belongings();
}

void Worker::begin_drain(Duration deadline) {
  loop_->post([this, deadline] { drain(deadline); });
}

void Worker::add_to(Counters& sum) const noexcept {
  resources_.counters.add_to(sum);
  sum.subscriptions += resources_.topics.subscriptions();
  const loop::SystemCalls& calls = loop_->backend().system_calls();
  sum.wait_calls += calls.waits;
  sum.receive_calls += calls.receives;
  sum.send_calls += calls.sends;
  sum.other_calls += calls.others;
}

void Worker::watch_certificates() {
  certificate_watch_.emplace(*loop_, *shared_.tls, options_.tls.reload_interval,
                             options_.hooks.log);
}

void Worker::serve(std::unique_ptr<net::Stream> stream) {
  const auto& tell = options_.hooks.on_connection_open;
  const bool is_told = tell && resources_.header_reader == nullptr;
  const std::string peer = is_told ? stream->peer().to_string() : std::string();
  auto owned = std::make_unique<Connection>(resources_, std::move(stream));
  Connection& connection = *owned.release();  // connection_closed takes it back
  connections_.push_back(connection);
  ++resources_.counters.accepted;
  acceptor_.opened();
  note_pressure();
  if (is_told) tell(peer);
  connection.start();
  if (resources_.is_draining) connection.drain();
}

void Worker::connection_closed(Connection& connection) noexcept {
  const std::unique_ptr<Connection> owned(&connection);
  ++resources_.counters.closed;
  acceptor_.closed();
  note_pressure();
  connection.unlink();
  end_if_done();
}

void Worker::note_pressure() noexcept {
  const sockets::ConnectionCount& count = shared_.connections;
  const std::size_t fifth = count.cap / 5 + (count.cap % 5 != 0 ? 1 : 0);
  resources_.is_under_pressure = count.open.load(std::memory_order_relaxed) > count.cap - fifth;
}

void Worker::on_accept_paused(Error why) noexcept {
  ++resources_.counters.accept_pauses;
  if (why.code() == Errc::None) return;
  net::tell(options_.hooks.log, LogLevel::Warning, why);
}

// The connection was closed by its destructor.
void Worker::on_accept_failed() noexcept {
  note_out_of_memory(resources_, "a new connection was closed");
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
  if (certificate_watch_) certificate_watch_->stop();
  connections_.for_each([](Connection& connection) { connection.drain(); });
  acceptor_.drain();
  end_if_done();
}

void Worker::close_all() noexcept {
  is_closed_ = true;
  connections_.for_each([](Connection& connection) { connection.stop(); });
  acceptor_.close();
  end_if_done();
}

void Worker::end_if_done() noexcept {
  if (!resources_.is_draining || !connections_.empty() || !acceptor_.end()) return;
  if (loop_->kept_tasks().count != 0 && !is_closed_) return;
  is_done_ = true;
  loop_->stop();
}

}  // namespace skua::server
