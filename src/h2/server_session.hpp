// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nghttp2/nghttp2.h>

#include "h2/engine.hpp"
#include "h2/peer_streams.hpp"
#include "h2/session.hpp"

namespace skua::h2 {

/// What a session knows of a stream.
class StreamState final : public Stream {
 public:
  /// Ready for another stream.
  void open(std::uint32_t id, std::size_t place) noexcept;

  using Stream::has_received_all_;
  using Stream::has_response_;
  using Stream::is_closed_;
  using Stream::request_;

  HeadBuilder head;
  std::unique_ptr<HeadBuilder> trailers;  // while they arrive, and after
  http::Head trailer_head;
  std::size_t place = 0;      // among the session's streams
  bool is_told = false;       // the consumer knows of it
  bool is_released = false;   // the consumer is done with it
  bool is_resetting = false;  // RST_STREAM waits to be written: what arrives is dropped
  bool is_reset_counted = false;
  bool is_sending = false;   // the response's content is not all read
  bool is_deferred = false;  // the consumer has no content for now
  bool is_tunnel = false;    // what follows the heads is of another protocol: RFC 9113 §8.5
};

/// The server's side by nghttp2. Internal: it shows nghttp2.
class ServerSession final : public Session, private EngineUser {
 public:
  ServerSession(const SessionOptions& options, Events& events, loop::Instant now);
  ~ServerSession() override;

  void receive(std::string_view input, loop::Instant now) override { engine_.receive(input, now); }
  [[nodiscard]] bool wants_write() const noexcept override { return engine_.wants_write(); }
  std::size_t write(Output& output, std::size_t most_bytes) override;
  [[nodiscard]] bool is_over() const noexcept override { return engine_.is_over(); }
  [[nodiscard]] const Failure* failure() const noexcept override { return engine_.failure(); }
  void begin_shut_down() override;
  void finish_shut_down() override;
  void terminate(ErrorCode code, std::string_view reason) override {
    engine_.terminate(code, reason);
  }
  [[nodiscard]] std::optional<loop::Instant> settings_pending_since() const noexcept override {
    return settings_pending_since_;
  }
  [[nodiscard]] std::optional<loop::Instant> unfinished_since() const noexcept override {
    return engine_.unfinished_since();
  }
  [[nodiscard]] bool is_blocked_by_window() const noexcept override;
  [[nodiscard]] std::size_t stream_count() const noexcept override { return streams_.size(); }
  [[nodiscard]] std::uint32_t abuse_score() const noexcept override {
    return engine_.guard().score();
  }

  void respond(Stream& stream, const ResponseHead& head, bool has_body) override;
  void inform(Stream& stream, Status status, std::string_view fields) override;
  void resume_body(Stream& stream) override;
  void consume(Stream& stream, std::size_t bytes) override;
  void reset(Stream& stream, ErrorCode code) override;
  void release(Stream& stream) override;
  [[nodiscard]] bool is_blocked_by_window(const Stream& stream) const noexcept override;

 private:
  [[nodiscard]] bool is_late(std::uint32_t stream_id) const noexcept override;
  ErrorCode check(const FrameHead& frame) override { return peer_streams_.take(frame); }
  int on_begin_headers(const nghttp2_frame& frame) override;
  int on_header(const nghttp2_frame& frame, std::string_view name, std::string_view value) override;
  int on_frame(const nghttp2_frame& frame) override;
  int on_invalid_frame(const nghttp2_frame& frame, int error) override;
  int on_data(std::uint32_t id, std::string_view data) override;
  int on_close(std::uint32_t id, ErrorCode code) override;
  int on_sent(const nghttp2_frame& frame) override;
  int on_not_sent(const nghttp2_frame& frame, int error) override;
  ssize_t read_body(std::uint32_t id, std::size_t most_bytes, std::uint32_t& flags) override;
  void append(std::string_view bytes) override { output_->append(bytes); }
  void append_payload(std::uint32_t id, std::size_t bytes) override {
    output_->append_payload(*find(id), bytes);
  }

  void submit_settings(const SessionOptions& options);
  void on_request_head(StreamState& stream, bool is_end);
  void on_trailers(StreamState& stream);
  void on_response_sent(StreamState& stream);
  void on_reset_sent(const nghttp2_frame& frame);
  void submit_reset(StreamState& stream, ErrorCode code);
  void punish(StreamState& stream, ErrorCode code);  // for what the peer did
  void refuse(std::uint32_t id);

  [[nodiscard]] StreamState* find(std::uint32_t id) const noexcept;
  StreamState& open_stream(std::uint32_t id);
  void close_stream(StreamState& stream) noexcept;
  [[nodiscard]] static bool is_deaf(const StreamState& stream) noexcept {
    return !stream.is_told || stream.is_released || stream.is_resetting || stream.is_closed_;
  }

  Events& events_;
  const HeadLimits head_limits_;
  const HeadLimits trailer_limits_;
  const std::size_t most_streams_;
  PeerStreams peer_streams_;
  std::optional<loop::Instant> settings_pending_since_;
  std::vector<std::unique_ptr<StreamState>> streams_;
  std::vector<std::unique_ptr<StreamState>> idle_;  // to be used again
  Output* output_ = nullptr;                        // during write()
  std::uint32_t highest_id_ = 0;                    // of the peer's streams
  Engine engine_;
};

}  // namespace skua::h2
