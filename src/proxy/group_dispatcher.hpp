// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/core.hpp"
#include "client/request_spec.hpp"
#include "proxy/group.hpp"
#include "proxy/upstream.hpp"
#include "skua/request.hpp"
#include "skua/reverse_proxy.hpp"
#include "skua/task.hpp"

namespace skua::proxy {

/// A request at a member, from the choice until its response is complete or given up. Counts the
/// request, and tells the group how it ended.
///
/// Lifetime:  one loop's.
class Passage final : public client::ResponseWatch {
 public:
  /// The group has counted the request. Past the deadline, which is the client's, the member is
  /// not to blame if there is no response.
  Passage(std::shared_ptr<Group> group, std::shared_ptr<Member> member, loop::Loop& loop,
          loop::Instant deadline) noexcept;
  ~Passage() override;

  [[nodiscard]] Member& member() const noexcept { return *member_; }
  /// The head of a response has arrived. How it ends decides, unless the status is a failure.
  void note_head(const client::IncomingResponse& response) noexcept;
  /// It has ended. The server may not be to blame for that.
  void end(Outcome outcome, bool is_to_blame = true) noexcept;
  /// It has ended without a response. Returns how.
  Outcome end(Error error, const client::Reached& reached) noexcept;

  void completed() noexcept override;
  void failed(const Problem& why) noexcept override;

 private:
  const std::shared_ptr<Group> group_;
  const std::shared_ptr<Member> member_;
  loop::Loop& loop_;
  const loop::Instant deadline_;
  Outcome expected_ = Outcome::Answered;  // by its status
  bool is_tunnel_ = false;                // outstanding until the tunnel ends
  bool has_response_ = false;
  bool is_over_ = false;
};

/// Sends the requests of a reverse proxy to the members of a group.
class GroupDispatcher final : public Dispatcher {
 public:
  /// Ends with: std::invalid_argument if the TLS options cannot be used, or the path of a mirror's
  ///            URLs differs.
  GroupDispatcher(std::shared_ptr<Group> group, const ReverseProxyOptions& options);
  ~GroupDispatcher() override;

  Task<Fetched> fetch(Request& request, client::RequestSpec& spec) const override;
  [[nodiscard]] const std::optional<std::string>& base() const noexcept override;
  [[nodiscard]] bool is_http2() const noexcept override { return is_http2_; }

 private:
  /// The part of a group that belongs to a loop: clients, and work for it.
  struct View;
  struct Views;
  /// The attempts of one request.
  struct Attempts;
  /// A member that was chosen, or why there is none.
  struct Chosen {
    std::shared_ptr<Passage> passage{};
    std::shared_ptr<client::Core> client{};
    Group::Refusal refusal = Group::Refusal::None;
  };

  [[nodiscard]] View& view() const;
  void keep_up(View& view) const;
  [[nodiscard]] std::optional<std::uint64_t> key_of(const Request& request) const;
  [[nodiscard]] Chosen choose(View& view, const Attempts& attempts) const;
  /// Returns no passage once the deadline of the request has passed.
  Task<Chosen> wait_for_turn(View& view, const Attempts& attempts) const;
  [[nodiscard]] bool keeps_content(const client::RequestSpec& spec) const noexcept;
  /// Makes the spec that of the next attempt.
  void begin_attempt(Attempts& attempts, const std::shared_ptr<Passage>& passage,
                     loop::Instant now) const;
  /// Whether a request may be sent once more, and what that costs.
  enum class Repeat : std::uint8_t {
    No,
    Paid,     ///< from the budget
    Counted,  ///< the server did nothing with it, but the attempt took its time
    Free,     ///< the server was not there
  };
  [[nodiscard]] Repeat may_repeat(const Attempts& attempts, Outcome outcome) const noexcept;
  [[nodiscard]] bool pay_for_retry(const Attempts& attempts, Outcome outcome) const noexcept;
  void give_back_retry(const Attempts& attempts, Outcome outcome) const noexcept;
  /// Returns another member for the next attempt; no passage if there is to be none.
  Task<Chosen> choose_again(View& view, Attempts& attempts, Passage& failed, Outcome outcome) const;
  void mirror(View& view, const Attempts& attempts) const;
  static Task<> send_copy(Chosen chosen, std::unique_ptr<client::RequestSpec> spec,
                          std::shared_ptr<const void> counted);

  const std::shared_ptr<Group> group_;          // shared with the Upstream and with passages
  std::shared_ptr<const Endpoints> endpoints_;  // of the targets; views see in it that this is gone
  std::uint64_t id_;                            // unique in the process
  bool is_http2_;                               // all members are known to speak it
  std::shared_ptr<const GroupDispatcher> mirror_;     // null: none; shared with copies
  std::shared_ptr<std::atomic<std::size_t>> copies_;  // outstanding; shared with them
};

}  // namespace skua::proxy
