// SPDX-License-Identifier: MIT
//
// Rung 2, gather. In: a request. Out: the answer, by one writev(2).
// The idea is in exchange.cpp and head.cpp: layout, small enums, and gather I/O. As before, one
// connection is served at a time.

#include "exchange.hpp"
#include "ladder.hpp"

int main(int count, char** arguments) {
  const int listener = ladder::open_listener(ladder::port_argument(count, arguments));
  ladder::announce(listener);
  while (true) ladder::serve_once(ladder::accept_connection(listener));
}
