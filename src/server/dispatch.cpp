// SPDX-License-Identifier: MIT
// The only place that catches what a handler throws. A peer is told what a thrower meant for it
// (HttpError, Exception); of any other exception it learns nothing but 500, and the text goes to
// the log.
#include "server/dispatch.hpp"

#include <exception>
#include <new>
#include <string>

#include "http/response_conditions.hpp"
#include "router/table.hpp"
#include "server/journal.hpp"
#include "skua/http_error.hpp"

namespace skua::server {
namespace {

void log_failure(Resources& resources, std::string line, std::string_view why) {
  ++resources.counters.handler_failures;
  if (const auto& log = resources.options.hooks.log) {
    log(LogLevel::Error, line.append(": ").append(why));
  }
}

Response failed(Resources& resources, const Request& request, std::string_view why) {
  std::string line("a handler failed on ");
  line.append(name(request.method())).append(" ").append(request.target());
  log_failure(resources, std::move(line), why);
  return Status::InternalServerError;
}

// What stands for the exception that is being handled.
Response caught(Resources& resources, const Request& request) {
  try {
    throw;
  } catch (const HttpError& error) {
    return *error.what() != '\0' ? Response(error.status(), std::string(error.what()))
                                 : Response(error.status());
  } catch (const Exception& error) {
    return error.error();
  } catch (const std::bad_alloc&) {
    note_lack_of_memory(resources, "a handler failed");
    return Error(Errc::OutOfMemory);
  } catch (const std::exception& error) {
    return failed(resources, request, error.what());
  } catch (...) {
    return failed(resources, request, "an exception of unknown type");
  }
}

// What `produce` makes, or what stands for its exception.
template <class F>
Response make(Resources& resources, const Request& request, F&& produce) {
  try {
    Response made = produce();
    http::apply_conditions(request, made);
    return made;
  } catch (...) {
    return caught(resources, request);
  }
}

// Each finisher once: where one throws, those after it amend what stands for its exception.
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

// What `produce` makes of a match, or what stands for its exception, amended by the finishers.
template <class F>
Response conclude(Resources& resources, const router::Match& match, Request& request, F&& produce) {
  Response response = make(resources, request, produce);
  if (router::has_finishers(*match.scope)) finish(resources, match, request, response);
  if (opens_another_protocol(response)) return response;
  const unsigned status = code(response.status());
  // RFC 9110 §15.2: an interim response is not an answer; §15: codes have three digits.
  if (status < 200 || status > 999) {
    response = failed(resources, request, "its status is not one of a final response");
  }
  // RFC 9110 §15.3.6: it has no content, and says so.
  if (response.status() == Status::ResetContent) response.body({});
  return response;  // the only one, so that it is made where the caller wants it
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

Response dispatch_ended(Resources& resources, const router::Match& match, Request& request,
                        Task<Response>* handler, const std::exception_ptr& failure) {
  return conclude(resources, match, request, [&] {
    if (handler == nullptr) std::rethrow_exception(failure);
    return handler->result();
  });
}

void log_task_failure(Resources& resources, const char* what,
                      const std::exception_ptr& failure) noexcept try {
  try {
    std::rethrow_exception(failure);
  } catch (const std::bad_alloc&) {
    note_lack_of_memory(resources, what);
  } catch (const std::exception& error) {
    log_failure(resources, what, error.what());
  } catch (...) {
    log_failure(resources, what, "an exception of unknown type");
  }
} catch (const std::bad_alloc&) {
  note_lack_of_memory(resources, what);
}

bool opens_another_protocol(const Response& response) noexcept {
  const auto* const stream = response.content().stream();
  if (stream == nullptr || (*stream)->upgrade == nullptr) return false;
  return response.status() == Status::SwitchingProtocols || response.status() == Status::Ok;
}

bool dispatch_stream_end(Resources& resources, Task<>* producer, const std::exception_ptr& failure,
                         std::uint64_t missing_bytes) {
  try {
    if (producer == nullptr) std::rethrow_exception(failure);
    producer->result();
    if (missing_bytes == 0) return true;
    log_failure(resources, "a stream failed", "it ended before the length that was told");
  } catch (...) {
    log_task_failure(resources, "a stream failed", std::current_exception());
  }
  return false;
}

}  // namespace skua::server
