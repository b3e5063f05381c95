// SPDX-License-Identifier: MIT
// Measures the cost per byte of a message: unmasking and UTF-8 validation.
#include "ws/frame.hpp"

#include <benchmark/benchmark.h>

#include <string>

#include "ws/utf8.hpp"

namespace skua::ws {
namespace {

void unmask(benchmark::State& state) {
  std::string bytes(static_cast<std::size_t>(state.range(0)), 'a');
  for (auto _ : state) {
    mask(bytes, {'k', '\xe5', '\0', 'y'}, 1);
    benchmark::DoNotOptimize(bytes.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

void check_utf8(benchmark::State& state, std::string_view unit) {
  std::string text;
  while (text.size() < 16384) text += unit;
  for (auto _ : state) {
    Utf8Validator validator;
    benchmark::DoNotOptimize(validator.feed(text));
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}

BENCHMARK(unmask)->Arg(16)->Arg(125)->Arg(1024)->Arg(16384)->Arg(1 << 20);
BENCHMARK_CAPTURE(check_utf8, ascii, "all of these are one byte each; ");
BENCHMARK_CAPTURE(check_utf8, german,
                  "Stra\xc3\x9f"
                  "en f\xc3\xbchren \xc3\xbc"
                  "berall hin. ");
BENCHMARK_CAPTURE(check_utf8, chinese, "\xe4\xbd\xa0\xe5\xa5\xbd\xe4\xb8\x96\xe7\x95\x8c");

}  // namespace
}  // namespace skua::ws
