// SPDX-License-Identifier: MIT
// Tasks: children of a scope, and those that send over one stream.
#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "load.hpp"
#include "loop/loop.hpp"
#include "skua/async.hpp"
#include "sockets/stream_core.hpp"
#include "support/memory_stream.hpp"

namespace skua::growing {
namespace {

std::unique_ptr<loop::Loop> new_loop() {
  return loop::Loop::create({.backend = BackendChoice::Poll}).value();
}

Task<> wait_for(Event& event) { co_await event.wait(); }

/// A child begins and ends, while others wait.
class ScopeChildren final : public Load {
 public:
  explicit ScopeChildren(std::size_t others) {
    on_loop([this, others] {
      for (std::size_t i = 0; i < others; ++i) children_.spawn(wait_for(never_));
    });
  }

  void operate() override {
    on_loop([this] {
      event_.reset();
      children_.spawn(wait_for(event_));
      event_.set();
    });
  }

 private:
  template <class F>
  void on_loop(const F& act) {
    loop_->post(act);
    loop_->run_once(Duration(0));
  }

  std::unique_ptr<loop::Loop> loop_ = new_loop();
  Event never_;
  Event event_;
  Scope children_;
};

/// A task sends and ends, while others wait for their turn.
class QueuedSends final : public Load {
 public:
  explicit QueuedSends(std::size_t others) : others_(others) {
    auto memory = std::make_unique<net::MemoryStream>();
    memory->take_at_most(1);
    stream_ = memory.get();
    loop_->post([this, &memory] {
      core_ = sockets::StreamCore::open(*loop_, std::move(memory));
      for (std::size_t i = 0; i < others_; ++i) begin();
    });
    loop_->run_once(Duration(0));
  }
  ~QueuedSends() override {
    loop_->post([this] {
      tasks_.clear();
      core_->close();
      stream_->pump();
    });
    loop_->run_once(Duration(0));
  }

  void operate() override {
    loop_->post([this] {
      begin();
      stream_->pump_once();
      stream_->pump_once();
    });
    for (int turn = 0; turn < 3; ++turn) loop_->run_once(Duration(0));
  }

 private:
  void begin() {
    if (tasks_.size() == tasks_.capacity()) tasks_.reserve(others_ + 200);
    tasks_.push_back(sockets::StreamCore::send(core_, "ab", 1h));
    tasks_.back().start(nullptr, nullptr);
  }

  std::unique_ptr<loop::Loop> loop_ = new_loop();
  std::size_t others_;
  net::MemoryStream* stream_ = nullptr;
  sockets::StreamCore::Self core_;
  std::vector<Task<Result<void>>> tasks_;
};

constexpr std::array scenarios{Scenario{"children of a scope", make<ScopeChildren>},
                               Scenario{"queued sends", make<QueuedSends>}};

}  // namespace

std::span<const Scenario> task_scenarios() { return scenarios; }

}  // namespace skua::growing
