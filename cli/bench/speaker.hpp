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

/// A request under way.
struct Asked {
  loop::Instant due{};
  loop::Instant sent{};
};

/// Who hears of the fate of requests.
class AnswerSink {
 public:
  virtual void on_answer(const Asked& asked, unsigned status, loop::Instant now) = 0;
  /// The server has not looked at it, and would not: it may be sent again.
  virtual void on_unseen(const Asked& asked) = 0;
  /// It alone will not be answered, for this reason.
  virtual void on_failure(const Asked& asked, const Error& error) = 0;

 protected:
  ~AnswerSink() = default;
};

/// What a connection is worth behind what was read.
enum class Verdict : std::uint8_t {
  GoOn,
  Over,    ///< it ends in order
  Broken,  ///< see problem()
};

/// Speaks a protocol on one connection after the other: bytes in, bytes out.
///
/// Lifetime:  the sink outlives it, and is told of every request: answered, unseen, or given up.
class Speaker {
 public:
  Speaker() = default;
  Speaker(const Speaker&) = delete;
  Speaker& operator=(const Speaker&) = delete;
  virtual ~Speaker() = default;

  /// Another connection begins, whose output is this; nothing is under way.
  virtual void begin(net::OutputQueue& output, loop::Instant now) = 0;
  /// How many more requests it takes now.
  [[nodiscard]] virtual std::size_t room() const noexcept = 0;
  /// Puts a request into the output.
  virtual void ask(const Asked& asked) = 0;
  [[nodiscard]] virtual std::size_t under_way() const noexcept = 0;
  /// When the oldest of them was sent; there is one.
  [[nodiscard]] virtual loop::Instant oldest() const noexcept = 0;

  /// Writes what is to be sent, perhaps not all of it; whether there was anything.
  virtual bool write(net::OutputQueue& output) = 0;
  /// So much of what was written has left.
  virtual void sent(std::uint64_t count) = 0;

  virtual Verdict read(std::string_view input, loop::Instant now) = 0;
  /// The server sends no more.
  virtual Verdict end_of_input(loop::Instant now) = 0;
  /// Of Broken: what is wrong.
  [[nodiscard]] virtual std::string problem() const = 0;
  /// The next of those under way, which is not under way any longer; nothing: that was all.
  virtual std::optional<Asked> give_up() = 0;
};

}  // namespace skua::cli::bench
