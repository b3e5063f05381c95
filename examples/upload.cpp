// SPDX-License-Identifier: MIT
// Uploads of any size in constant memory, with a page that shows their progress.
#include <skua.hpp>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

namespace {

constexpr skua::StaticText page = R"(<!doctype html>
<title>Upload</title>
<input type="file" id="file"> <progress id="bar" value="0" max="1"></progress>
<p id="state">choose a file</p>
<script>
  const say = (text) => { document.getElementById("state").textContent = text; };
  function send(blob, name) {
    const form = new FormData(), request = new XMLHttpRequest();
    form.append("file", blob, name);
    request.upload.onprogress = (e) => { bar.value = e.loaded / e.total; };
    request.onload = () => say(request.responseText);
    request.onerror = () => say("failed");
    request.open("POST", "/upload");
    request.send(form);
  }
  const bar = document.getElementById("bar"), input = document.getElementById("file");
  input.onchange = () => send(input.files[0], input.files[0].name);
</script>
)";

}  // namespace

int main(int count, char** arguments) {
  const std::string folder = count > 2 ? arguments[2] : ".";
  skua::Router router;
  router.get("/", [] { return skua::Response::html(page); });
  router.post("/upload", [folder](skua::Request& request) -> skua::Task<skua::Response> {
    skua::Multipart parts = request.multipart();
    std::string report;
    while (true) {
      skua::Result<std::optional<skua::Part>> part = co_await parts.next();
      if (!part) co_return part.error();
      if (!*part) co_return report + "done";
      const std::string name = (*part)->safe_filename();
      if (name.empty()) continue;  // skips fields that are not files
      const skua::Result<std::uint64_t> size = co_await (*part)->save(folder + "/" + name);
      if (!size) co_return size.error();
      report += name + ": " + std::to_string(*size) + " bytes, ";
    }
  });

  const int port = count > 1 ? std::atoi(arguments[1]) : 8080;
  const skua::ShutdownSignals signals;
  skua::Server server(router, {.host = "127.0.0.1", .port = static_cast<std::uint16_t>(port)});
  server.start().value();
  std::printf("listening on %s\n", server.url().c_str());
  std::fflush(stdout);
  signals.wait_and_drain(server);
}
