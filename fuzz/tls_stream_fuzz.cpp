// SPDX-License-Identifier: MIT
// In: a byte that selects the piece size, then a client's bytes to a TLS server. Checked: no data
// is delivered before the handshake is done, which no input can achieve; every connection ends
// once, and its end does not depend on the pieces. Certificates differ between runs; outcomes do
// not.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string_view>

#include "crypto/digest.hpp"
#include "loop/clock.hpp"
#include "support/memory_stream.hpp"
#include "tls/server_context.hpp"
#include "tls/tls_stream.hpp"

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

struct Sink final : skua::net::StreamSink {
  void on_established() override { check(false); }
  void on_receive(std::span<char>) override { check(false); }
  void on_receive_end(skua::Error error) override {
    check(!end);
    end = error.code();
  }
  void on_sent(std::size_t) override {}
  void on_send_failed(skua::Error) override {}
  void on_closed() override { is_closed = true; }
  std::optional<skua::Errc> end;
  bool is_closed = false;
};

class Server {
 public:
  Server() {
    auto context = skua::tls::ServerContext::create(
        {.self_signed = true}, {"h2", "http/1.1"},
        std::make_shared<skua::tls::TicketKeys>(std::chrono::hours(1), clock_));
    check(static_cast<bool>(context));
    context_ = *std::move(context);
  }

  skua::Errc end_of(std::string_view input, std::size_t piece_bytes) {
    auto owned = std::make_unique<skua::net::MemoryStream>();
    skua::net::MemoryStream& wire = *owned;
    Sink sink;
    skua::tls::TlsStream stream(*loop_, std::move(owned), context_);
    stream.listen(sink);
    wire.feed(input, piece_bytes);
    wire.finish();
    stream.start_receive();
    wire.pump();
    loop_->run_once(skua::Duration(0));
    check(sink.end && *sink.end != skua::Errc::None);
    stream.close();
    wire.pump();
    check(sink.is_closed);
    return *sink.end;
  }

 private:
  skua::loop::ManualClock clock_;
  std::unique_ptr<skua::loop::Loop> loop_ =
      *skua::loop::Loop::create({.backend = skua::BackendChoice::Poll});
  std::shared_ptr<const skua::tls::ServerContext> context_;  // shared: create() returns this
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0 || !skua::crypto::is_available()) return 0;
  static Server server;
  const std::size_t piece_bytes = std::size_t{data[0]} + 1;
  const std::string_view input(reinterpret_cast<const char*>(data + 1), size - 1);
  check(server.end_of(input, piece_bytes) == server.end_of(input, std::size_t{1} << 20));
  return 0;
}
