// SPDX-License-Identifier: MIT
// Three ways to authenticate: curl --basic, curl --digest, or a bearer token.
#include <skua.hpp>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace {

// In a real program this is a database, which stores only hashes.
const std::map<std::string, std::string, std::less<>> passwords = {{"ada", "open sesame"},
                                                                   {"jäsøn", "Secret, or not?"}};

std::optional<std::string> password_of(std::string_view user) {
  const auto found = passwords.find(user);
  return found == passwords.end() ? std::nullopt : std::optional(found->second);
}

skua::Router behind(auto guard) {
  skua::Router router;
  router.use(std::move(guard));
  router.any("/{path...}", [](const skua::Request& request, std::string_view) {
    return "Hello, " + skua::auth::user(request)->name + "!\n";
  });
  return router;
}

}  // namespace

int main(int count, char** arguments) {
  skua::Router router;
  router.mount("/basic", behind(skua::auth::basic("example", [](auto user, auto password) {
                 const auto expected = password_of(user);
                 return expected && skua::auth::token_equals(password, *expected);
               })));
  router.mount("/api", behind(skua::auth::bearer([](auto token) -> skua::auth::TokenVerdict {
                 if (skua::auth::token_equals(token, "abc123")) return skua::auth::User{"robot"};
                 return false;
               })));
  try {
    skua::auth::DigestOptions options{.realm = "example", .integrity = true};
    options.lookup = [](auto user) { return skua::auth::DigestSecret{password_of(user)}; };
    router.mount("/digest", behind(skua::auth::digest(options)));
  } catch (const std::invalid_argument& error) {  // skua was built without OpenSSL
    std::fprintf(stderr, "no /digest: %s\n", error.what());
  }

  const skua::ShutdownSignals signals;
  const int port = count > 1 ? std::atoi(arguments[1]) : 8080;
  skua::Server server(router, {.host = "127.0.0.1", .port = static_cast<std::uint16_t>(port)});
  server.start().value();
  std::printf("listening on %s\n", server.url().c_str());
  std::fflush(stdout);
  signals.wait_and_drain(server);
}
