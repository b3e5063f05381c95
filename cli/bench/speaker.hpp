// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "loop/clock.hpp"
#include "net/output_queue.hpp"
#include "skua/error.hpp"

namespace skua::cli::bench {

/// A request in flight.
struct Asked {
  loop::Instant due{};
  loop::Instant sent{};
};

/// A receiver of the outcomes of requests.
class AnswerSink {
 public:
  virtual void on_answer(const Asked& asked, unsigned status, loop::Instant now) = 0;
  /// Called if the server has not processed a request and never will: it may be sent again.
  virtual void on_unseen(const Asked& asked) = 0;
  /// Called if a request failed, but the connection did not.
  virtual void on_failure(const Asked& asked, const Error& error) = 0;

 protected:
  ~AnswerSink() = default;
};

/// The state of a connection after its input was read.
enum class Verdict : std::uint8_t {
  GoOn,
  Over,    ///< it ends normally
  Broken,  ///< see problem()
};

/// A protocol on one connection after another: bytes in, bytes out.
///
/// Lifetime:  the sink outlives it, and is told of every request that give_up() does not return.
class Speaker {
 public:
  Speaker() = default;
  Speaker(const Speaker&) = delete;
  Speaker& operator=(const Speaker&) = delete;
  virtual ~Speaker() = default;

  /// Starts on a new connection with this output, with no requests in flight.
  virtual void begin(net::OutputQueue& output, loop::Instant now) = 0;
  /// Returns how many more requests may be in flight now.
  [[nodiscard]] virtual std::size_t room() const noexcept = 0;
  /// Queues a request.
  virtual void ask(const Asked& asked) = 0;
  [[nodiscard]] virtual std::size_t under_way() const noexcept = 0;
  /// Returns when the oldest request in flight was sent. Requires one in flight.
  [[nodiscard]] virtual loop::Instant oldest() const noexcept = 0;

  /// Writes queued data, perhaps not all of it; returns whether it wrote anything.
  virtual bool write(net::OutputQueue& output) = 0;
  /// Called when `count` of the written bytes have been sent.
  virtual void sent(std::uint64_t count) = 0;

  virtual Verdict read(std::string_view input, loop::Instant now) = 0;
  /// Called when the server has closed its side.
  virtual Verdict end_of_input(loop::Instant now) = 0;
  /// Returns the reason for Verdict::Broken.
  [[nodiscard]] virtual std::string problem() const = 0;
  /// Removes and returns a request in flight; nullopt if there is none.
  virtual std::optional<Asked> give_up() = 0;
};

}  // namespace skua::cli::bench
