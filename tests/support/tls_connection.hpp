// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "support/client.hpp"
#include "tls/client_context.hpp"

namespace skua::testing {

/// A blocking TLS connection to a port on 127.0.0.1.
class TlsConnection {
 public:
  TlsConnection(std::uint16_t port, const ClientTlsOptions& options,
                const std::vector<std::string>& protocols = {})
      : connection_(port) {
    auto context = tls::ClientContext::create(options, protocols);
    if (!context) throw std::runtime_error(context.error().text);
    engine_ = (*context)->connect("127.0.0.1");
    tls::Engine::Step step{};
    while ((step = engine_->handshake()) == tls::Engine::Step::WantsInput && take_input()) {
    }
    flush();
  }

  /// Gives access to what was negotiated, and to the error of a failed handshake.
  [[nodiscard]] const tls::Engine& engine() const { return *engine_; }

  /// Sends a request and returns everything received until the peer closes; empty if the
  /// handshake failed.
  std::string ask(std::string_view request) {
    if (!engine_->is_established() || !engine_->write(request)) return {};
    std::string text;
    std::array<char, tls::Engine::record_bytes> piece;
    while (true) {
      const tls::Engine::Read read = engine_->read(piece);
      text.append(piece.data(), read.count_bytes);
      if (read.step == tls::Engine::Step::Done) continue;
      if (read.step != tls::Engine::Step::WantsInput || !take_input()) return text;
    }
  }

 private:
  void flush() {
    connection_.send(engine_->output());
    engine_->output().clear();
  }
  bool take_input() {
    flush();
    input_ = connection_.some();
    engine_->feed(input_);
    return !input_.empty();
  }

  Client connection_;
  std::unique_ptr<tls::Engine> engine_;
  std::string input_;
};

}  // namespace skua::testing
