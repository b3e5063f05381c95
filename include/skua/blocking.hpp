// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: it checks the C++ version

#include <functional>
#include <string>
#include <string_view>

#include "skua/client.hpp"
#include "skua/config.hpp"
#include "skua/error.hpp"
#include "skua/field_lines.hpp"
#include "skua/status.hpp"
#include "skua/url.hpp"

namespace skua {

/// A response with its whole content.
struct WholeResponse {
  Status status = Status::Ok;
  FieldLines headers{};
  Url url{};  ///< the last one, after redirects
  std::string content{};
};

/// The client for programs without a loop; see BackgroundClient for futures.
namespace blocking {

/// Returns the content at a URL as text; not for threads that have a loop: see Client::get.
///
/// Waits for: the whole response.
/// Ends with: the errors of ClientRequest::send() and ClientResponse::text(); UnexpectedStatus for
///            any status but 2xx; std::logic_error in a handler, callback or task.
SKUA_API Result<std::string, Problem> get(std::string_view url, ClientOptions options = {});
/// Posts content and returns the content of the response; otherwise like get().
SKUA_API Result<std::string, Problem> post(std::string_view url, std::string content,
                                           std::string_view type = "text/plain; charset=utf-8",
                                           ClientOptions options = {});
/// Sends any request and returns its whole response, whatever the status:
///
/// ```cpp
/// auto made = skua::blocking::send(
///     [](skua::Client& client) { return client.put("https://example.com/a").json("{}"); });
/// ```
SKUA_API Result<WholeResponse, Problem> send(const std::function<ClientRequest(Client&)>& make,
                                             ClientOptions options = {});

}  // namespace blocking

}  // namespace skua
