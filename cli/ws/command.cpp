// SPDX-License-Identifier: MIT
// In: a URL, and lines to send. Out: received messages as lines, and an exit code.
#include "ws/command.hpp"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "common_options.hpp"
#include "exit_code.hpp"
#include "loop/loop.hpp"
#include "loop/signal.hpp"
#include "skua/async.hpp"
#include "skua/client.hpp"
#include "system.hpp"
#include "ws/input_lines.hpp"
#include "ws/options.hpp"
#include "ws/printer.hpp"
#include "ws/utf8.hpp"

namespace skua::cli {
namespace {

constexpr std::string_view last_ping = "skua: seen?";
constexpr Duration drain_interval = 20ms;
constexpr Duration look_interval = 100ms;
constexpr Duration longest_silence = 10s;  // of a server that does not answer pings

/// A conversation over one WebSocket.
class Dialogue {
 public:
  explicit Dialogue(const WsOptions& options)
      : options_(options),
        is_interactive_(is_terminal(standard_input) && is_terminal(standard_output) &&
                        options.messages.empty() && !options.listen),
        closes_at_end_(is_interactive_),
        printer_(options, is_interactive_) {}

  Task<int> run() {
    Client client(options_.client);
    Result<WebSocket, Problem> socket = co_await request(client).open();
    if (!socket) {
      const std::string& text = socket.error().text;
      std::fprintf(stderr, "skua: %s\n%s", harmless(text).c_str(),
                   tls_advice(text, options_.client.tls).c_str());
      co_return exit_code_of(socket.error().code());
    }
    heard_ = loop::Loop::current().now();
    printer_.opened(*socket);
    socket->on_control([this, &socket](WebSocketControl control, std::string_view payload) {
      take_control(*socket, control, payload);
    });
    const auto signals = watch_signals(*socket);
    Scope sending;
    sending.spawn(send_all(*socket));
    const CloseReason reason = co_await receive_all(*socket);
    if (failure_) std::rethrow_exception(failure_);
    co_return conclude(reason);
  }

 private:
  [[nodiscard]] WebSocketRequest request(Client& client) const {
    WebSocketRequest made = client.websocket(options_.url).options(options_.socket);
    for (const auto& [name, value] : options_.fields) made.header(name, value);
    if (options_.basic) made.basic_auth(options_.basic->first, options_.basic->second);
    if (!options_.token.empty()) made.bearer(options_.token);
    return made;
  }

  // The first signal closes the WebSocket; a second one exits at once.
  std::unique_ptr<loop::SignalWatcher> watch_signals(WebSocket& socket) {
    auto watcher = loop::SignalWatcher::create(loop::Loop::current(), {SIGINT, SIGTERM},
                                               [this, &socket](int signal) {
                                                 if (signal_ != 0) std::_Exit(128 + signal);
                                                 signal_ = signal;
                                                 socket.close(CloseCode::GoingAway);
                                               });
    return watcher ? *std::move(watcher) : nullptr;
  }

  Task<CloseReason> receive_all(WebSocket& socket) {
    std::uint64_t count = 0;
    while (auto message = co_await socket.receive()) {
      heard_ = loop::Loop::current().now();
      printer_.received(*message);
      if (++count == options_.count) socket.close();
    }
    co_return socket.close_reason();
  }

  Task<> send_all(WebSocket& socket) {
    try {
      co_await send_what_is_there(socket);
    } catch (...) {
      fail(socket);
    }
  }

  Task<> send_what_is_there(WebSocket& socket) {
    for (const std::string& message : options_.messages) co_await send(socket, message);
    if (options_.listen) co_return;
    if (options_.messages.empty()) co_await send_lines(socket);
    if (options_.count) co_return;
    while (socket.is_open() && socket.queued_bytes() != 0) co_await sleep(drain_interval);
    if (!closes_at_end_) co_await wait_for_answers(socket);
    socket.close();
  }

  // Waits until the server has said nothing for a while. It has read all messages when it answers
  // the ping: a slow one is not taken for one that has no more to say.
  Task<> wait_for_answers(WebSocket& socket) {
    asked_ = loop::Loop::current().now();
    socket.ping(last_ping);
    while (socket.is_open()) {
      const Duration patience =
          is_answered_ ? options_.wait : std::max(options_.wait, longest_silence);
      const loop::Instant end = later(std::max(asked_, heard_), patience);
      const loop::Instant now = loop::Loop::current().now();
      if (now >= end) co_return;
      co_await sleep(std::min(end - now, look_interval));
    }
  }

  Task<> send_lines(WebSocket& socket) {
    InputLines input(loop::Loop::current());
    while (auto line = co_await input.next()) {
      if (!socket.is_open()) co_return;
      const bool is_command = is_interactive_ && line->starts_with('/') && !line->starts_with("//");
      if (is_command) {
        obey(socket, *line);
        continue;
      }
      if (is_interactive_ && line->starts_with("//")) line->erase(0, 1);
      co_await send(socket, *line);
    }
  }

  Task<> send(WebSocket& socket, const std::string& text) {
    if (options_.binary) {
      co_await socket.send(bytes(text));
    } else if (ws::is_utf8(text)) {
      co_await socket.send(text);
    } else if (is_interactive_) {
      printer_.note("not sent: the line is not UTF-8");
    } else {
      throw std::runtime_error("a message is not UTF-8: send it with --binary");
    }
  }

  void obey(WebSocket& socket, const std::string& line) {
    const std::size_t space = line.find(' ');
    const std::string name = line.substr(1, space == line.npos ? line.npos : space - 1);
    const std::string rest = space == line.npos ? "" : line.substr(space + 1);
    if (name == "ping" && rest.size() > 125) {
      printer_.note("the payload of a ping is at most 125 bytes");
    } else if (name == "ping") {
      socket.ping(rest);
    } else if (name == "binary") {
      socket.send(bytes(rest));
    } else if (name == "close" || name == "quit") {
      close(socket, rest);
    } else {
      if (name != "help") printer_.note("unknown command /" + name + "; available commands:");
      printer_.note(
          "/ping [TEXT]           send a ping (at most 125 bytes)\n"
          "/binary TEXT           send a binary message\n"
          "/close [CODE [REASON]] close the WebSocket; so does Ctrl-D\n"
          "//TEXT                 send /TEXT");
    }
  }

  void close(WebSocket& socket, const std::string& rest) {
    std::size_t used = 0;
    unsigned long code = 1000;
    try {
      if (!rest.empty()) code = std::stoul(rest, &used);
      const std::string reason =
          rest.substr(std::min(rest.size(), rest.find_first_not_of(' ', used)));
      if (code > 4999) throw std::out_of_range("code");
      socket.close(static_cast<CloseCode>(code), reason);
    } catch (const std::logic_error&) {
      printer_.note("the code must be 1000 to 1014 or 3000 to 4999, the reason at most 123 bytes");
    }
  }

  void take_control(WebSocket& socket, WebSocketControl control,
                    std::string_view payload) noexcept {
    heard_alive_ = loop::Loop::current().now();
    if (control == WebSocketControl::Pong && payload == last_ping) {
      is_answered_ = true;
      asked_ = heard_alive_;
      return;
    }
    try {
      printer_.received(control, payload);
    } catch (...) {
      fail(socket);
    }
  }

  /// Ends the conversation because of an exception, which `run()` rethrows.
  void fail(WebSocket& socket) noexcept {
    failure_ = std::current_exception();
    socket.close(CloseCode::GoingAway);
  }

  // Our own end of a conversation with a peer that is gone has the code of an orderly one.
  [[nodiscard]] bool is_peer_dead(const CloseReason& reason) const {
    const loop::Instant last = std::max(heard_, heard_alive_);
    return reason.code == CloseCode::GoingAway && signal_ == 0 &&
           loop::Loop::current().now() >= later(last, options_.socket.idle);
  }

  int conclude(const CloseReason& reason) {
    printer_.closed(reason);
    if (signal_ != 0 && !is_interactive_) return 128 + signal_;
    if (is_peer_dead(reason)) {
      std::fprintf(stderr, "skua: %s has not answered for %lld s (--idle)\n",
                   harmless(options_.url).c_str(),
                   static_cast<long long>(options_.socket.idle / 1s));
      return timed_out;
    }
    switch (reason.code) {
      case CloseCode::Normal:
      case CloseCode::GoingAway:
      case CloseCode::NoStatus: return succeeded;
      default: return failed;
    }
  }

  const WsOptions& options_;
  const bool is_interactive_;
  const bool closes_at_end_;  // a person has seen the answers
  WsPrinter printer_;
  std::exception_ptr failure_{};
  int signal_ = 0;
  bool is_answered_ = false;     // the last ping
  loop::Instant asked_{};        // sent, or answered
  loop::Instant heard_{};        // the last message
  loop::Instant heard_alive_{};  // the last ping or pong
};

int talk(const WsOptions& options) {
  warn_of(options.client.tls);
  Dialogue conversation(options);
  return skua::run(conversation.run());
}

}  // namespace

std::function<int()> configure_ws(CLI::App& parser) {
  const auto options = std::make_shared<WsOptions>();
  declare(parser, *options);
  return [options] { return talk(*options); };
}

}  // namespace skua::cli
