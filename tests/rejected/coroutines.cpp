// SPDX-License-Identifier: MIT
// Uses of awaitables and the client that must not compile; see routes.cpp for the form.
#include <memory>
#include <string>

#include "skua/async.hpp"
#include "skua/client.hpp"

skua::Task<> uses([[maybe_unused]] skua::Client& client, [[maybe_unused]] std::string text);

skua::Task<> uses([[maybe_unused]] skua::Client& client, [[maybe_unused]] std::string text) {
#if CASE == 0
  // case 0: compiles
  const auto size = [text] { return text.size(); };
  auto bytes = co_await skua::offload(size);
  auto request = client.get("/");
  request.on_progress([](skua::Progress) {});
  auto first = co_await std::move(request);
  auto sent = co_await client.get("/").on_progress([](skua::Progress) {});
#elif CASE == 1
  // case 1: store a closure with captures in a variable before passing it to
  auto bytes = co_await skua::offload([text] { return text.size(); });  // await-safe: refused
#elif CASE == 2
  // case 2: store a closure with captures in a variable before passing it to
  auto sent =
      co_await client.get("/").on_progress([text](skua::Progress) {});  // await-safe: refused
#elif CASE == 3
  // case 3: store a closure with captures in a variable before passing it to
  auto sent = co_await client.post("/").stream(  // await-safe: refused
      "text/plain", [text](skua::BodyWriter& out) -> skua::Task<> { co_await out.write(text); });
#elif CASE == 4
  // case 4: co_await std::move.request., or await the expression that makes it
  auto request = client.get("/");
  auto sent = co_await request;
#elif CASE == 5
  // case 5: co_await std::move.request., or await the expression that makes it
  auto request = client.websocket("/");
  auto sent = co_await request;
#endif
  co_return;
}
