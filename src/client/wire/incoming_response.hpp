// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/core.hpp"
#include "client/request_spec.hpp"
#include "client/wire/decoding.hpp"
#include "client/wire/exchange.hpp"
#include "client/wire/pace.hpp"
#include "client/wire/pool.hpp"
#include "http/message/field.hpp"
#include "skua/bytes.hpp"
#include "skua/client_response.hpp"
#include "skua/config.hpp"
#include "skua/error.hpp"
#include "skua/method.hpp"
#include "skua/status.hpp"
#include "skua/task.hpp"
#include "skua/url.hpp"

namespace skua::client {

/// A head that owns its memory, and so outlives its connection.
class KeptHead final {
 public:
  KeptHead() = default;
  explicit KeptHead(const http::Head& head);
  KeptHead(const KeptHead&) = delete;
  KeptHead& operator=(const KeptHead&) = delete;
  KeptHead(KeptHead&& other) noexcept { *this = std::move(other); }
  KeptHead& operator=(KeptHead&& other) noexcept;
  ~KeptHead() = default;

  [[nodiscard]] const http::Head& head() const noexcept SKUA_LIFETIMEBOUND { return head_; }

 private:
  void point() noexcept;

  std::string text_;
  std::vector<http::FieldLine> lines_;
  http::Head head_;
};

/// A response whose head has arrived, and whose content is being received.
class IncomingResponse final : private skua::detail::ContentTaker {
 public:
  /// The request that it answers.
  struct Asked {
    Method method = Method::Get;
    std::string method_name{};
    Url url{};  ///< empty: the client's base URL
    unsigned redirects = 0;
    bool decompress = true;
    bool sends_files = false;
    loop::Instant began{};
    loop::Instant deadline = loop::Instant::max();
    ClientTimings timings{};
    std::shared_ptr<const PeerFacts> peer{};
    std::function<void(Progress)> on_progress{};
    std::uint64_t bytes_per_second = 0;  ///< of the content, at most; zero: no limit
    std::shared_ptr<ResponseWatch> watch{};
  };

  /// `exchange` has reported its head. read() reports problems with content codings.
  IncomingResponse(std::shared_ptr<Core> core, Pool::Lease&& lease, ExchangePointer&& exchange,
                   Asked asked);
  IncomingResponse(const IncomingResponse&) = delete;
  IncomingResponse& operator=(const IncomingResponse&) = delete;
  ~IncomingResponse();

  [[nodiscard]] const http::Head& head() const noexcept { return head_.head(); }
  [[nodiscard]] const http::Head& trailers() const noexcept { return trailers_.head(); }
  [[nodiscard]] Status status() const noexcept { return static_cast<Status>(head().status); }
  [[nodiscard]] bool is_success() const noexcept { return head().status / 100 == 2; }
  [[nodiscard]] const Asked& asked() const noexcept { return asked_; }
  [[nodiscard]] const Url& url() const noexcept {
    return asked_.url.has_scheme() ? asked_.url : core_->base_url;
  }
  [[nodiscard]] std::optional<std::uint64_t> length_bytes() const noexcept { return length_bytes_; }
  /// Reports whether the whole request was sent, or will not be.
  [[nodiscard]] bool is_request_sent() const noexcept {
    return exchange_ == nullptr || exchange_->is_all_sent();
  }
  [[nodiscard]] bool is_decoded() const noexcept { return decoder_.has_value(); }
  [[nodiscard]] std::size_t text_limit() const noexcept { return core_->options.limits.text_bytes; }
  [[nodiscard]] Core& core() const noexcept { return *core_; }
  /// Returns `get http://example.com/a`, for problems.
  [[nodiscard]] std::string step() const;
  [[nodiscard]] Problem unexpected_status() const;

  /// Reports progress as if this much content had arrived before.
  void count_from(std::uint64_t size_bytes) noexcept { earlier_bytes_ = size_bytes; }
  /// The outcome of ClientResponse::read().
  using Read = Result<std::optional<Bytes>, Problem>;
  /// Implements ClientResponse::read().
  Task<Read> read();
  /// Like read(), but returns nullopt instead of waiting.
  std::optional<Read> read_now();
  /// Offers further content to `taker` first, while read() waits; see Exchange::pass_to(). Null
  /// ends that.
  void pass_to(skua::detail::ContentTaker* taker) noexcept {
    taker_ = taker;
    if (exchange_ != nullptr) exchange_->pass_to(taker != nullptr ? this : nullptr);
  }
  /// See Exchange::pause().
  void pause() noexcept {
    if (exchange_ != nullptr) exchange_->pause();
  }
  /// The program holds the response from now on, for an unknown time. See Pool::closed().
  void hand_over() noexcept { lease_.hold(); }
  /// Reports whether another protocol follows: after 101, or 2xx to CONNECT.
  [[nodiscard]] bool switches_protocol() const noexcept {
    return status() == Status::SwitchingProtocols ||
           (asked_.method == Method::Connect && is_success());
  }
  /// Returns the connection, or the stream, after switches_protocol().
  ///
  /// Ends with: the errors of Exchange::take_stream().
  Result<SwitchedStream, Problem> switch_protocol();
  /// Reads and discards the rest, so that the connection can be used again; gives up if that is
  /// long or slow.
  Task<> discard();
  /// Like discard(), but gives up if the rest has not arrived yet.
  void drop();

 private:
  void begin_discarding() noexcept;
  Taken take(std::string_view piece) noexcept override;
  Result<void> start_decoding();
  Result<Bytes> decode(ContentDecoder& decoder);
  std::optional<Read> look();
  Result<Exchange::Step> next();
  [[nodiscard]] std::string_view take_waiting();
  [[nodiscard]] Duration patience() noexcept;
  void complete();
  Problem fail(Error error);
  Problem fail(Problem problem);
  [[nodiscard]] Problem out_of_time() const;

  std::shared_ptr<Core> core_;
  Pool::Lease lease_;         // destroyed after the exchange
  ExchangePointer exchange_;  // null once the content is complete or has failed
  const Asked asked_;
  loop::Instant deadline_;
  ClientTimings timings_;
  KeptHead head_;
  KeptHead trailers_;
  std::optional<ContentDecoder> decoder_{};
  std::vector<char> decoded_;
  Pace pace_;
  std::string_view waiting_;  // received, but not due yet
  std::string_view input_;    // not consumed by the decoder yet
  Duration wait_{};           // until read_now() should be called again, at the latest
  std::optional<std::uint64_t> length_bytes_{};
  std::uint64_t received_bytes_ = 0;
  std::uint64_t earlier_bytes_ = 0;
  skua::detail::ContentTaker* taker_ = nullptr;
  std::optional<Problem> problem_{};
  bool is_discarding_ = false;

 public:
  [[nodiscard]] const ClientTimings& timings() const noexcept { return timings_; }
};

using IncomingResponsePointer = std::unique_ptr<IncomingResponse>;

/// Reads the rest of the content; more than `limit_bytes` is BodyTooLong.
Task<Result<std::string, Problem>> read_text(IncomingResponse& incoming, std::size_t limit_bytes);

}  // namespace skua::client
