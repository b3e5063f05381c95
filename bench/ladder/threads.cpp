// SPDX-License-Identifier: MIT
//
// Rung 3, threads. In: as many connections at a time as there are cores. Out: their answers.
// The idea: the code of rung 2, in a thread per core that has its own listener.

#include "threads.hpp"

#include "exchange.hpp"

int main(int count, char** arguments) {
  ladder::run_on_every_core(ladder::port_argument(count, arguments), [](int listener) {
    while (true) ladder::serve_once(ladder::accept_connection(listener));
  });
}
