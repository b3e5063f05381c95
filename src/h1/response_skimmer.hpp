// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "h1/response_reader.hpp"

namespace skua::h1 {

/// What the skimmers of one thread share: the head that a server said last, and readers that none
/// of them uses at the moment.
///
/// Lifetime:  outlives its skimmers.
class SkimmerMemory final {
 public:
  /// All requests are alike: that is what they are.
  explicit SkimmerMemory(ResponseTo request, const ResponseLimits& limits = {})
      : request_(request), limits_(limits) {}
  SkimmerMemory(const SkimmerMemory&) = delete;
  SkimmerMemory& operator=(const SkimmerMemory&) = delete;

 private:
  friend class ResponseSkimmer;

  std::unique_ptr<ResponseReader> take_reader();
  void learn(const ResponseReader& reader);

  const ResponseTo request_;
  const ResponseLimits limits_;
  std::string head_;  // of a final response that let its connection live; empty: none yet
  std::uint64_t length_bytes_ = 0;  // of the content that follows it
  std::uint16_t status_ = 0;
  std::vector<std::unique_ptr<ResponseReader>> spare_readers_;
};

/// Reads one response after the other for someone who wants to know only what their status was and
/// where they ended.
///
/// The outcome is that of a ResponseReader. What makes it cheap: the same bytes mean the same, so a
/// head that is, octet for octet, the one that was read last is not read again.
class ResponseSkimmer final {
 public:
  enum class Event : std::uint8_t {
    NeedMore,  ///< all of the input was used
    Complete,  ///< a response has ended; what is left of the input is not its
    Failed,    ///< see error(); the connection is of no more use
  };

  explicit ResponseSkimmer(SkimmerMemory& memory) noexcept : memory_(memory) {}
  ResponseSkimmer(const ResponseSkimmer&) = delete;
  ResponseSkimmer& operator=(const ResponseSkimmer&) = delete;
  ~ResponseSkimmer() { forget(); }

  /// Reads on, up to the next end of a response, and takes what it has used off the input. After
  /// Complete it goes on with the next response.
  Event read(std::string_view& input);
  /// The server sends no more. Complete: that is how the response ended.
  Event end_of_input();
  /// Ready for the first response of another connection.
  void forget() noexcept;

  /// Of the response that has ended last.
  [[nodiscard]] std::uint16_t status() const noexcept { return status_; }
  /// Whether the connection may carry another request behind that.
  [[nodiscard]] bool can_be_reused() const noexcept { return can_be_reused_; }
  /// Whether a response has begun that has not ended.
  [[nodiscard]] bool has_begun() const noexcept { return is_in_content_ || reader_ != nullptr; }
  [[nodiscard]] Error error() const noexcept { return error_; }

 private:
  bool recognise(std::string_view& input);
  Event read_content(std::string_view& input);
  Event read_new(std::string_view& input);
  Event complete();

  SkimmerMemory& memory_;
  std::unique_ptr<ResponseReader> reader_;  // of a response whose head was not recognised
  std::uint64_t left_bytes_ = 0;            // of the content behind one that was
  bool is_in_content_ = false;
  bool can_be_reused_ = true;
  std::uint16_t status_ = 0;
  Error error_{Errc::None};
};

}  // namespace skua::h1
