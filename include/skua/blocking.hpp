// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: it says which C++ the others need

#include <functional>
#include <string>
#include <string_view>

#include "skua/client.hpp"
#include "skua/error.hpp"
#include "skua/field_lines.hpp"
#include "skua/status.hpp"
#include "skua/url.hpp"

namespace skua {

/// A response with all of its content.
struct WholeResponse {
  Status status = Status::Ok;
  FieldLines fields{};
  Url url{};  ///< where redirects have led
  std::string content{};
};

/// The client for programs that have no loop; see BackgroundClient for futures.
namespace blocking {

/// What is at a URL, as one text; not for threads that have a loop: see Client::get.
///
/// Waits for: all of it.
/// Ends with: as ClientRequest::send() and ClientResponse::text(); UnexpectedStatus for any status
///            but 2xx.
Result<std::string, Problem> get(std::string_view url, ClientOptions options = {});
/// What a server answers to this content; the same otherwise.
Result<std::string, Problem> post(std::string_view url, std::string content,
                                  std::string_view type = "text/plain; charset=utf-8",
                                  ClientOptions options = {});
/// Any request, and all of its response, whatever its status:
///
/// ```cpp
/// auto made = skua::blocking::send(
///     [](skua::Client& client) { return client.put("https://example.com/a").json("{}"); });
/// ```
Result<WholeResponse, Problem> send(const std::function<ClientRequest(Client&)>& make,
                                    ClientOptions options = {});

}  // namespace blocking

}  // namespace skua
