// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "skua.hpp"

/// The handlers of tests/cases/server/states.md, which says what they do.
namespace skua::testing {

inline constexpr std::array<std::string_view, 15> state_handlers{"plain",
                                                                 "no route",
                                                                 "guard refuses",
                                                                 "guard streams",
                                                                 "reads all",
                                                                 "reads a piece",
                                                                 "does not read",
                                                                 "answers after 3 s",
                                                                 "waits",
                                                                 "answers much",
                                                                 "streams",
                                                                 "streams endlessly",
                                                                 "streams what it reads",
                                                                 "plain stream",
                                                                 "passes pieces on"};

/// Returns the path of a handler, e.g. `/reads-all`.
inline std::string state_path(std::string_view handler) {
  std::string path(handler);
  std::replace(path.begin(), path.end(), ' ', '-');
  return path.insert(0, 1, '/');
}

/// Notes what becomes of a handler, or of the producer of its stream.
class RunningState {
 public:
  explicit RunningState(std::string_view& word) noexcept : word_(&word) { word = "running"; }
  RunningState(const RunningState&) = delete;
  RunningState& operator=(const RunningState&) = delete;
  ~RunningState() {
    if (!is_finished_) *word_ = "cancelled";
  }
  void finish() noexcept {
    is_finished_ = true;
    *word_ = "finished";
  }

 private:
  std::string_view* word_;
  bool is_finished_ = false;
};

/// Makes the handlers. `word` says what has become of the last one that began.
class StateHandlers {
 public:
  explicit StateHandlers(std::string_view& word) noexcept : word_(&word) {}

  [[nodiscard]] Router router() const {
    Router router;
    router.any("/another", [] { return "another"; });
    add_plain(router);
    add_coroutines(router);
    add_streams(router);
    return router;
  }

 private:
  static std::string told(std::size_t bytes) { return std::to_string(bytes) + " bytes"; }

  void add_plain(Router& router) const {
    router.any("/plain", [this](const Request& request) {
      *word_ = "finished";
      return told(request.body().size());
    });
    router.any("/answers-much", [this] {
      *word_ = "finished";
      return std::string(1'000'000, 'm');
    });
    Router refusing;
    refusing.use([](const Request&) -> std::optional<Response> { return Status::Unauthorized; });
    refusing.any("/", [] { return "not guarded"; });
    router.mount("/guard-refuses", std::move(refusing));
    Router streaming;
    streaming.use([this](const Request&) -> std::optional<Response> { return ticks(false); });
    streaming.any("/", [] { return "not guarded"; });
    router.mount("/guard-streams", std::move(streaming));
  }

  void add_coroutines(Router& router) const {
    router.any("/reads-all", [this](Request& request) -> Task<std::string> {
      RunningState state(*word_);
      std::string text = co_await request.text();
      state.finish();
      co_return told(text.size());
    });
    router.any("/reads-a-piece", [this](Request& request) -> Task<std::string> {
      RunningState state(*word_);
      const std::optional<Bytes> piece = co_await request.read();
      state.finish();
      co_return told(piece ? piece->size() : 0);
    });
    router.any("/does-not-read", [this](Request&) -> Task<std::string> {
      RunningState state(*word_);
      state.finish();
      co_return "unread";
    });
    router.any("/answers-after-3-s", [this](Request&) -> Task<std::string> {
      RunningState state(*word_);
      co_await sleep(3s);
      state.finish();
      co_return "late";
    });
    router.any("/waits", [this](Request&) -> Task<std::string> {
      const RunningState state(*word_);
      co_await sleep(24h);
      co_return "never";
    });
  }

  void add_streams(Router& router) const {
    router.any("/streams", [this](Request&) -> Task<Response> {
      co_return Response::stream("text/plain", [this](BodyWriter& out) { return tick_tock(out); });
    });
    router.any("/streams-endlessly", [this](Request&) -> Task<Response> { co_return ticks(true); });
    router.any("/plain-stream", [this](const Request&) {
      return Response::stream("text/plain", [this](BodyWriter& out) { return tick_tock(out); });
    });
    router.any("/passes-pieces-on", [this](Request&) -> Task<Response> {
      co_return Response::stream("text/plain", [this](BodyWriter& out) { return pass_on(out); });
    });
    router.any("/streams-what-it-reads", [this](Request& request) -> Task<Response> {
      co_return Response::stream("text/plain",
                                 [this, &request](BodyWriter& out) { return copy(request, out); });
    });
  }

  Task<> tick_tock(BodyWriter& out) const {
    RunningState state(*word_);
    co_await out.write("tick ");
    co_await sleep(10s);
    co_await out.write("tock");
    state.finish();
  }
  Task<> tick(BodyWriter& out) const {
    const RunningState state(*word_);
    while (true) {
      co_await out.write("tick ");
      co_await sleep(10s);
    }
  }
  Task<> pass_on(BodyWriter& out) const {
    RunningState state(*word_);
    const std::string piece(20'000, 'p');
    for (int i = 0; i < 3; ++i) {
      detail::sink_of(out).write_text(piece);
      co_await sleep(3s);
    }
    state.finish();
  }
  Task<> copy(Request& request, BodyWriter& out) const {
    RunningState state(*word_);
    while (true) {
      const std::optional<Bytes> piece = co_await request.read();
      if (!piece) break;
      co_await out.write(*piece);
    }
    state.finish();
  }
  [[nodiscard]] Response ticks(bool ends_with_drain) const {
    auto stream = std::make_shared<BodyStream>();
    stream->is_endless = ends_with_drain;
    stream->produce = [this](BodyWriter& out) { return tick(out); };
    return {Status::Ok, Body(std::shared_ptr<const BodyStream>(std::move(stream))), "text/plain"};
  }

  std::string_view* word_;
};

}  // namespace skua::testing
