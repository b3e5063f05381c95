// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <future>
#include <memory>
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
/// ```
class BackgroundClient final {
 public:
  /// Ends with: Exception where the machine has no back end for a loop; as Client.
  explicit BackgroundClient(ClientOptions options = {});
  BackgroundClient(const BackgroundClient&) = delete;
  BackgroundClient& operator=(const BackgroundClient&) = delete;
  /// Breaks off what is not answered: those futures have Errc::Cancelled.
  ~BackgroundClient();

  /// The response to GET, as send().
  [[nodiscard]] std::future<Outcome<WholeResponse>> get(std::string url);
  /// The response to a request that `make` makes, on the client's own thread. Any thread.
  ///
  /// Ends with: in the future: as ClientRequest::send() and ClientResponse::text(); what `make`
  ///            throws.
  [[nodiscard]] std::future<Outcome<WholeResponse>> send(
      std::function<ClientRequest(Client&)> make);

 private:
  class Thread;
  std::unique_ptr<Thread> thread_;
};

}  // namespace skua
