// SPDX-License-Identifier: MIT
// Forms: a coroutine reads the fields of a form and answers with a greeting.
#include <skua.hpp>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

namespace {

constexpr skua::StaticText page = R"(<!doctype html>
<title>Greeting</title>
<form method="post" action="/greet">
  <label>Name <input name="name" required></label>
  <label><input type="checkbox" name="tag" value="new"> new here</label>
  <label><input type="checkbox" name="tag" value="shy"> shy</label>
  <button>Greet</button>
</form>
)";

std::string escaped(std::string_view text) {  // a visitor's text must not become markup
  std::string out;
  for (const char c : text) {
    if (c == '<' || c == '>' || c == '&') {
      out.append("&#").append(std::to_string(int{c})).append(";");
    } else {
      out.push_back(c);
    }
  }
  return out;
}

}  // namespace

int main(int count, char** arguments) {
  skua::Router router;
  router.get("/", [] { return skua::Response::html(page); });
  // Reads urlencoded and multipart/form-data; a malformed form is answered with 400.
  router.post("/greet", [](skua::Request& request) -> skua::Task<skua::Response> {
    const skua::Result<skua::Form> form = co_await request.form();
    if (!form) co_return form.error();
    std::string text = "<p>Hello, " + escaped(form->get("name").value_or("you")) + "!";
    for (const std::string_view tag : form->all("tag")) text += " (" + escaped(tag) + ")";
    co_return skua::Response::html(std::move(text) + "</p>\n");
  });

  const int port = count > 1 ? std::atoi(arguments[1]) : 8080;
  const skua::ShutdownSignals signals;
  skua::Server server(router, {.host = "127.0.0.1", .port = static_cast<std::uint16_t>(port)});
  server.start().value();
  std::printf("listening on %s\n", server.url().c_str());
  std::fflush(stdout);
  signals.wait_and_drain(server);
}
