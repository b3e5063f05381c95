// SPDX-License-Identifier: MIT
// In: the options of `skua bench`. Out: where to connect, and the bytes of a request.
#include "bench/options.hpp"

#include <algorithm>

#include "client/problem.hpp"
#include "h1/request_writer.hpp"
#include "skua/credentials.hpp"
#include "skua/field_lines.hpp"
#include "skua/url.hpp"
#include "tls/client_context.hpp"

namespace skua::cli {
namespace {

Result<Url, Problem> read_url(const std::string& text) {
  // The scheme defaults to http://.
  const bool has_scheme = text.find("://") != text.npos;
  const std::string host = text.starts_with(':') ? "localhost" : "";
  auto url = Url::parse_lenient(has_scheme ? text : "http://" + host + text);
  if (!url) return client::could_not("load '" + text + "'", url.error());
  if (url->scheme() != "http" && url->scheme() != "https") {
    return client::could_not("load '" + text + "'", Errc::MalformedUrl,
                             "it must begin with http:// or https://");
  }
  static_cast<void>(url->set_fragment(std::nullopt));
  return *std::move(url);
}

Result<Method, Problem> method_of(const BenchOptions& options) {
  if (options.method.empty()) return options.data ? Method::Post : Method::Get;
  const auto known = parse_method(options.method);
  if (known && *known != Method::Connect) return *known;
  return Problem{Errc::UnknownMethod, "--method: " + options.method +
                                          " is not GET, HEAD, POST, PUT, DELETE, OPTIONS, PATCH "
                                          "or TRACE"};
}

Result<FieldLines, Problem> fields_of(const BenchOptions& options, const Url& url) {
  FieldLines fields;
  try {
    for (const auto& [name, value] : options.fields) fields.add(name, value);
  } catch (const std::invalid_argument& error) {
    return Problem{Errc::MalformedField, std::string("--header: ") + error.what()};
  }
  for (const char* const framing : {"Content-Length", "Transfer-Encoding"}) {
    if (!fields.find(framing)) continue;
    return Problem{Errc::MalformedField,
                   std::string("--header: skua bench sets ") + framing + " itself"};
  }
  if (!fields.find("User-Agent")) fields.add("User-Agent", "skua");
  if (url.has_userinfo() && !fields.find("Authorization")) {
    const Result<std::string> field = BasicCredentials{url.user(), url.password()}.field();
    if (!field) return client::could_not("use the password in the URL", field.error());
    fields.add("Authorization", *field);
  }
  return fields;
}

Result<std::string, Problem> request_of(const BenchOptions& options, const Url& url, Method method,
                                        const FieldLines& fields) {
  h1::RequestHead head{.method = method};
  if (options.data) {
    head.body = h1::BodyField::Length;
    head.length_bytes = options.data->size();
  }
  std::string request;
  const Result<void> written = h1::append_request_head(head, url, fields, request);
  if (!written) return client::could_not("write the request", written.error());
  return request + options.data.value_or("");
}

}  // namespace

Result<bench::Plan, Problem> make_plan(const BenchOptions& options) {
  const Result<Url, Problem> url = read_url(options.url);
  if (!url) return url.error();
  const Result<Method, Problem> method = method_of(options);
  if (!method) return method.error();
  const Result<FieldLines, Problem> fields = fields_of(options, *url);
  if (!fields) return fields.error();
  Result<std::string, Problem> request = request_of(options, *url, *method, *fields);
  if (!request) return request.error();

  bench::Plan plan = options.plan;
  Url shown = *url;
  static_cast<void>(shown.set_userinfo({}));
  plan.shown_url = shown.to_string();
  plan.request = *std::move(request);
  plan.expected.method = *method;
  plan.parts = {.method = *method,
                .scheme = std::string(url->scheme()),
                .authority = std::string(fields->find("Host").value_or(url->host_field())),
                .path = url->request_target(),
                .fields = std::string(fields->wire()),
                .content = options.data.value_or(""),
                .has_content = options.data.has_value()};
  plan.origin.host = url->hostname();
  plan.origin.port = url->effective_port().value_or(0);
  plan.origin.is_secure = url->scheme() == "https";
  plan.origin.unix_path = options.unix_path;
  plan.connect.resolve_limit = plan.connect.connect_limit = plan.connect.tls_limit = plan.timeout;
  if (plan.requests) {
    plan.connections = std::min<std::size_t>(plan.connections, *plan.requests);
  }
  plan.threads = std::min(plan.threads, plan.connections);
  if (plan.origin.is_secure) {
    auto tls = tls::ClientContext::create(options.tls, {plan.http2 ? "h2" : "http/1.1"});
    if (!tls) return tls.error();
    plan.connect.tls = *std::move(tls);
  }
  return plan;
}

}  // namespace skua::cli
