// SPDX-License-Identifier: MIT
#include "support/tls_wire.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include "tls/client_context.hpp"

namespace skua::testing {

TlsWire::TlsWire(const std::vector<std::string>& protocols, const TlsCertificate& certificate) {
  const auto context =
      tls::ClientContext::create({.certificate = certificate, .insecure = true}, protocols);
  if (!context) throw std::runtime_error(context.error().text);
  engine_ = (*context)->connect("localhost");
  engine_->handshake();  // produces the first message
}

void TlsWire::write(std::string_view plain) {
  while (!plain.empty()) {
    const std::string_view record = plain.substr(0, tls::Engine::record_bytes);
    if (!engine_->write(record)) return;
    plain.remove_prefix(record.size());
  }
}

std::string TlsWire::read(std::string_view records) {
  using Step = tls::Engine::Step;
  std::string plain;
  engine_->feed(records);
  if (!is_established() && engine_->handshake() != Step::Done) return plain;
  std::array<char, tls::Engine::record_bytes> record;
  while (true) {
    const tls::Engine::Read read = engine_->read(record);
    has_ended_ = has_ended_ || read.step == Step::Ended;
    if (read.step != Step::Done) return plain;
    plain.append(record.data(), read.count_bytes);
  }
}

std::string TlsWire::take_output() { return std::exchange(engine_->output(), {}); }

}  // namespace skua::testing
