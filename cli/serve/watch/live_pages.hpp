// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "http/message/request_parts.hpp"
#include "serve/watch/reload_hub.hpp"
#include "skua/request.hpp"
#include "skua/response.hpp"
#include "skua/router.hpp"

namespace skua::cli {

/// A request without its conditions, ranges and content codings: the answer is a whole file.
class WholePageRequest {
 public:
  explicit WholePageRequest(const Request& request SKUA_LIFETIMEBOUND);

  [[nodiscard]] const Request& request() const noexcept { return request_; }

 private:
  http::Head head_;
  http::RequestParts parts_;
  Request request_;
};

/// Reports whether a response is a page: text/html, which is not compressed.
bool is_page(const Response& response) noexcept;

/// Removes what identifies a page's bytes, which the script changes: validators and ranges.
Response without_validators(Response page);

/// Puts the script that reloads a page into all pages but those of other servers, and keeps
/// responses from being cached.
class LivePages {
 public:
  static constexpr bool ignores_path = true;

  explicit LivePages(std::shared_ptr<const ReloadHub> hub) : hub_(std::move(hub)) {}

  [[nodiscard]] std::optional<Response> guard(Request& request) const;
  void finish(const Request& request, Response& response) const;

 private:
  std::shared_ptr<const ReloadHub> hub_;
};

/// Adds all of that, the script and the stream of events to a site. Content is to be compressed
/// after it.
void add_live_reload(Router& router, const std::shared_ptr<ReloadHub>& hub);

/// The paths that a site that reloads its pages cannot have for files.
inline constexpr std::string_view reload_script_path = "/.skua/reload.js";
inline constexpr std::string_view reload_events_path = "/.skua/reload";

}  // namespace skua::cli
