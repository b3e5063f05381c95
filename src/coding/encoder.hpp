// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "coding/coding.hpp"
#include "coding/engine.hpp"
#include "skua/error.hpp"

namespace skua::coding {

/// A coding's compression levels, from `fastest` to `smallest`; `usual` suits encoding on the fly.
struct Levels {
  int fastest = 1;
  int smallest = 9;
  int usual = 6;
};
Levels levels(Coding coding) noexcept;

/// An incremental encoder; each call appends its output.
class Encoder final {
 public:
  /// Ends with: Unsupported if this build lacks the coding, OutOfMemory;
  ///            std::invalid_argument for a level that the coding does not have.
  static Result<Encoder> create(Coding coding, int level);

  /// Consumes all input; the encoder may hold back much of the output.
  Result<void> push(std::string_view input, std::string& output);
  /// Outputs everything pushed so far, so that the peer can decode it.
  Result<void> flush(std::string& output);
  /// Consumes the last piece and ends the output; only restart() may follow.
  Result<void> finish(std::string_view input, std::string& output);
  /// Starts a new encoding, reusing memory if the library can.
  Result<void> restart();

 private:
  Encoder(std::unique_ptr<EncodeEngine> engine, Coding coding, int level) noexcept
      : engine_(std::move(engine)), level_(level), coding_(coding) {}
  Result<void> run(std::string_view input, std::string& output, Drive drive);

  std::unique_ptr<EncodeEngine> engine_;
  int level_;
  Coding coding_;
};

}  // namespace skua::coding
