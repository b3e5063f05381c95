// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <future>
#include <memory>
#include <stop_token>
#include <string>

#include "skua/blocking.hpp"
#include "skua/client.hpp"
#include "skua/config.hpp"
#include "skua/error.hpp"

namespace skua {

/// A client with a thread of its own, for use from any number of other threads:
///
/// ```cpp
/// skua::BackgroundClient client;
/// auto page = client.get("https://example.com/");
/// work();
/// if (auto got = page.get()) std::puts(got->content.c_str());
///
/// std::stop_source stop;
/// client.get("https://example.com/slow", [](auto got) { show(got); }, stop.get_token());
/// stop.request_stop();  // show() gets Errc::Cancelled
/// ```
class SKUA_API BackgroundClient final {
 public:
  /// Ends with: the exceptions of Client; Exception if the machine has no back end for a loop.
  explicit BackgroundClient(ClientOptions options = {});
  BackgroundClient(const BackgroundClient&) = delete;
  BackgroundClient& operator=(const BackgroundClient&) = delete;
  /// Cancels pending requests: they end with Errc::Cancelled. Must not run in one of its callbacks.
  ~BackgroundClient();

  using Answer = Result<WholeResponse, Problem>;
  /// Called once with the result of a request, on the client's own thread. What it throws goes to
  /// ClientOptions::on_exception, or is dropped.
  using Done = std::function<void(Answer)>;
  /// Creates a request, on the client's own thread.
  using Make = std::function<ClientRequest(Client&)>;

  // Any thread may call these. A stop request through `stop` cancels that one request at any stage:
  // it ends with Errc::Cancelled.

  /// Sends a GET request; see send().
  [[nodiscard]] std::future<Answer> get(std::string url, std::stop_token stop = {});
  void get(std::string url, Done done, std::stop_token stop = {});
  /// Sends any request and reads its whole response.
  ///
  /// Ends with: in the future: the errors of ClientRequest::send() and ClientResponse::text(); what
  ///            `make` throws.
  [[nodiscard]] std::future<Answer> send(Make make, std::stop_token stop = {});
  /// Passes the result to `done` instead of a future; what `make` throws becomes a Problem.
  void send(Make make, Done done, std::stop_token stop = {});

 private:
  class Thread;
  std::unique_ptr<Thread> thread_;
};

}  // namespace skua
