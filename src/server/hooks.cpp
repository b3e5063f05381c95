// SPDX-License-Identifier: MIT
// Wraps hooks, because they run where a server cannot handle an exception: between two requests, or
// while a connection closes.
#include "server/hooks.hpp"

#include <exception>
#include <new>
#include <string>
#include <utility>

namespace skua::server {
namespace {

using Log = std::function<void(LogLevel, std::string_view)>;

void tell(const Log& log, const char* hook, const char* why) noexcept try {
  if (log) log(LogLevel::Error, std::string("the hook ").append(hook).append(" failed: ") + why);
} catch (const std::bad_alloc&) {
  return;
}

Log quiet(Log log) {
  if (!log) return log;
  return [log = std::move(log)](LogLevel level, std::string_view text) {
    try {
      log(level, text);
    } catch (...) {
      return;  // nowhere left to report it
    }
  };
}

template <class... Arguments>
std::function<void(Arguments...)> guard(std::function<void(Arguments...)> hook, const char* name,
                                        const Log& log) {
  if (!hook) return hook;
  return [hook = std::move(hook), name, log](Arguments... arguments) {
    try {
      hook(arguments...);
    } catch (const std::exception& error) {
      tell(log, name, error.what());
    } catch (...) {
      tell(log, name, "an exception of unknown type");
    }
  };
}

}  // namespace

Hooks guarded(Hooks hooks) {
  hooks.log = quiet(std::move(hooks.log));
  hooks.on_response = guard(std::move(hooks.on_response), "on_response", hooks.log);
  hooks.on_connection_open =
      guard(std::move(hooks.on_connection_open), "on_connection_open", hooks.log);
  hooks.on_connection_close =
      guard(std::move(hooks.on_connection_close), "on_connection_close", hooks.log);
  return hooks;
}

}  // namespace skua::server
