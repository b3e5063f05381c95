// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "skua/attachments.hpp"
#include "skua/websocket_message.hpp"
#include "ws/socket.hpp"
#include "ws/topics.hpp"

namespace skua::ws {

struct Socket::Extras {
  CloseReason reason{};
  std::string subprotocol{};
  Attachments attachments{};
  Socket::ControlCallback on_control{};
  std::vector<std::unique_ptr<Subscription>> subscriptions{};
  std::shared_ptr<RemoteSocket> remote{};
  detail::WaiterList senders{};
};

}  // namespace skua::ws
