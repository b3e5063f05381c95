// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "coding/coding.hpp"
#include "coding/engine.hpp"
#include "skua/error.hpp"

namespace skua::coding {

/// How hard an encoder tries: from `fastest` to `smallest`; `usual` suits what is encoded while
/// somebody waits.
struct Levels {
  int fastest = 1;
  int smallest = 9;
  int usual = 6;
};
Levels levels(Coding coding) noexcept;

/// Encodes in pieces: each call appends what has come out of it.
class Encoder final {
 public:
  /// Ends with: Unsupported where this build does not know the coding, OutOfMemory;
  ///            std::invalid_argument for a level that the coding does not have.
  static Result<Encoder> create(Coding coding, int level);

  /// Takes all of the input; much of it may stay inside until more comes.
  Result<void> push(std::string_view input, std::string& output);
  /// Lets everything out that was pushed so far, so that the peer can decode it.
  Result<void> flush(std::string& output);
  /// Takes the last piece, lets everything out and ends; only restart() may follow.
  Result<void> finish(std::string_view input, std::string& output);
  /// Begins anew, with the memory that is there where the library can do that.
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
