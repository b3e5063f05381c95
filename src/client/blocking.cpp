// SPDX-License-Identifier: MIT
// In: a request. Out: its response, copied so that it outlives the connection. Each call runs its
// own client on its own loop.
#include <exception>
#include <new>
#include <optional>
#include <stdexcept>
#include <utility>

#include "client/problem.hpp"
#include "loop/current.hpp"
#include "loop/loop.hpp"
#include "loop/threads/thread.hpp"
#include "skua/async.hpp"
#include "skua/background_client.hpp"
#include "skua/blocking.hpp"
#include "skua/waiter.hpp"

namespace skua::client {
namespace {

Task<Result<WholeResponse, Problem>> whole(ClientRequest request) {
  Result<ClientResponse, Problem> response = co_await std::move(request).send();
  if (!response) co_return response.error();
  Result<std::string, Problem> content = co_await response->text();
  if (!content) co_return content.error();
  WholeResponse made;
  made.status = response->status();
  for (std::size_t i = 0; const auto field = response->header_line(i); ++i) {
    made.headers.add(field->first, field->second);
  }
  made.url = response->url();
  made.content = *std::move(content);
  co_return std::move(made);
}

}  // namespace

}  // namespace skua::client

namespace skua {
namespace {

using Answer = Result<WholeResponse, Problem>;
using Make = std::function<ClientRequest(Client&)>;

Task<Answer> with_client(const Make& make, ClientOptions options) {
  Client own(std::move(options));
  Answer answer = co_await client::whole(make(own));
  co_await own.close();
  co_return answer;
}

Answer ask(const Make& make, ClientOptions options) {
  if (loop::is_in_turn()) {
    throw std::logic_error(
        "skua::blocking: this thread runs a loop, which would stand still: co_await a request of a "
        "skua::Client, or make the call in a function for skua::offload()");
  }
  return run(with_client(make, std::move(options)));
}

Result<std::string, Problem> content_of(const Make& make, ClientOptions options, Method method) {
  Answer answer = ask(make, std::move(options));
  if (!answer) return std::move(answer).error();
  if (code(answer->status) / 100 == 2) return std::move(answer->content);
  return client::could_not(client::step_of(name(method), answer->url), Errc::UnexpectedStatus,
                           "the server answered " + std::to_string(code(answer->status)));
}

}  // namespace

Result<std::string, Problem> blocking::get(std::string_view url, ClientOptions options) {
  return content_of([url](Client& client) { return client.get(url); }, std::move(options),
                    Method::Get);
}

Result<std::string, Problem> blocking::post(std::string_view url, std::string content,
                                            std::string_view type, ClientOptions options) {
  const Make make = [&](Client& client) { return client.post(url).body(std::move(content), type); };
  return content_of(make, std::move(options), Method::Post);
}

Result<WholeResponse, Problem> blocking::send(const Make& make, ClientOptions options) {
  return ask(make, std::move(options));
}

// The background client runs a loop on its own thread; each call posts a task to it.

namespace {

using Answer = BackgroundClient::Answer;
using Done = BackgroundClient::Done;
using Make = BackgroundClient::Make;

/// Receives the outcome of one request, which may be that it was cancelled.
class AnswerListener {
 public:
  virtual ~AnswerListener() = default;
  virtual void tell(Answer answer) = 0;
  virtual void tell(std::exception_ptr exception) = 0;
};

class AnswerPromise final : public AnswerListener {
 public:
  std::future<Answer> future() { return promise_.get_future(); }
  void tell(Answer answer) override { promise_.set_value(std::move(answer)); }
  void tell(std::exception_ptr exception) override { promise_.set_exception(std::move(exception)); }

 private:
  std::promise<Answer> promise_;
};

class AnswerCallback final : public AnswerListener {
 public:
  AnswerCallback(Done done, const std::function<void(std::exception_ptr)>& on_exception)
      : done_(std::move(done)), on_exception_(on_exception) {}
  void tell(Answer answer) override {
    try {
      done_(std::move(answer));
    } catch (...) {
      if (on_exception_) on_exception_(std::current_exception());
    }
  }
  void tell(std::exception_ptr exception) override { tell(client::problem_of(exception)); }

 private:
  const Done done_;
  const std::function<void(std::exception_ptr)>& on_exception_;
};

Answer broken_off() noexcept {
  try {
    return client::could_not("wait for a response", Errc::Cancelled);
  } catch (const std::bad_alloc&) {
    return Problem{.error = Errc::Cancelled, .text = {}};
  }
}

/// Tells a listener once, at the latest when it is destroyed.
class AnswerTelling {
 public:
  explicit AnswerTelling(std::unique_ptr<AnswerListener> listener) noexcept
      : listener_(std::move(listener)) {}
  AnswerTelling(AnswerTelling&&) noexcept = default;
  AnswerTelling& operator=(AnswerTelling&&) = delete;
  ~AnswerTelling() {
    if (listener_ != nullptr) tell(broken_off());
  }

  template <class T>
  void tell(T what) noexcept {
    const std::unique_ptr<AnswerListener> listener = std::move(listener_);
    try {
      listener->tell(std::move(what));
    } catch (...) {  // on_exception threw: there is nowhere left to report it
      return;
    }
  }

 private:
  std::unique_ptr<AnswerListener> listener_;
};

/// A stop request. Wakes its waiter on the loop's thread.
struct StopFlag {
  void request() noexcept {
    is_requested = true;
    changed.wake_all();
  }
  bool is_requested = false;
  skua::detail::WaiterList changed{};
};

Task<> ask_in_background(AnswerTelling telling, Make make, Client& own, std::stop_token token) {
  if (token.stop_requested()) {  // before anything was sent
    telling.tell(broken_off());
    co_return;
  }
  const auto stop = std::make_shared<StopFlag>();
  const auto request_stop = [stop, mailbox = loop::Loop::current().mailbox()] {
    mailbox->post([stop] { stop->request(); });
  };
  const std::stop_callback on_stop(std::move(token), request_stop);
  std::exception_ptr exception;
  try {
    Task<Answer> asking = client::whole(make(own));
    asking.start(
        [](void* list) noexcept { static_cast<skua::detail::WaiterList*>(list)->wake_all(); },
        &stop->changed);
    while (!asking.is_done() && !stop->is_requested) co_await stop->changed.wait();
    // Tell it here: a finished task keeps its parameters until the scope next visits it.
    telling.tell(asking.is_done() ? asking.result() : broken_off());
    co_return;
  } catch (...) {
    exception = std::current_exception();
  }
  telling.tell(std::move(exception));
}

}  // namespace

/// The client and the scope are touched only on the loop's thread.
class BackgroundClient::Thread {
 public:
  explicit Thread(ClientOptions options)
      : on_exception_(options.on_exception),
        thread_(
            {.pool_threads = 2},
            [this, &options] {
              client_.emplace(std::move(options));
              scope_.emplace();
            },
            [this] {
              scope_.reset();
              client_.reset();
            }) {}

  std::future<Answer> send(Make make, std::stop_token stop) {
    auto promise = std::make_unique<AnswerPromise>();
    std::future<Answer> future = promise->future();
    begin(std::move(promise), std::move(make), std::move(stop));
    return future;
  }
  void send(Make make, Done done, std::stop_token stop) {
    begin(std::make_unique<AnswerCallback>(std::move(done), on_exception_), std::move(make),
          std::move(stop));
  }

 private:
  void begin(std::unique_ptr<AnswerListener> listener, Make make, std::stop_token stop) {
    // Shared only because a posted function must be copyable.
    const auto telling = std::make_shared<AnswerTelling>(std::move(listener));
    thread_.mailbox()->post(
        [this, telling, make = std::move(make), stop = std::move(stop)]() mutable {
          try {
            scope_->spawn(
                ask_in_background(std::move(*telling), std::move(make), *client_, std::move(stop)));
          } catch (const std::bad_alloc&) {  // the listener is told that it was cancelled
            return;
          }
        });
  }

  const std::function<void(std::exception_ptr)> on_exception_;
  std::optional<Client> client_{};
  std::optional<Scope> scope_{};
  loop::Thread thread_;  // the last member: it uses the others
};

BackgroundClient::BackgroundClient(ClientOptions options)
    : thread_(std::make_unique<Thread>(std::move(options))) {}
BackgroundClient::~BackgroundClient() = default;

std::future<Answer> BackgroundClient::get(std::string url, std::stop_token stop) {
  return send([url = std::move(url)](Client& client) { return client.get(url); }, std::move(stop));
}

void BackgroundClient::get(std::string url, Done done, std::stop_token stop) {
  send([url = std::move(url)](Client& client) { return client.get(url); }, std::move(done),
       std::move(stop));
}

std::future<Answer> BackgroundClient::send(Make make, std::stop_token stop) {
  return thread_->send(std::move(make), std::move(stop));
}

void BackgroundClient::send(Make make, Done done, std::stop_token stop) {
  thread_->send(std::move(make), std::move(done), std::move(stop));
}

}  // namespace skua
