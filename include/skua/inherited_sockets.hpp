// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: checks the C++ version

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "skua/config.hpp"
#include "skua/error.hpp"
#include "skua/socket.hpp"

namespace skua {

/// A listening socket that a server does not open by itself: one of the program, or an inherited
/// one. Copies share it; it is closed with the last copy.
///
/// ```cpp
/// auto socket = skua::TcpSocket::listen_on(address);
/// options.listeners = {{.socket = std::make_shared<skua::Socket>(*std::move(socket))}};
/// ```
struct ListeningSocket {
  std::shared_ptr<const Socket> socket{};  // shared by the program, its servers, and their options
  std::string name{};                      ///< for messages; of inherited ones: LISTEN_FDNAMES
  bool owns_path = false;  ///< a server removes the path of a Unix socket in the end
};

/// Takes over the sockets that systemd, or a parent that acts like it, has opened for this process:
/// the descriptors from 3 on, as the variables LISTEN_PID, LISTEN_FDS and LISTEN_FDNAMES say. The
/// variables are removed, so a second call returns none, and no child takes the sockets for its
/// own.
///
/// Names `skua-own` and `skua-own-NAME` are of Unix sockets that a server has made and handed over:
/// their paths are removed in the end. Only NAME is returned.
///
/// Returns none if there are no such variables, or if they are for another process. Call it before
/// other threads are started, since it changes the environment. The sockets become non-blocking in
/// all processes that share them.
///
/// Ends with: InvalidAddress if the variables are malformed; Closed, or another error of the
///            system, if a descriptor is not open.
[[nodiscard]] SKUA_API Result<std::vector<ListeningSocket>, Problem> inherited_sockets();

/// Removes the sockets with this name from the others, and returns them: those of one server of
/// several.
///
/// ```cpp
/// auto sockets = skua::inherited_sockets().value();
/// admin_options.listeners = skua::take_named(sockets, "admin");
/// options.listeners = std::move(sockets);  // the rest
/// ```
[[nodiscard]] inline std::vector<ListeningSocket> take_named(std::vector<ListeningSocket>& sockets,
                                                             std::string_view name) {
  const auto has_name = [name](const ListeningSocket& socket) { return socket.name == name; };
  std::vector<ListeningSocket> taken;
  std::ranges::copy_if(sockets, std::back_inserter(taken), has_name);
  std::erase_if(sockets, has_name);
  return taken;
}

}  // namespace skua
