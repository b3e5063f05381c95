// SPDX-License-Identifier: MIT
#pragma once

// GCC for MinGW has two keys of pthreads for thread_local variables: one frees their memory, and
// one that is made later, hence is served later, runs their destructors, which then read freed
// memory (GCC bug 80816). There, only a pointer is thread_local: the object is on the heap, and its
// destruction is registered as the compiler would. A key for each type would not do: winpthreads
// deadlocks if a key is made while the destructor of another runs.
#if defined(__MINGW32__) && !defined(__clang__)
#include <cxxabi.h>

#include <memory>
#include <new>

extern "C" char __dso_handle;  // the program or DLL that this is part of, which stays until then
#endif

namespace skua::base {

/// Returns the calling thread's only object of a type, which is made on first use and destroyed as
/// the thread ends. Types with destructors need this instead of `thread_local`, and each user needs
/// a type of its own.
template <class T>
[[nodiscard]] T& thread_object() {
#if defined(__MINGW32__) && !defined(__clang__)
  thread_local T* object = nullptr;
  if (object == nullptr) {
    auto made = std::make_unique<T>();
    const auto destroy = [](void* old) { const std::unique_ptr<T> owner(static_cast<T*>(old)); };
    if (abi::__cxa_thread_atexit(destroy, made.get(), &__dso_handle) != 0) throw std::bad_alloc();
    object = made.release();
  }
  return *object;
#else
  thread_local T object;
  return object;
#endif
}

}  // namespace skua::base
