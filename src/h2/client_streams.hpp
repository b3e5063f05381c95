// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include <nghttp2/nghttp2.h>

#include "h2/client_session.hpp"
#include "h2/engine.hpp"

namespace skua::h2 {

/// What a session knows of a stream. There from the request until both nghttp2 and the consumer are
/// done with it.
class ClientStreamState final : public ClientStream {
 public:
  using ClientStream::id_;

  std::unique_ptr<ReceivedHead> section{};  // that arrives
  Error error{Errc::None};                  // why we reset it
  std::optional<std::uint64_t> length_bytes{};
  std::uint64_t framed_bytes = 0;  // content that DATA frames have announced
  std::size_t place = 0;           // among the session's streams
  std::size_t interim_bytes = 0;
  std::uint16_t interim_count = 0;
  bool is_head_request = false;
  bool is_sent = false;      // its head is
  bool is_all_sent = false;  // its content, too
  bool has_begun = false;    // the response
  bool has_head = false;     // the final one
  bool has_received_all = false;
  bool is_deferred = false;     // the consumer has no content for now
  bool has_peer_reset = false;  // which nghttp2 may not have seen yet
  bool is_reset = false;        // by us: what arrives is dropped
  bool is_released = false;     // the consumer is done with it
  bool is_closed = false;       // nghttp2 is done with it
};

inline std::int32_t id_of(const ClientStream& stream) noexcept {
  return static_cast<std::int32_t>(stream.id());
}

/// The client's side by nghttp2. Internal: it shows nghttp2.
class ClientStreams final : public ClientSession, private EngineUser {
 public:
  ClientStreams(const ClientSessionOptions& options, ClientEvents& events, loop::Instant now);
  ~ClientStreams() override;

  void receive(std::string_view input, loop::Instant now) override;
  [[nodiscard]] bool wants_write() const noexcept override { return engine_.wants_write(); }
  std::size_t write(ClientOutput& output, std::size_t most_bytes) override;
  [[nodiscard]] bool is_over() const noexcept override { return engine_.is_over(); }
  [[nodiscard]] const Failure* failure() const noexcept override { return engine_.failure(); }
  void shut_down() override;
  void lose(Error error) override;
  [[nodiscard]] std::size_t room() const noexcept override;
  [[nodiscard]] std::size_t stream_count() const noexcept override { return streams_.size(); }
  [[nodiscard]] std::uint32_t abuse_score() const noexcept override {
    return engine_.guard().score();
  }

  ClientStream* request(const RequestLines& head, bool has_body, void* context) override;
  void resume_body(ClientStream& stream) override;
  void consume(ClientStream& stream, std::size_t bytes) override;
  void release(ClientStream& stream) noexcept override;

 private:
  [[nodiscard]] bool is_late(std::uint32_t stream_id) const noexcept override;
  ErrorCode check(const FrameHead& frame) override;
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

  void on_response(ClientStreamState& stream, bool is_end);
  void on_interim(ClientStreamState& stream);
  void on_trailers(ClientStreamState& stream);
  static void keep_length(ClientStreamState& stream, const http::Head& head) noexcept;
  void finish(ClientStreamState& stream, std::unique_ptr<ReceivedHead> trailers);
  void fail_all(Error error, bool is_unsent_only);
  void fail(ClientStreamState& stream, const StreamFailure& failure);
  void punish(ClientStreamState& stream, Error error, ErrorCode code);
  void submit_reset(ClientStreamState& stream, ErrorCode code) noexcept;
  void remove(ClientStreamState& stream) noexcept;
  [[nodiscard]] StreamFailure failure_of(const ClientStreamState& stream, ErrorCode code) const;
  [[nodiscard]] Error connection_error() const noexcept;
  /// The names are literals.
  [[nodiscard]] static const char* context_of(ErrorCode code) noexcept { return name(code).data(); }
  [[nodiscard]] ClientStreamState* find(std::uint32_t id) const noexcept {
    return static_cast<ClientStreamState*>(engine_.find(id));
  }
  [[nodiscard]] static bool is_deaf(const ClientStreamState& stream) noexcept {
    return stream.is_released || stream.is_reset || stream.is_closed || stream.has_received_all;
  }

  ClientEvents& events_;
  const std::size_t most_streams_;
  const HeadLimits head_limits_;
  const HeadLimits trailer_limits_;
  const std::size_t most_interim_bytes_;
  const std::uint16_t most_interim_;
  std::vector<std::unique_ptr<ClientStreamState>> streams_;
  ClientOutput* output_ = nullptr;  // during write()
  Error error_{Errc::None};         // why we end the connection, where the code does not say it
  bool has_settings_ = false;
  bool is_shut_down_ = false;
  Engine engine_;
};

}  // namespace skua::h2
