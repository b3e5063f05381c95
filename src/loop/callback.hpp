// SPDX-License-Identifier: MIT
#pragma once

namespace skua::loop {

/// A function that gets its object as `context`: a callback that needs no allocation.
using Callback = void (*)(void* context) noexcept;

namespace detail {
template <class Method>
struct OwnerOf;
template <class T>
struct OwnerOf<void (T::*)()> {
  using Type = T;
};
template <class T>
struct OwnerOf<void (T::*)() noexcept> {
  using Type = T;
};
}  // namespace detail

/// Turns a member function into a Callback whose context is the object:
/// `Timer deadline_{loop.timers(), call_member<&Connection::on_deadline>, this};`
template <auto Method>
void call_member(void* object) noexcept {
  (static_cast<typename detail::OwnerOf<decltype(Method)>::Type*>(object)->*Method)();
}

}  // namespace skua::loop
