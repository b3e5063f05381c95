// SPDX-License-Identifier: MIT
// Turns handler exceptions into responses. HttpError and Exception carry what the peer may see; for
// any other exception the peer gets a bare 500, and the text goes to the log.
#include "server/dispatch.hpp"

#include <new>

#include "async/guarded.hpp"
#include "http/message/cause.hpp"
#include "http/uri/masked_query.hpp"
#include "net/log.hpp"
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

// Tells the log of a request: `GET /path?token=***`, and what finds the other lines about it.
void tell_of(Resources& resources, LogLevel level, std::string_view before, const Request& request,
             std::string_view why) {
  const auto& log = resources.options.hooks.log;
  if (!log) return;
  const http::MaskedQuery target(request.target());
  const std::string_view id = request_id_of(request);
  const auto* const tag = request.attachments().find<http::TraceTag>();
  const std::string_view trace = tag != nullptr ? std::string_view(tag->trace_id) : "";
  net::tell(log, level,
            {before, request.method_name(), " ", target.text(), id.empty() ? "" : " [request ", id,
             id.empty() ? "" : "]", trace.empty() ? "" : " [trace ", trace,
             trace.empty() ? "" : "]", ": ", why});
}

}  // namespace

void log_cause(Resources& resources, const Request& request, Response& response) {
  const std::string_view cause = http::cause_of(response);
  if (cause.empty()) return;
  const unsigned status = code(response.status());
  const bool is_own =
      status == code(Status::InternalServerError) || status == code(Status::InsufficientStorage);
  const std::string before = std::to_string(std::uint64_t{status}) + " to ";
  tell_of(resources, is_own ? LogLevel::Error : LogLevel::Warning, before, request, cause);
}

Response failed(Resources& resources, const Request& request, std::string_view why) {
  ++resources.counters.handler_failures;
  tell_of(resources, LogLevel::Error, "a handler failed on ", request, why);
  return Status::InternalServerError;
}

Response caught(Resources& resources, const Request& request) {
  try {
    throw;
  } catch (const HttpError& error) {
    if (!error.reason().empty()) tell_of(resources, LogLevel::Warning, "", request, error.reason());
    Response response = *error.what() != '\0' ? Response(error.status(), std::string(error.what()))
                                              : Response(error.status());
    try {
      error.amend(response);
    } catch (...) {
      return failed(resources, request, async::thrown_text());
    }
    return response;
  } catch (const Exception& error) {
    Response response = error.error();
    if (http::is_fault(error.error())) http::keep_cause(response, error.what());
    return response;
  } catch (const std::bad_alloc&) {
    note_out_of_memory(resources, "a handler failed");
    return Error(Errc::OutOfMemory);
  } catch (...) {
    return failed(resources, request, async::thrown_text());
  }
}

void log_task_failure(Resources& resources, const char* what,
                      const std::exception_ptr& failure) noexcept try {
  try {
    std::rethrow_exception(failure);
  } catch (const std::bad_alloc&) {
    note_out_of_memory(resources, what);
  } catch (...) {
    log_failure(resources, what, async::thrown_text());
  }
} catch (const std::bad_alloc&) {
  note_out_of_memory(resources, what);
}

}  // namespace skua::server
