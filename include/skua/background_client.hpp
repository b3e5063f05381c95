// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <future>
#include <memory>
#include <stop_token>
#include <string>

#include "skua/blocking.hpp"
#include "skua/client.hpp"
#include "skua/error.hpp"

namespace skua {

/// A client with a thread of its own, for any number of other threads:
///
/// ```cpp
/// skua::BackgroundClient client;
/// auto page = client.get("https://example.com/");
/// work();
/// if (auto got = page.get()) std::puts(got->content.c_str());
///
/// std::stop_source stop;
/// client.get("https://example.com/slow", [](auto got) { show(got); }, stop.get_token());
/// stop.request_stop();  // show() is told of Errc::Cancelled
/// ```
class BackgroundClient final {
 public:
  /// Ends with: Exception where the machine has no back end for a loop; as Client.
  explicit BackgroundClient(ClientOptions options = {});
  BackgroundClient(const BackgroundClient&) = delete;
  BackgroundClient& operator=(const BackgroundClient&) = delete;
  /// Breaks off what is not answered: that ends with Errc::Cancelled. Not from a callback of its
  /// own.
  ~BackgroundClient();

  using Answer = Result<WholeResponse, Problem>;
  /// Told once, on the client's own thread, what a request has come to. What it throws goes to
  /// ClientOptions::on_exception, or is dropped.
  using Done = std::function<void(Answer)>;
  /// Makes a request, on the client's own thread.
  using Make = std::function<ClientRequest(Client&)>;

  // Each may be called from any thread. A stop that is requested of `stop` breaks that one request
  // off, wherever it is: it ends with Errc::Cancelled.

  /// The response to GET, as send().
  [[nodiscard]] std::future<Answer> get(std::string url, std::stop_token stop = {});
  void get(std::string url, Done done, std::stop_token stop = {});
  /// The response to a request of any kind.
  ///
  /// Ends with: in the future: as ClientRequest::send() and ClientResponse::text(); what `make`
  ///            throws.
  [[nodiscard]] std::future<Answer> send(Make make, std::stop_token stop = {});
  /// The same, told to `done`; what `make` throws is a problem there.
  void send(Make make, Done done, std::stop_token stop = {});

 private:
  class Thread;
  std::unique_ptr<Thread> thread_;
};

}  // namespace skua
