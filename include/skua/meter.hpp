// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "skua/bytes.hpp"

namespace skua {

class Server;
struct RequestRecord;

namespace router {
struct Route;
}

namespace detail {

/// The meter of one thread of a server, which is called on that thread.
class ThreadMeter {
 public:
  ThreadMeter() = default;
  ThreadMeter(const ThreadMeter&) = delete;
  ThreadMeter& operator=(const ThreadMeter&) = delete;
  virtual ~ThreadMeter() = default;

  /// A response was sent or cut. `route` is null if none matched; of the record's texts, only those
  /// are there that a hook has asked for.
  virtual void responded(const router::Route* route, const RequestRecord& record) noexcept = 0;
  /// A turn of the loop took this long, without its wait.
  virtual void turned(Duration busy) noexcept = 0;
};

/// The metrics of servers, as those servers see them: an interface, so that programs without
/// metrics link none. Thread-safe.
class Meter {
 public:
  Meter() = default;
  Meter(const Meter&) = delete;
  Meter& operator=(const Meter&) = delete;
  virtual ~Meter() = default;

  /// Called by the constructor of a server, and by its destructor.
  virtual void add(const Server& server) = 0;
  virtual void remove(const Server& server) noexcept = 0;
  virtual std::unique_ptr<ThreadMeter> add_thread() = 0;
};

}  // namespace detail
}  // namespace skua
