// SPDX-License-Identifier: MIT
#include "service/signals.hpp"

namespace skua::service {

HandOverSignal::HandOverSignal(bool) noexcept {}
HandOverSignal::~HandOverSignal() = default;
bool is_end_pending() noexcept { return false; }

}  // namespace skua::service
