// SPDX-License-Identifier: MIT
// Turns handler exceptions into responses. HttpError and Exception carry what the peer may see; for
// any other exception the peer gets a bare 500, and the text goes to the log.
#include "server/dispatch.hpp"

#include <new>

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

void log_reason(Resources& resources, const Request& request, std::string_view reason) {
  const auto& log = resources.options.hooks.log;
  if (reason.empty() || !log) return;
  std::string line(request.method_name());
  log(LogLevel::Warning, line.append(" ").append(request.target()).append(": ").append(reason));
}

}  // namespace

Response failed(Resources& resources, const Request& request, std::string_view why) {
  std::string line("a handler failed on ");
  line.append(request.method_name()).append(" ").append(request.target());
  log_failure(resources, std::move(line), why);
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
    return error.error();
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
