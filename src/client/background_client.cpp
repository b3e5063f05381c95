// SPDX-License-Identifier: MIT
// A loop on a thread of its own, and posts to it.
#include "skua/background_client.hpp"

#include <exception>
#include <optional>
#include <thread>
#include <utility>

#include "client/problem.hpp"
#include "client/whole_response.hpp"
#include "loop/loop.hpp"
#include "loop/worker_pool.hpp"
#include "skua/async.hpp"

namespace skua {
namespace {

using Answer = Outcome<WholeResponse>;
using Make = std::function<ClientRequest(Client&)>;

/// A future's other end, which says at least that it was broken off.
class Promise {
 public:
  Promise() = default;
  Promise(Promise&& other) noexcept
      : promise_(std::move(other.promise_)), is_kept_(std::exchange(other.is_kept_, true)) {}
  Promise& operator=(Promise&&) = delete;
  ~Promise() {
    if (!is_kept_) promise_.set_value(client::could_not("wait for a response", Errc::Cancelled));
  }

  std::future<Answer> future() { return promise_.get_future(); }
  void keep(Answer answer) {
    is_kept_ = true;
    promise_.set_value(std::move(answer));
  }
  void keep(std::exception_ptr exception) {
    is_kept_ = true;
    promise_.set_exception(std::move(exception));
  }

 private:
  std::promise<Answer> promise_;
  bool is_kept_ = false;
};

Task<> keep(Promise promise, Make make, Client& own) {
  std::exception_ptr exception;
  try {
    Answer answer = co_await client::whole(make(own));
    promise.keep(std::move(answer));
    co_return;
  } catch (...) {
    exception = std::current_exception();
  }
  promise.keep(std::move(exception));
}

constexpr unsigned pool_threads = 2;
constexpr std::size_t pool_queue = 64;

}  // namespace

/// What belongs to the thread is only touched by posts to its loop.
class BackgroundClient::Thread {
 public:
  explicit Thread(ClientOptions options)
      : loop_(loop::Loop::create().value()), pool_(pool_threads, pool_queue) {
    loop_->use_pool(&pool_);
    std::promise<void> ready;
    loop_->post([&] {
      try {
        client_.emplace(std::move(options));
        scope_.emplace();
        ready.set_value();
      } catch (...) {
        ready.set_exception(std::current_exception());
      }
    });
    thread_ = std::thread([this] { loop_->run(); });
    try {
      ready.get_future().get();
    } catch (...) {
      end();
      throw;
    }
  }
  Thread(const Thread&) = delete;
  Thread& operator=(const Thread&) = delete;
  ~Thread() { end(); }

  std::future<Answer> send(Make make) {
    const auto promise = std::make_shared<Promise>();
    std::future<Answer> future = promise->future();
    loop_->post([this, promise, make = std::move(make)]() mutable {
      scope_->spawn(keep(std::move(*promise), std::move(make), *client_));
    });
    return future;
  }

 private:
  void end() {
    loop_->post([this] {
      scope_.reset();
      client_.reset();
      loop_->stop();
    });
    thread_.join();
  }

  const std::unique_ptr<loop::Loop> loop_;
  loop::WorkerPool pool_;
  std::optional<Client> client_{};
  std::optional<Scope> scope_{};
  std::thread thread_;
};

BackgroundClient::BackgroundClient(ClientOptions options)
    : thread_(std::make_unique<Thread>(std::move(options))) {}
BackgroundClient::~BackgroundClient() = default;

std::future<Answer> BackgroundClient::get(std::string url) {
  return send([url = std::move(url)](Client& client) { return client.get(url); });
}

std::future<Answer> BackgroundClient::send(Make make) { return thread_->send(std::move(make)); }

}  // namespace skua
