// SPDX-License-Identifier: MIT
// Crosses the boundary of the library in both directions: exceptions, virtual functions, values
// that are found by their type, coroutines. Prints `good`.
#include <skua.hpp>

#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#if __has_include("assets.hpp")  // made by skua_embed_files(), which only CMake has
#include "assets.hpp"
#else
constexpr skua::EmbeddedFile one[] = {
    {"/deep/a gull.txt", "a gull from the program\n", "1", {}, {}}};
const std::span<const skua::EmbeddedFile> assets{one};
#endif

namespace {

using namespace skua::literals;

class Shout final : public skua::Responder {
 public:
  void on_body(skua::Bytes piece) override { text_ += skua::text(piece); }
  skua::Response on_request(skua::Request&) override { return text_ + "!"; }

 private:
  std::string text_;
};

skua::Router routes() {
  skua::Router router;
  router.use(skua::auth::basic("consumer", [](auto user, auto) { return user == "ada"; }));
  // The library attaches a skua::auth::User, and the program finds it by its type.
  router.get("/who", [](const skua::Request& request) { return skua::auth::user(request)->name; });
  router.get("/missing", []() -> std::string {
    throw skua::HttpError(skua::Status::NotFound, "no such gull");
  });
  router.get("/later", []() -> skua::Task<std::string> {
    co_await skua::sleep(1ms);
    co_return "later";
  });
  router.files("/assets", skua::MemoryFiles(assets));
  router.post("/shout", [] { return std::make_unique<Shout>(); });
  return router;
}

std::string ask(const skua::Server& server, skua::Method method, std::string_view path,
                const std::string& content = {}) {
  const std::string url = server.url() + std::string(path);
  const auto answer = skua::blocking::send([&](skua::Client& client) {
    auto request = client.request(method, url);
    request.basic_auth("ada", "any");
    if (!content.empty()) request.body(content);
    return request;
  });
  return std::to_string(static_cast<int>(answer.value().status)) + " " + answer.value().content;
}

bool is_thrown_and_caught() {
  try {
    static_cast<void>(skua::blocking::get("no url").value());
  } catch (const skua::Exception& problem) {
    return problem.error().code() == skua::Errc::MalformedUrl;
  }
  return false;
}

}  // namespace

int main() {
  const skua::Router router = routes();
  skua::Server server(router, {.host = "127.0.0.1", .port = 0});
  server.start().value();
  const std::string got = ask(server, skua::Method::Get, "/who") + ", " +
                          ask(server, skua::Method::Get, "/missing") + ", " +
                          ask(server, skua::Method::Get, "/later") + ", " +
                          ask(server, skua::Method::Get, "/assets/deep/a%20gull.txt") + ", " +
                          ask(server, skua::Method::Post, "/shout", "ahoy");
  const bool is_good = got ==
                           "200 ada, 404 no such gull, 200 later, 200 a gull from the program\n, "
                           "200 ahoy!" &&
                       is_thrown_and_caught() && skua::library_version() == SKUA_VERSION_TEXT;
  std::puts(is_good ? "good" : got.c_str());
  return is_good ? 0 : 1;
}
