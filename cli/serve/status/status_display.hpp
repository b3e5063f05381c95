// SPDX-License-Identifier: MIT
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "serve/status/console.hpp"
#include "serve/status/response_tally.hpp"
#include "skua/server.hpp"

namespace skua::cli {

/// Reports whether standard error is a terminal that can show a status line, which has to be asked
/// before the sandbox: TERM=dumb cannot.
bool can_show_status();

/// Shows the state of a server in a status line, twice a second, until the end of its life. A
/// program in the background shows nothing.
class StatusDisplay final {
 public:
  /// All arguments must outlive the object.
  StatusDisplay(const Server& server, ResponseTally& tally, Console& console);
  StatusDisplay(const StatusDisplay&) = delete;
  StatusDisplay& operator=(const StatusDisplay&) = delete;
  ~StatusDisplay();

 private:
  void run() noexcept;
  bool wait();

  const Server& server_;
  ResponseTally& tally_;
  Console& console_;
  bool has_colours_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool has_ended_ = false;
  std::thread thread_;  // last: uses the others
};

}  // namespace skua::cli
