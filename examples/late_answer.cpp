// SPDX-License-Identifier: MIT
// Responses that come later, from a thread of the program's own.
#include <skua.hpp>

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <queue>
#include <string>
#include <thread>

namespace {

class Jobs {
 public:
  void push(std::function<void()> job) {
    const std::lock_guard lock(mutex_);
    jobs_.push(std::move(job));
    changed_.notify_one();
  }

 private:
  void work(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, stop, [this] { return !jobs_.empty(); })) {
      const std::function<void()> job = std::move(jobs_.front());
      jobs_.pop();
      lock.unlock();
      job();
      lock.lock();
    }
  }
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::queue<std::function<void()>> jobs_;
  std::jthread thread_{[this](const std::stop_token& stop) { work(stop); }};
};

}  // namespace

int main(int count, char** arguments) {
  const skua::ShutdownSignals signals;  // before any thread, which might take them
  Jobs jobs;
  skua::Router router;
  router.get("/report/{name}", [&jobs](const std::string& name) {
    skua::LateAnswer late;
    const auto answer = std::make_shared<skua::Answer>(late.answer());
    jobs.push([answer, name] { answer->send("the report on " + name + "\n"); });
    return late;
  });

  const int port = count > 1 ? std::atoi(arguments[1]) : 8080;
  skua::Server server(router, {.host = "127.0.0.1", .port = static_cast<std::uint16_t>(port)});
  server.start().value();
  std::printf("listening on %s\n", server.url().c_str());
  std::fflush(stdout);
  signals.wait_and_drain(server);
}
