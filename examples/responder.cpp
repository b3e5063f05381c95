// SPDX-License-Identifier: MIT
// A handler as a class: callbacks in order, one object per request, no coroutines.
#include <skua.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

namespace {

/// Adds up the bytes of a body as they arrive.
class Adder final : public skua::Responder {
 public:
  void on_headers(skua::Request& request) override {
    name_ = request.param("name").value_or("");
    if (name_ == "nobody") throw skua::HttpError(skua::Status::Forbidden, "not for nobody");
  }
  void on_body(skua::Bytes piece) override {
    for (const std::byte byte : piece) sum_ += static_cast<std::uint64_t>(byte);
    bytes_ += piece.size();
  }
  skua::Response on_request(skua::Request&) override {
    return name_ + ": " + std::to_string(bytes_) + " bytes, sum " + std::to_string(sum_) + "\n";
  }
  void on_close() noexcept override { std::fprintf(stderr, "%s is done\n", name_.c_str()); }

 private:
  std::string name_;
  std::uint64_t bytes_ = 0;
  std::uint64_t sum_ = 0;
};

}  // namespace

int main(int count, char** arguments) {
  skua::Router router;
  router.post("/sum/{name}", [](std::string_view) { return std::make_unique<Adder>(); });

  const int port = count > 1 ? std::atoi(arguments[1]) : 8080;
  const skua::ShutdownSignals signals;
  skua::Server server(router, {.host = "127.0.0.1", .port = static_cast<std::uint16_t>(port)});
  server.start().value();
  std::printf("listening on %s\n", server.url().c_str());
  std::fflush(stdout);
  signals.wait_and_drain(server);
}
