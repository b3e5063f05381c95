// SPDX-License-Identifier: MIT
// A video without a script: one source draws frames, and any number of pages show them.
#include <skua.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

using namespace skua::literals;

namespace {

constexpr int width = 160;
constexpr int height = 120;

void put(std::string& out, unsigned number, int bytes) {  // least significant byte first
  for (; bytes != 0; --bytes, number >>= 8) out.push_back(static_cast<char>(number & 0xFF));
}

// A white bar at `x` on blue, as an uncompressed bitmap. A camera would give image/jpeg.
std::string draw(int x) {
  std::string out("BM");
  for (const unsigned field : {54U + width * height * 3, 0U, 54U, 40U}) put(out, field, 4);
  for (const unsigned field : {unsigned{width}, unsigned{height}}) put(out, field, 4);
  for (const unsigned field : {1U, 24U}) put(out, field, 2);
  out.append(24, '\0');
  for (int pixel = 0; pixel < width * height; ++pixel) {
    const bool is_bar = (pixel % width + width - x) % width < 20;
    out.append(is_bar ? "\xFF\xFF\xFF" : "\xA0\x40\x20");  // blue, green, red
  }
  return out;
}

}  // namespace

int main(int count, char** arguments) {
  skua::FrameSource camera({.type = "image/bmp"});
  const std::jthread thread([&camera](const std::stop_token& stop) {
    for (int x = 0; !stop.stop_requested(); x = (x + 4) % width) {
      camera.publish(draw(x));
      std::this_thread::sleep_for(50ms);
    }
  });
  skua::Router router;
  router.get("/", [] { return skua::Response::html(skua::StaticText("<img src=\"/camera\">")); });
  router.get("/camera", [&camera] { return camera.stream(); });

  const int port = count > 1 ? std::atoi(arguments[1]) : 8080;
  const skua::ShutdownSignals signals;
  skua::Server server(router, {.host = "127.0.0.1", .port = static_cast<std::uint16_t>(port)});
  server.start().value();
  std::printf("listening on %s\n", server.url().c_str());
  std::fflush(stdout);
  signals.wait_and_drain(server);
}
