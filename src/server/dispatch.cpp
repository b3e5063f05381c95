// SPDX-License-Identifier: MIT
// The only place that catches handler exceptions; handler_failure.cpp turns them into responses.
#include "server/dispatch.hpp"

#include <exception>

#include "http/message/response_parts.hpp"
#include "http/uri/authority.hpp"
#include "http/uri/target_path.hpp"
#include "net/stream.hpp"
#include "router/table.hpp"
#include "server/resources.hpp"

namespace skua::server {
namespace {

template <class F>
Response make_conditional(const Request& request, F&& produce) {
  Response made = produce();
  http::apply_conditions(request, made);
  return made;  // always the same variable, for copy elision
}

// Returns the response of `produce`, or the response for its exception.
template <class F>
Response make(Resources& resources, const Request& request, F&& produce) {
  try {
    return make_conditional(request, produce);
  } catch (...) {
    return caught(resources, request);
  }
}

// Runs each finisher once. If one throws, the rest amend the response for its exception.
void finish(Resources& resources, const router::Match& match, const Request& request,
            Response& response) {
  router::for_each_finisher(*match.scope,
                            [&](const detail::Erased<detail::FinisherCall>& finisher) {
                              try {
                                finisher.call(finisher.object.get(), request, response);
                              } catch (...) {
                                response = caught(resources, request);
                              }
                            });
}

// Like make(), but also runs the finishers and checks the response.
template <class F>
Response conclude(Resources& resources, const router::Match& match, Request& request, F&& produce) {
  Response response = make(resources, request, produce);
  if (code(response.status()) >= 500) [[unlikely]]
    log_cause(resources, request, response);  // before finishers replace its content
  if (router::has_finishers(*match.scope)) finish(resources, match, request, response);
  if (opens_another_protocol(response)) return response;
  const unsigned status = code(response.status());
  // RFC 9110 §15.2: an interim response is not final; §15: codes have three digits.
  if (status < 200 || status > 999) {
    response = failed(resources, request, "its status is not that of a final response");
  }
  // RFC 9110 §15.3.6: a 205 has no content.
  if (response.status() == Status::ResetContent) response.body({});
  return response;  // always the same variable, for copy elision
}

}  // namespace

Response dispatch(Resources& resources, const router::Match& match, Request& request) {
  return conclude(resources, match, request,
                  [&] { return resources.router.invoke(match, request); });
}

Response dispatch_guarded(Resources& resources, const router::Match& match, Request& request,
                          std::optional<Response> early, const std::exception_ptr& failure) {
  return conclude(resources, match, request, [&] {
    if (failure != nullptr) std::rethrow_exception(failure);
    return early ? *std::move(early) : resources.router.invoke_guarded(match, request);
  });
}

Response dispatch_finished(Resources& resources, const router::Match& match, Request& request,
                           Task<Response>* handler, const std::exception_ptr& failure) {
  return conclude(resources, match, request, [&] {
    if (handler == nullptr) std::rethrow_exception(failure);
    return handler->result();
  });
}

Response dispatch_refused(Resources& resources, const router::Match& match, const Request& request,
                          Errc code) {
  Response response{Error(code)};
  if (router::has_finishers(*match.scope)) finish(resources, match, request, response);
  return response;
}

bool opens_another_protocol(const Response& response) noexcept {
  const auto* const stream = response.content().stream();
  if (stream == nullptr || (*stream)->upgrade == nullptr) return false;
  return response.status() == Status::SwitchingProtocols || response.status() == Status::Ok;
}

namespace {

// Like find_target(), for a target that the cache does not hold.
[[gnu::noinline]] Target resolve_target(Resources& resources, Method method,
                                        std::string_view path_and_query,
                                        TargetCache::Entry& cached) {
  const http::TargetParts split = http::split_target(path_and_query);
  std::vector<char>& scratch = resources.path_scratch;
  if (scratch.size() < split.path.size()) scratch.resize(split.path.size());
  const Result<std::string_view> path = http::canonical_path(split.path, scratch);
  if (!path) {
    const router::Match match = resources.router.match_as_sent(method, split.path);
    if (match.is_malformed) return {Errc::MalformedTarget, {}, {}, {}};
    return {Errc::None, split.path, split.query, match, true};
  }
  const Target found{Errc::None, *path, split.query, resources.router.match(method, *path)};
  cached.hold(method, path_and_query, found.path, found.query, found.match);
  return found;
}

}  // namespace

Target find_target(Resources& resources, const net::Stream& connection, Method method,
                   std::string_view host, std::string_view path_and_query) {
  const bool is_checked = resources.options.tls.refuses_misdirected_names && !host.empty();
  if (is_checked && !connection.covers(http::host_of(host))) {
    return {Errc::MisdirectedRequest, {}, {}, {}};
  }
  TargetCache::Entry& cached = resources.targets.entry_for(path_and_query);
  if (!cached.holds(method, path_and_query)) {
    return resolve_target(resources, method, path_and_query, cached);
  }
  return {Errc::None, cached.path(path_and_query), cached.query(path_and_query), cached.match()};
}

}  // namespace skua::server
