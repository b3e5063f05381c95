// SPDX-License-Identifier: MIT
// A page that counts your visits in a cookie, and all visits in the program.
#include <skua.hpp>

#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

using namespace skua::literals;

namespace {

// A cookie comes from the client and can say anything; a malformed count is taken as zero.
int visits_before(const skua::Request& request) {
  const std::string_view text = request.cookie("visits").value_or("");
  int visits = 0;
  std::from_chars(text.data(), text.data() + text.size(), visits);
  return visits < 0 || visits > 999'999 ? 0 : visits;
}

}  // namespace

int main(int count, char** arguments) {
  skua::Router router;
  std::atomic<int> total = 0;
  router.get("/", [&total](const skua::Request& request) {
    const std::string visits = std::to_string(visits_before(request) + 1);
    const std::string all = std::to_string(++total);
    return skua::Response::html("<h1>Welcome</h1>\n<p>This is your visit " + visits +
                                ", and visit " + all + " overall.</p>\n")
        .header("Cache-Control", "no-store")
        // Hidden from scripts and SameSite=Lax by default; Secure would need TLS.
        .cookie("visits", visits, {.max_age = 24h * 365, .secure = false});
  });
  router.post("/forget", [] {  // a negative age deletes the cookie
    return skua::Response::redirect("/").cookie("visits", "", {.max_age = -1s, .secure = false});
  });

  const int port = count > 1 ? std::atoi(arguments[1]) : 8080;
  const skua::ShutdownSignals signals;
  skua::Server server(router, {.host = "127.0.0.1", .port = static_cast<std::uint16_t>(port)});
  server.start().value();
  std::printf("listening on %s\n", server.url().c_str());
  std::fflush(stdout);
  signals.wait_and_drain(server);
}
