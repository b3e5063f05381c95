// SPDX-License-Identifier: MIT
#include "serve/log/rotation_signal.hpp"

namespace skua::cli {

struct RotationSignal::Impl {};

RotationSignal::RotationSignal() = default;
RotationSignal::~RotationSignal() = default;

void RotationSignal::start(std::function<void()> /*on_signal*/) {}

}  // namespace skua::cli
