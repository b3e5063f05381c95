// SPDX-License-Identifier: MIT
// In: a response. Out: the same with fields that disable risky browser behavior. The fields are
// built once, at setup; fields that the handler has set are kept.
#include "skua/field_lines.hpp"
#include "skua/middleware.hpp"

namespace skua {

SecurityHeaders::SecurityHeaders(const SecurityHeadersOptions& options) {
  fields_ = {{"X-Content-Type-Options", options.nosniff ? "nosniff" : ""},
             {"Referrer-Policy", options.referrer_policy},
             {"X-Frame-Options", options.frame_options},
             {"Content-Security-Policy", options.content_security_policy},
             {"Permissions-Policy", options.permissions_policy},
             {"Cross-Origin-Opener-Policy", options.cross_origin_opener_policy},
             {"Cross-Origin-Resource-Policy", options.cross_origin_resource_policy},
             {"Cross-Origin-Embedder-Policy", options.cross_origin_embedder_policy}};
  std::erase_if(fields_, [](const auto& field) { return field.second.empty(); });
  FieldLines checked;  // throws if a value is not a valid field value
  for (const auto& [name, value] : fields_) checked.add(name, value);
  if (options.strict_transport > std::chrono::seconds::zero()) {
    strict_transport_ = "max-age=" + std::to_string(options.strict_transport.count());
    if (options.strict_transport_subdomains) strict_transport_.append("; includeSubDomains");
  }
}

void SecurityHeaders::operator()(const Request& request, Response& response) const {
  for (const auto& [name, value] : fields_) {
    if (!response.header(name)) response.add_header(name, value);
  }
  // RFC 6797 §7.2: never over plain HTTP.
  constexpr std::string_view strict = "Strict-Transport-Security";
  if (!strict_transport_.empty() && request.scheme() == "https" && !response.header(strict)) {
    response.add_header(strict, strict_transport_);
  }
}

}  // namespace skua
