// SPDX-License-Identifier: MIT
// The only place that catches what a handler throws. A peer is told what a thrower meant for it
// (HttpError, Exception); of any other exception it learns nothing but 500, and the text goes to
// the log.
#include "server/dispatch.hpp"

#include <exception>
#include <string>

#include "skua/http_error.hpp"

namespace skua::server {
namespace {

Response failed(Resources& resources, const Request& request, std::string_view why) {
  ++resources.counters.handler_failures;
  if (const auto& log = resources.options.hooks.log) {
    std::string line("a handler failed on ");
    line.append(name(request.method())).append(" ").append(request.target());
    line.append(": ").append(why);
    log(LogLevel::Error, line);
  }
  return Status::InternalServerError;
}

// What `produce` returns, or what stands for its exception.
template <class F>
Response catching(Resources& resources, const Request& request, F&& produce) {
  try {
    return produce();
  } catch (const HttpError& error) {
    return *error.what() != '\0' ? Response(error.status(), std::string(error.what()))
                                 : Response(error.status());
  } catch (const Exception& error) {
    return error.error();
  } catch (const std::exception& error) {
    return failed(resources, request, error.what());
  } catch (...) {
    return failed(resources, request, "an exception of unknown type");
  }
}

}  // namespace

Response dispatch(Resources& resources, const router::Match& match, Request& request) noexcept {
  bool is_finished = false;
  Response response = catching(resources, request, [&] {
    Response made = resources.router.invoke(match, request);
    is_finished = true;
    return made;
  });
  if (!is_finished) {
    response = catching(resources, request, [&] {
      resources.router.finish(match, request, response);
      return std::move(response);
    });
  }
  const unsigned status = code(response.status());
  // RFC 9110 §15.2: an interim response is not an answer; §15: codes have three digits.
  if (status >= 200 && status <= 999) return response;
  return failed(resources, request, "its status is not one of a final response");
}

}  // namespace skua::server
