// SPDX-License-Identifier: MIT
// In: a few bytes that control how the peer sends and receives, then its input. Checked: a whole
// server connection over a memory stream, which asserts the order of its calls: no input breaks it,
// every connection ends, and HTTP/1 responses do not depend on how the input is split or how slowly
// the output is read. HTTP/2 responses do if the connection fails: see h2_session_fuzz.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "h2/frame.hpp"
#include "loop/clock.hpp"
#include "server/worker.hpp"
#include "skua.hpp"
#include "support/memory_stream.hpp"

namespace {

using skua::net::MemoryStream;

void check(bool holds) {
  if (!holds) std::abort();
}

struct Peer {
  std::size_t piece_bytes = std::size_t{1} << 20;
  std::size_t taken_bytes = std::size_t{1} << 20;
  MemoryStream::SendStyle style = MemoryStream::SendStyle::Readiness;
  bool half_closes = false;
};

class Server {
 public:
  Server() {
    router_.get("/", [] { return "Hello, world!"; });
    router_.get("/big", [] { return std::string(20'000, 'b'); });
    router_.get("/u/{id}", [](int id) { return std::to_string(id); });
    router_.get("/none", [] { return skua::Response(skua::Status::NoContent); });
    router_.get("/prepared", skua::PreparedResponse(std::string(6'000, 'p')));
    router_.post("/{rest...}", [](const skua::Request& request) {
      std::string text(request.path());
      text.append("?").append(request.query_string()).append("|").append(request.body());
      return text;
    });
    options_.backend = skua::BackendChoice::Poll;
    options_.limits.output_bytes = 30'000;
    options_.limits.body_bytes = 2'000;
    options_.limits.head_bytes = 2'000;
    options_.limits.unread_body_bytes = 500;
    options_.limits.chunk_extension_bytes = 64;
    options_.hooks.on_response = [](const skua::RequestRecord& record) {
      for (const char c : record.target) check(static_cast<unsigned char>(c) > 0x20);
    };
    worker_ = skua::server::Worker::create(router_, options_, shared_, &clock_).value();
  }

  std::string answers(std::string_view input, const Peer& peer) {
    auto owned = std::make_unique<MemoryStream>();
    MemoryStream& stream = *owned;
    bool is_gone = false;
    stream.tell_destruction(is_gone);
    stream.take_at_most(peer.taken_bytes, peer.style);
    stream.feed(input, peer.piece_bytes);
    if (peer.half_closes) stream.finish();
    worker_->serve(std::move(owned));
    std::string output;
    while (!is_gone && stream.pump_once()) {
      if (!is_gone) output.append(stream.take_output());
    }
    if (!is_gone) {
      stream.finish(skua::Error(skua::Errc::Closed));
      stream.pump();
    }
    check(is_gone);
    return output;
  }

 private:
  skua::Router router_;
  skua::ServerOptions options_;
  skua::server::SharedState shared_;
  skua::loop::ManualClock clock_;
  std::unique_ptr<skua::server::Worker> worker_;
};

// Inputs with Expect are exempt: RFC 9110 §10.1.1 makes 100 depend on how much has arrived.
bool mentions_expect(std::string_view input) {
  for (std::size_t i = 0; i + 5 <= input.size(); ++i) {
    if ((input[i] | 0x20) == 'x' && (input[i + 1] | 0x20) == 'p' && (input[i + 2] | 0x20) == 'e' &&
        (input[i + 3] | 0x20) == 'c' && (input[i + 4] | 0x20) == 't')
      return true;
  }
  return false;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  static Server server;
  const std::string_view input(reinterpret_cast<const char*>(data + 3), size - 3);
  const bool half_closes = (data[2] & 1U) != 0;
  const std::string whole = server.answers(input, {.half_closes = half_closes});
  const Peer slow{.piece_bytes = 1U + data[0],
                  .taken_bytes = 1U + 16U * data[1],
                  .style = (data[2] & 2U) != 0 ? MemoryStream::SendStyle::Completion
                                               : MemoryStream::SendStyle::Readiness,
                  .half_closes = half_closes};
  const std::string in_pieces = server.answers(input, slow);
  // A foreign first line is recognized only if it arrives whole; otherwise it is refused.
  const bool is_foreign = whole.empty() && in_pieces.find("Connection: close") != in_pieces.npos;
  // 405 and 501 do not wait for content, which may turn out to be malformed. Such a one is the
  // last.
  const std::size_t last = std::min(in_pieces.rfind("HTTP/1.1 "), whole.size());
  const std::string_view early =
      std::string_view(in_pieces).substr(std::min(last, in_pieces.size()), 12);
  const std::string_view instead = std::string_view(whole).substr(last, 12);
  const bool is_early = (early == "HTTP/1.1 405" || early == "HTTP/1.1 501") &&
                        (instead == "HTTP/1.1 400" || instead == early) &&
                        whole.compare(0, last, in_pieces, 0, last) == 0 &&
                        in_pieces.find("\r\nConnection: close\r\n", last) != in_pieces.npos;
  const bool is_http1 = !input.starts_with(skua::h2::client_preface);
  const bool may_differ = mentions_expect(input) || is_foreign || is_early;
  if (is_http1 && !may_differ) check(in_pieces == whole);
  return 0;
}
