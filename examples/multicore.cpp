// SPDX-License-Identifier: MIT
// One loop per thread, with nothing shared: `example-multicore [PORT [THREADS]]`. Prints its
// counters when it ends.
#include <skua.hpp>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>

int main(int count, char** arguments) {
  const int port = count > 1 ? std::atoi(arguments[1]) : 8080;
  const int threads = count > 2 ? std::atoi(arguments[2]) : 0;  // 0: one per core

  skua::Router router;
  router.get("/", [] { return "Hello from one of many!"; });
  // A connection stays with the thread that accepted it: open several to see several threads.
  router.get("/thread", [] {
    return std::to_string(std::hash<std::thread::id>{}(std::this_thread::get_id())) + "\n";
  });

  const skua::ShutdownSignals signals;
  skua::Server server(router, {.host = "127.0.0.1",
                               .port = static_cast<std::uint16_t>(port),
                               .threads = static_cast<unsigned>(threads)});
  server.start().value();
  std::printf("listening on %s\n", server.url().c_str());
  std::fflush(stdout);
  signals.wait_and_drain(server);

  // Any thread may read the counters at any time; they are sums over all threads.
  const skua::Counters done = server.counters();
  std::printf("%llu connections, %llu requests, %llu bytes out\n",
              static_cast<unsigned long long>(done.connections_accepted),
              static_cast<unsigned long long>(done.requests),
              static_cast<unsigned long long>(done.bytes_sent));
  std::printf("system calls: %llu waits, %llu receives, %llu sends\n",
              static_cast<unsigned long long>(done.wait_calls),
              static_cast<unsigned long long>(done.receive_calls),
              static_cast<unsigned long long>(done.send_calls));
}
