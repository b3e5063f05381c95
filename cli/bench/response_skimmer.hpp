// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "h1/response_reader.hpp"

namespace skua::h1 {

/// The state that the skimmers of one thread share: the last response head, and a pool of spare
/// readers.
///
/// Lifetime:  outlives its skimmers.
class SkimmerMemory final {
 public:
  /// `request` describes all requests, which must be alike.
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
  std::string head_;                // of the last reusable response; empty: none yet
  std::uint64_t length_bytes_ = 0;  // of the content that follows it
  std::uint16_t status_ = 0;
  std::vector<std::unique_ptr<ResponseReader>> spare_readers_;
};

/// Reads a sequence of responses and reports only their status and where they end.
///
/// The outcome is that of a ResponseReader, but cheaper: a head that equals the last one byte for
/// byte is not parsed again.
class ResponseSkimmer final {
 public:
  enum class Event : std::uint8_t {
    NeedMore,  ///< all of the input was used
    Complete,  ///< a response ended; any remaining input is not part of it
    Failed,    ///< see error(); the connection is unusable
  };

  explicit ResponseSkimmer(SkimmerMemory& memory) noexcept : memory_(memory) {}
  ResponseSkimmer(const ResponseSkimmer&) = delete;
  ResponseSkimmer& operator=(const ResponseSkimmer&) = delete;
  ~ResponseSkimmer() { forget(); }

  /// Reads up to the end of a response and removes the consumed bytes from the input. After
  /// Complete, the next call reads the next response.
  Event read(std::string_view& input);
  /// Signals the end of input. Returns Complete if that ends the response.
  Event end_of_input();
  /// Prepares for the first response of another connection.
  void forget() noexcept;

  /// The status of the last complete response.
  [[nodiscard]] std::uint16_t status() const noexcept { return status_; }
  /// Reports whether the connection may carry another request after it.
  [[nodiscard]] bool can_be_reused() const noexcept { return can_be_reused_; }
  /// Reports whether a response has begun but not ended.
  [[nodiscard]] bool has_begun() const noexcept { return is_in_content_ || reader_ != nullptr; }
  [[nodiscard]] Error error() const noexcept { return error_; }

 private:
  bool recognise(std::string_view& input);
  Event read_content(std::string_view& input);
  Event read_new(std::string_view& input);
  Event complete();

  SkimmerMemory& memory_;
  std::unique_ptr<ResponseReader> reader_;  // for a response with a new head
  std::uint64_t left_bytes_ = 0;            // of the content after a known head
  bool is_in_content_ = false;
  bool can_be_reused_ = true;
  std::uint16_t status_ = 0;
  Error error_{Errc::None};
};

}  // namespace skua::h1
