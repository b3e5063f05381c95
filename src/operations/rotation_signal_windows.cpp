// SPDX-License-Identifier: MIT
#include "operations/rotation_signal.hpp"

namespace skua::operations {

struct RotationSignal::Impl {};

RotationSignal::RotationSignal() = default;
RotationSignal::~RotationSignal() = default;

void RotationSignal::start(std::function<void()> /*on_signal*/) {}

}  // namespace skua::operations
