// SPDX-License-Identifier: MIT
#include "loop/threads/thread.hpp"

#include <exception>
#include <future>
#include <utility>

namespace skua::loop {

Thread::Thread(Options options, const std::function<void()>& begin, std::function<void()> end)
    : end_(std::move(end)),
      loop_(Loop::create().value()),
      pool_(options.pool_threads, options.pool_queue) {
  loop_->use_pool(&pool_);
  std::promise<void> has_begun;
  loop_->post([&begin, &has_begun] {
    try {
      begin();
      has_begun.set_value();
    } catch (...) {
      has_begun.set_exception(std::current_exception());
    }
  });
  thread_ = std::thread([this] { loop_->run(); });
  try {
    has_begun.get_future().get();
  } catch (...) {
    stop();
    throw;
  }
}

Thread::~Thread() { stop(); }

void Thread::stop() {
  loop_->post([this] {
    end_();
    loop_->stop();
  });
  thread_.join();
  loop_->drop_belongings();  // whose destructors may use the pool
  loop_->use_pool(nullptr);
}

}  // namespace skua::loop
