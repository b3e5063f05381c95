// SPDX-License-Identifier: MIT
// A download that is produced while it is sent, at the client's pace.
#include <skua.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

int main(int count, char** arguments) {
  skua::Router router;
  // curl -o zeros http://127.0.0.1:8080/bytes/10000000000
  // The length is known, so the client can show progress; memory use stays constant.
  router.get("/bytes/{count}", [](std::uint64_t total) {
    const auto produce = [total](skua::BodyWriter& out) -> skua::Task<> {
      static const auto piece = std::make_shared<const std::string>(32 * 1024, '0');
      for (std::uint64_t left = total; left != 0;) {
        const std::uint64_t size = std::min<std::uint64_t>(left, piece->size());
        const skua::SharedText part{piece, std::string_view(*piece).substr(0, size)};
        co_await out.write(part);
        left -= size;
      }
    };
    return skua::Response::stream("application/octet-stream", produce, total)
        .header("Content-Disposition", "attachment; filename=\"zeros\"");
  });
  // Without a length, the body is sent in chunks; a trailer gives the number of lines.
  router.get("/lines/{count}", [](std::uint32_t lines) {
    return skua::Response::stream("text/plain", [lines](skua::BodyWriter& out) -> skua::Task<> {
      for (std::uint32_t i = 0; i < lines; ++i) {
        co_await out.write("line " + std::to_string(i) + "\n");
      }
      out.trailer("X-Lines", std::to_string(lines));
    });
  });

  const int port = count > 1 ? std::atoi(arguments[1]) : 8080;
  const skua::ShutdownSignals signals;
  skua::Server server(router, {.host = "127.0.0.1", .port = static_cast<std::uint16_t>(port)});
  server.start().value();
  std::printf("listening on %s\n", server.url().c_str());
  std::fflush(stdout);
  signals.wait_and_drain(server);
}
