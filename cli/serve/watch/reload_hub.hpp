// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "serve/watch/burst.hpp"
#include "skua/request.hpp"
#include "skua/response.hpp"

namespace skua::cli {

/// Tells pages that the folder has changed: a version of it, and streams of server-sent events.
///
/// A page knows the version that it shows. So it learns of a change between its request and its
/// stream, too, and of those while it was hidden or the server was restarted.
class ReloadHub {
 public:
  /// The most streams at once; more end when they begin.
  static constexpr std::size_t max_streams = 4096;

  ReloadHub();
  ReloadHub(const ReloadHub&) = delete;
  ReloadHub& operator=(const ReloadHub&) = delete;
  ~ReloadHub();

  /// Makes a new version, and tells all streams. Any thread.
  void publish(Change change);
  /// Returns the current version: a number that no earlier server had. Any thread.
  [[nodiscard]] std::uint64_t version() const;

  /// A stream, on the thread of its loop.
  class Stream;

 private:
  struct Listener;

  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::uint64_t version_;
  std::uint64_t page_version_;  // of the last change that was not of style sheets only
  std::vector<std::shared_ptr<Listener>> listeners_;
};

/// Returns the events since the version that the client knows: Last-Event-ID, or `?since=`. Their
/// type is `reload` or `styles`, their id the version.
Response reload_events(std::shared_ptr<ReloadHub> hub, const Request& request);

}  // namespace skua::cli
