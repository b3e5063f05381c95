// SPDX-License-Identifier: MIT
// Connects a WebSocket to its application: starts the application, closes the socket when it ends,
// and tells it when the socket has closed.
#include "server/websocket/socket_run.hpp"

#include <cmath>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "http/message/request_parts.hpp"
#include "server/dispatch.hpp"
#include "ws/remote_socket.hpp"

namespace skua::server {
namespace {

constexpr std::string_view going_away = "the server is going away";

}  // namespace

SocketRun::SocketRun(Carrier& carrier, const detail::Upgrade& upgrade)
    : callbacks_(upgrade.callbacks),
      socket_(ws::Role::Server, *upgrade.options, std::move(upgrade.agreement), carrier) {}

SocketRun::~SocketRun() {
  cancel();
  ++resources().counters.websockets_ended;
}

template <class F>
void SocketRun::guarded(F&& call) noexcept {
  try {
    call();
  } catch (...) {
    fail(std::current_exception());
  }
}

void SocketRun::start(Request& request, const detail::Upgrade& upgrade) {
  ++resources().counters.websockets_begun;
  Attachments* const attachments = take_attachments(request);
  guarded([&] {
    if (callbacks_ != nullptr) {
      socket_.listen();
      if (!callbacks_->open) return;
      http::RequestAccess::lend(request, attachments);
      callbacks_->open(websocket_, request);
      return;
    }
    if (upgrade.handler.request != nullptr) {
      http::RequestAccess::lend(*upgrade.handler.request, attachments);
    }
    const detail::SocketHandler& handler = upgrade.handler;
    handler_ = std::make_unique<Handler>(
        handler.arguments, handler.call(handler.route, handler.arguments.get(), websocket_));
    handler_->task.start(
        [](void* self) noexcept { static_cast<SocketRun*>(self)->socket_.wire().settle_later(); },
        this);
  });
  http::RequestAccess::lend(request, nullptr);
  if (has_news()) socket_.wire().settle_later();
}

// Moves the attachments, if any, to the socket. Returns null if the request has no attachments.
Attachments* SocketRun::take_attachments(Request& request) {
  if (request.attachments().empty()) return nullptr;
  return &(socket_.attachments() = std::move(request.attachments()));
}

bool SocketRun::has_news() const noexcept {
  if (handler_ != nullptr) return !handler_->is_concluded && handler_->task.is_done();
  return callbacks_ != nullptr && socket_.is_closed();
}

void SocketRun::resume() {
  socket_.resume();
  if (has_news()) conclude();
}

// Called when the handler is done or, with callbacks, when the socket is closed.
void SocketRun::conclude() noexcept {
  const WebSocketCallbacks* const callbacks = std::exchange(callbacks_, nullptr);
  guarded([&] {
    if (handler_ != nullptr) {
      handler_->is_concluded = true;
      socket_.release_message();
      handler_->task.result();
      socket_.close(CloseCode::Normal, {});
    } else if (callbacks->close) {
      callbacks->close(websocket_, socket_.reason());
    }
  });
}

void SocketRun::fail(const std::exception_ptr& failure) noexcept {
  log_task_failure(resources(), "a WebSocket's handler failed", failure);
  try {
    socket_.close(CloseCode::InternalError, {});
  } catch (const std::bad_alloc&) {
    socket_.cancel();
  }
}

bool SocketRun::is_over() const noexcept {
  return socket_.is_finished() && ((!is_running() && !has_news()) || socket_.is_overdue());
}

void SocketRun::time_out() {
  socket_.time_out();
  if (socket_.is_overdue()) cancel();
}

void SocketRun::drain() {
  const Duration spread = resources().options.timeouts.websocket_spread;
  if (spread > Duration::zero() && socket_.is_open()) return drain_later();
  socket_.close(CloseCode::GoingAway, going_away);
}

void SocketRun::drain_later() {
  resources().loop.after(next_drain_delay(resources()), [remote = socket_.remote()] {
    remote->close(CloseCode::GoingAway, std::string(going_away));
  });
}

void SocketRun::cancel() noexcept {
  socket_.cancel();  // a waiting receiver sees the end, and may run until it waits again
  if (is_running()) ++resources().counters.handlers_cancelled;
  if (has_news()) conclude();
  handler_.reset();
}

void SocketRun::on_message(const Message& message) noexcept {
  if (callbacks_ == nullptr || !callbacks_->message) return;
  guarded([&] { callbacks_->message(websocket_, message); });
}

void SocketRun::on_drained() noexcept {
  if (callbacks_ == nullptr || !callbacks_->drain) return;
  guarded([&] { callbacks_->drain(websocket_); });
}

}  // namespace skua::server
