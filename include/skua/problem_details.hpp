// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: checks the C++ version

#include "skua/config.hpp"
#include "skua/request.hpp"
#include "skua/response.hpp"

namespace skua {

/// Options of problem_details().
struct ProblemDetailsOptions {
  /// Sends JSON to clients that accept anything, too; otherwise only to those that prefer it.
  bool is_default = true;
};

/// Rewrites the text of errors as JSON, for programs that call an API.
class SKUA_API ProblemDetails final {
 public:
  explicit ProblemDetails(const ProblemDetailsOptions& options) noexcept : options_(options) {}
  void operator()(const Request& request, Response& response) const;

 private:
  ProblemDetailsOptions options_;
};

/// Sends errors (400 and up) whose content is plain text as `application/problem+json`, if the
/// client accepts it: those of the router, of HttpError, and of handlers that return a status.
///
/// ```cpp
/// router.use(skua::problem_details());
/// // {"type":"about:blank","title":"Not Found","status":404,"detail":"no such gull"}
/// ```
/// With request_id(), the member `request_id` names the request. Other errors, such as pages of the
/// program's own, stay as they are; so do those of requests too malformed for the router.
/// RFC:       9457
[[nodiscard]] inline ProblemDetails problem_details(const ProblemDetailsOptions& options = {}) {
  return ProblemDetails(options);
}

}  // namespace skua
