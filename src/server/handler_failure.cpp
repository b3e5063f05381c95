// SPDX-License-Identifier: MIT
// Turns handler exceptions into responses. HttpError and Exception carry what the peer may see; for
// any other exception the peer gets a bare 500, and the text goes to the log.
#include "server/dispatch.hpp"

#include <new>

#include "http/message/cause.hpp"
#include "http/uri/masked_query.hpp"
#include "server/accounting.hpp"
#include "skua/http_error.hpp"

namespace skua::server {

void log_failure(Resources& resources, std::string line, std::string_view why) {
  ++resources.counters.handler_failures;
  if (const auto& log = resources.options.hooks.log) {
    log(LogLevel::Error, line.append(": ").append(why));
  }
}

namespace {

// Returns `GET /path?token=***`, and what finds the other lines about the request.
std::string described(const Request& request) {
  std::string text(request.method_name());
  text.append(" ").append(http::MaskedQuery(request.target()).text());
  if (const std::string_view id = request_id_of(request); !id.empty()) {
    text.append(" [request ").append(id).append("]");
  }
  if (const auto* const trace = request.attachments().find<http::TraceTag>()) {
    text.append(" [trace ").append(trace->trace_id).append("]");
  }
  return text;
}

void log_reason(Resources& resources, const Request& request, std::string_view reason) {
  const auto& log = resources.options.hooks.log;
  if (reason.empty() || !log) return;
  log(LogLevel::Warning, described(request).append(": ").append(reason));
}

}  // namespace

void log_cause(Resources& resources, const Request& request, Response& response) {
  const auto& log = resources.options.hooks.log;
  const std::string_view cause = http::cause_of(response);
  if (cause.empty() || !log) return;
  const Status status = response.status();
  const bool is_own =
      status == Status::InternalServerError || status == Status::InsufficientStorage;
  std::string line = std::to_string(std::uint64_t{code(status)});
  line.append(" to ").append(described(request)).append(": ").append(cause);
  log(is_own ? LogLevel::Error : LogLevel::Warning, line);
}

Response failed(Resources& resources, const Request& request, std::string_view why) {
  log_failure(resources, "a handler failed on " + described(request), why);
  return Status::InternalServerError;
}

Response caught(Resources& resources, const Request& request) {
  try {
    throw;
  } catch (const HttpError& error) {
    log_reason(resources, request, error.reason());
    Response response = *error.what() != '\0' ? Response(error.status(), std::string(error.what()))
                                              : Response(error.status());
    try {
      error.amend(response);
    } catch (const std::exception& problem) {
      return failed(resources, request, problem.what());
    } catch (...) {
      return failed(resources, request, "an exception of unknown type");
    }
    return response;
  } catch (const Exception& error) {
    Response response = error.error();
    if (http::is_fault(error.error())) http::keep_cause(response, error.what());
    return response;
  } catch (const std::bad_alloc&) {
    note_out_of_memory(resources, "a handler failed");
    return Error(Errc::OutOfMemory);
  } catch (const std::exception& error) {
    return failed(resources, request, error.what());
  } catch (...) {
    return failed(resources, request, "an exception of unknown type");
  }
}

void log_task_failure(Resources& resources, const char* what,
                      const std::exception_ptr& failure) noexcept try {
  try {
    std::rethrow_exception(failure);
  } catch (const std::bad_alloc&) {
    note_out_of_memory(resources, what);
  } catch (const std::exception& error) {
    log_failure(resources, what, error.what());
  } catch (...) {
    log_failure(resources, what, "an exception of unknown type");
  }
} catch (const std::bad_alloc&) {
  note_out_of_memory(resources, what);
}

}  // namespace skua::server
