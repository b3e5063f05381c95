// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: checks the C++ version

#include <atomic>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "skua/bytes.hpp"
#include "skua/config.hpp"
#include "skua/error.hpp"
#include "skua/socket.hpp"

namespace skua {

/// Tells the service manager of this process, such as systemd, how the program is (sd_notify(3)).
/// Does nothing if there is none. Service does all of this for servers.
///
/// An object takes the variables NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID, and SKUA_READY of a
/// program that hands over to this one, out of the environment, so that no child takes them for its
/// own. Make one before other threads start. Its functions may then be called from any thread; they
/// may wait, for five seconds at most, for a manager that is busy.
class SKUA_API ServiceManager final {
 public:
  ServiceManager();
  ServiceManager(const ServiceManager&) = delete;
  ServiceManager& operator=(const ServiceManager&) = delete;
  ~ServiceManager();

  /// Reports whether there is a manager.
  [[nodiscard]] bool is_present() const noexcept { return static_cast<bool>(socket_); }
  /// Reports whether another process of this program waits for ready(), to stop serving then.
  [[nodiscard]] bool is_successor() const noexcept { return is_successor_; }
  /// Why the variables cannot be used, if so: then nobody is told.
  [[nodiscard]] const std::optional<Problem>& problem() const noexcept { return problem_; }
  /// The manager restarts the program if it hears nothing for this long; zero: it does not.
  [[nodiscard]] Duration watchdog() const noexcept { return watchdog_; }

  /// The program serves, for the first time or again after reloading().
  void ready();
  /// A line for people, which `systemctl status` shows.
  void status(std::string_view text);
  /// The program reads its configuration; ready() follows.
  void reloading();
  /// The program has begun to end.
  void stopping();
  /// The program makes progress: for the watchdog.
  void keep_alive();
  /// Another process is the service from now on. This one is no longer heard.
  void replaced_by(int process);

  /// The variables that another process needs to be this service, as NAME=VALUE.
  [[nodiscard]] std::vector<std::string> variables() const;

 private:
  void send(std::string_view text) noexcept;

  Socket socket_;  // connected to the manager
  std::string address_;
  Duration watchdog_{};
  std::atomic<int> ready_pipe_{-1};  // of the process that waits for ready()
  std::atomic<bool> is_replaced_{false};
  bool is_successor_ = false;
  std::optional<Problem> problem_;
};

}  // namespace skua
