// SPDX-License-Identifier: MIT
// The interface of kqueue(2), as its manual page describes it, for tests on systems without one:
// see kqueue.cpp. The numbers are our own.
#pragma once

#include <time.h>

#include <cstdint>

struct kevent {
  std::uintptr_t ident;  // a descriptor, or any number for EVFILT_USER
  std::int16_t filter;
  std::uint16_t flags;
  std::uint32_t fflags;
  std::int64_t data;
  void* udata;
};

#define EV_SET(event, ident, filter, flags, fflags, data, udata) \
  (*(event) = (struct kevent){(ident), (filter), (flags), (fflags), (data), (udata)})

#define EVFILT_READ (-1)
#define EVFILT_WRITE (-2)
#define EVFILT_USER (-3)

// Actions.
#define EV_ADD 0x0001
#define EV_DELETE 0x0002
#define EV_ENABLE 0x0004
#define EV_DISABLE 0x0008
// Flags of an event.
#define EV_ONESHOT 0x0010
#define EV_CLEAR 0x0020
#define EV_RECEIPT 0x0040
#define EV_DISPATCH 0x0080
// Returned.
#define EV_ERROR 0x4000
#define EV_EOF 0x8000

// For EVFILT_USER.
#define NOTE_TRIGGER 0x01000000

extern "C" {
int kqueue();
int kevent(int queue, const struct kevent* changes, int change_count, struct kevent* events,
           int event_count, const struct timespec* timeout);
}
