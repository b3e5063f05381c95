// SPDX-License-Identifier: MIT
// In: an error with a line of text. Out: the same as a JSON object, if the client wants one.
#include "skua/problem_details.hpp"

#include <string>
#include <string_view>

#include "http/message/json_text.hpp"
#include "skua/accept.hpp"
#include "skua/middleware.hpp"
#include "skua/status.hpp"

namespace skua {
namespace {

constexpr std::string_view problem_type = "application/problem+json";

bool wants_json(const Request& request, bool is_default) {
  const auto preferred =
      is_default
          ? preferred_type(request, {problem_type, "application/json", "text/plain", "text/html"})
          : preferred_type(request, {"text/plain", "text/html", problem_type, "application/json"});
  return preferred && preferred->ends_with("json");
}

}  // namespace

void ProblemDetails::operator()(const Request& request, Response& response) const {
  const Status status = response.status();
  const bool is_text = response.content_type().starts_with("text/plain") &&
                       response.content().stream() == nullptr && !response.body().empty();
  if (code(status) < 400 || !is_text) return;
  response.vary("Accept");
  if (!wants_json(request, options_.is_default)) return;
  std::string_view detail = response.body();
  while (detail.ends_with('\n')) detail.remove_suffix(1);
  std::string json = R"({"type":"about:blank","title":)";
  http::append_json(json, reason(status));
  json.append(R"(,"status":)").append(std::to_string(std::uint64_t{code(status)}));
  const Response plain(status);
  if (response.body() != plain.body()) {
    json.append(R"(,"detail":)");
    http::append_json(json, detail);
  }
  if (const RequestId* const id = request.attachments().find<RequestId>()) {
    json.append(R"(,"request_id":)");
    http::append_json(json, id->value);
  }
  json += '}';
  response.body(std::move(json), problem_type);
}

}  // namespace skua
