// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "client/core.hpp"
#include "client/preview.hpp"
#include "client/request_spec.hpp"
#include "client/wire/exchange.hpp"
#include "client/wire/incoming_response.hpp"
#include "loop/clock.hpp"
#include "skua/error.hpp"
#include "skua/task.hpp"
#include "skua/url.hpp"

namespace skua::client {

/// Sends a request, repeats it as needed (after a dead connection, a challenge or a redirect), and
/// returns the final response once its head has arrived.
///
/// Ends with: the errors of ClientRequest::send().
Task<Result<IncomingResponsePointer, Problem>> fetch(std::shared_ptr<Core> core,
                                                     std::unique_ptr<RequestSpec> spec);

/// Uses a spec that is lent, and outlives the task. A redirect changes its fields, and the
/// response takes its watch.
Task<Result<IncomingResponsePointer, Problem>> fetch(std::shared_ptr<Core> core, RequestSpec& spec);

/// The state of one fetch().
class Fetch final {
 public:
  /// `spec` outlives it.
  Fetch(std::shared_ptr<Core> core, RequestSpec& spec)
      : core_(std::move(core)),
        spec_(spec),
        reached_(spec.reached != nullptr ? *spec.reached : own_reached_),
        began_(core_->loop.now()),
        method_(spec.method),
        fields_(spec.fields),
        credentials_(spec.credentials),
        expects_continue_(spec.expects_continue) {
    deadline_ = later(began_, spec.timeout);
  }

  /// Implements client::fetch().
  static Task<Result<IncomingResponsePointer, Problem>> run(std::shared_ptr<Core> core,
                                                            RequestSpec& spec,
                                                            std::unique_ptr<RequestSpec> owned);
  /// Implements client::preview().
  Result<RequestPreview, Problem> preview();

 private:
  /// The next step after a head.
  enum class Next : std::uint8_t { Answer, Again, Problem };
  /// The state of one exchange until its head has arrived.
  struct HeadWait {
    explicit HeadWait(loop::Instant now) noexcept : asked(now), all_sent(now), fed(now) {}

    loop::Instant asked;
    loop::Instant all_sent;
    loop::Instant fed;  // the producer of the content was last waited for
    std::uint64_t told_bytes = 0;
    bool was_all_sent = false;
    bool was_starved = false;
  };

  Result<void, Problem> read_url();
  void begin_round();
  Task<Result<IncomingResponsePointer, Problem>> exchange();
  Task<Result<Pool::Lease, Problem>> acquire(std::string key, bool only_http1);
  [[nodiscard]] bool is_http1_only() const;
  [[nodiscard]] const Forwarding* forwarding() const noexcept {
    const std::optional<Forwarding>& made = spec_.forwarding;
    return made ? &*made : nullptr;
  }
  [[nodiscard]] bool offers_upgrade() const noexcept {
    const Forwarding* const passed_on = forwarding();
    return passed_on != nullptr && passed_on->offers_upgrade;
  }
  /// Waits until a connection knows how it can be tunnelled through. Returns whether it can be.
  Task<bool> can_tunnel(HttpConnection& connection);
  /// Returns the pool's key of the connections that this request may use.
  const std::string& key_of_connections(bool only_http1);
  /// Returns the bytes that its connections begin with.
  [[nodiscard]] std::string_view preface() const noexcept {
    const std::optional<Forwarding>& forwarding = spec_.forwarding;
    return forwarding ? std::string_view(forwarding->preface) : std::string_view();
  }
  /// Reads until the final head. Returns how long to wait for more, or nothing if it has arrived.
  Result<std::optional<Duration>> read_head(Exchange& exchange, HeadWait& state);
  Result<ExchangePointer, Problem> begin(HttpConnection& connection);
  Result<ExchangePointer> begin_tunnel(HttpConnection& connection);
  Result<ExchangePointer, Problem> told(Result<ExchangePointer> begun) const;
  Result<FieldLines> fields(const RequestContent& content);
  void add_usual(FieldLines& lines, std::string_view name, std::string_view value) const;
  Result<void> authorize(FieldLines& lines, const RequestContent& content);
  Result<void> authorize_to_proxy(FieldLines& lines, const RequestContent& content);
  /// Returns the authorization shared by requests to the server with these credentials.
  [[nodiscard]] Authorization& authorization(const BasicCredentials& credentials) const;
  [[nodiscard]] bool is_given(std::string_view name) const noexcept;
  void take_interim(Exchange& exchange);
  void tell_head(const http::Head& head) const;
  void tell_upload(const Exchange& exchange, std::uint64_t& told_bytes) const;
  [[nodiscard]] Duration patience(const Exchange& exchange, const HeadWait& state) const noexcept;
  [[nodiscard]] bool may_be_sent_again() const;
  [[nodiscard]] bool may_repeat(const Exchange& exchange, bool is_reused, Error error) const;
  void refuse_http2();
  /// Returns how long the head may take once the request is sent.
  [[nodiscard]] Duration head_timeout() const noexcept {
    const Forwarding* const passed_on = forwarding();
    const bool is_own = passed_on != nullptr && passed_on->head_timeout != Duration(0);
    return is_own ? passed_on->head_timeout : core_->options.timeouts.head;
  }
  [[nodiscard]] Problem failure(const Exchange& exchange, Error error) const;
  IncomingResponsePointer receive(Pool::Lease&& lease, ExchangePointer&& exchange);
  void store_cookies(const http::Head& head);
  Next next(const http::Head& head);
  bool answers_challenge(const http::Head& head);
  bool answers(Authorization& known, const http::Head& head, std::string_view sent,
               unsigned& count);
  bool answers_proxy(const http::Head& head);
  bool answers_refusal(const http::Head& head);
  Next redirect(const http::Head& head);
  [[nodiscard]] const Url& url() const noexcept {
    return spec_.forwarding ? core_->base_url : url_;
  }
  [[nodiscard]] const Origin& origin() const noexcept {
    return spec_.forwarding ? core_->base_origin : origin_;
  }
  /// Returns the pool's key of connections that lead to the server.
  [[nodiscard]] const std::string& server() const noexcept {
    return server_.empty() ? core_->base_key : server_;
  }
  [[nodiscard]] std::string step() const { return step_of(method_name(), url()); }
  /// Returns the token to send if skua does not know the method, else an empty view.
  [[nodiscard]] std::string_view other_method() const noexcept {
    return method_ == Method::Other ? std::string_view(spec_.other_method) : std::string_view();
  }
  [[nodiscard]] std::string_view method_name() const noexcept {
    return other_method().empty() ? name(method_) : other_method();
  }

  const std::shared_ptr<Core> core_;
  RequestSpec& spec_;
  Reached own_reached_{};
  Reached& reached_;  // that, or the caller's
  const loop::Instant began_;
  loop::Instant deadline_ = loop::Instant::max();
  Method method_;
  Url url_;             // this, the origin and the server are empty if they are the client's base
  FieldLines& fields_;  // the caller's, minus those that redirects dropped
  std::optional<BasicCredentials> credentials_;
  Origin origin_;
  Proxies::Route route_;
  std::string server_;
  std::string own_key_;          // of its connections that not all requests may use
  std::string shown_to_server_;  // the last Authorization value sent
  std::string shown_to_proxy_;
  ConnectTimes times_;
  ClientTimings timings_;
  std::optional<Problem> problem_{};
  std::optional<std::uint64_t> content_bytes_{};  // if known
  unsigned redirects_ = 0;
  unsigned answers_ = 0;
  unsigned proxy_answers_ = 0;
  bool expects_continue_;    // until the server refuses
  bool has_content_ = true;  // a redirect may drop it
  bool is_sent_ = false;     // some of the content, at least once
  bool waits_for_continue_ = false;
  bool is_tunnel_ = false;  // sent as an extended CONNECT
};

/// Returns the current time in whole seconds, for cookies and HTTP dates.
inline std::chrono::sys_seconds wall_time() {
  return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
}

}  // namespace skua::client
