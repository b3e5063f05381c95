// SPDX-License-Identifier: MIT
// Measures head parsing for each instruction set, with the nine fields of a browser and with the
// two lines of a load generator.
#include "h1/head_parser.hpp"

#include <benchmark/benchmark.h>

#include <array>

#include "h1/framing.hpp"

namespace skua::h1 {
namespace {

constexpr std::string_view browser_head =
    "GET /pictures/archive/2019/04/great-skua-over-the-north-sea-3.jpg HTTP/1.1\r\n"
    "Host: www.seabirds.example\r\n"
    "User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0 "
    "Skua/0.1 (with a comment to the usual length)\r\n"
    "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\n"
    "Accept-Language: de,en-us;q=0.7,en;q=0.3\r\n"
    "Accept-Encoding: gzip, deflate\r\n"
    "Accept-Charset: ISO-8859-1,utf-8;q=0.7,*;q=0.7\r\n"
    "Keep-Alive: 115\r\n"
    "Connection: keep-alive\r\n"
    "Cookie: visits=2; last_visit=0123456789; "
    "__a=012345678.0123456789.0123456789.0123456789.0123456789.1; "
    "__z=012345678.0123456789.1.1.source=(referral)|medium=feeds.example.org|"
    "path=/reader/|kind=referral|again=0123456789012345678901234567890\r\n\r\n";

constexpr std::string_view short_head = "GET / HTTP/1.1\r\nHost: localhost:8080\r\n\r\n";

void parse(benchmark::State& state, std::string_view head, scan::Isa isa) {
  if (!scan::is_supported(isa)) return state.SkipWithError("not on this machine");
  std::array<http::FieldLine, 128> storage;
  HeadParser parser(HeadKind::Request, {}, storage, isa);
  for (auto _ : state) {
    parser.reset();
    benchmark::DoNotOptimize(head.data());
    if (parser.parse(head) != ParseStatus::Complete) state.SkipWithError("not a head");
    benchmark::DoNotOptimize(parser.head());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(head.size()));
}

void parse_and_frame(benchmark::State& state, std::string_view head) {
  std::array<http::FieldLine, 128> storage;
  HeadParser parser(HeadKind::Request, {}, storage);
  for (auto _ : state) {
    parser.reset();
    benchmark::DoNotOptimize(head.data());
    if (parser.parse(head) != ParseStatus::Complete) state.SkipWithError("not a head");
    benchmark::DoNotOptimize(frame_request(parser.head()));
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(head.size()));
}

BENCHMARK_CAPTURE(parse, browser_portable, browser_head, scan::Isa::Portable);
BENCHMARK_CAPTURE(parse, browser_sse42, browser_head, scan::Isa::Sse42);
BENCHMARK_CAPTURE(parse, browser_avx2, browser_head, scan::Isa::Avx2);
BENCHMARK_CAPTURE(parse, browser_neon, browser_head, scan::Isa::Neon);
BENCHMARK_CAPTURE(parse, short_portable, short_head, scan::Isa::Portable);
BENCHMARK_CAPTURE(parse, short_sse42, short_head, scan::Isa::Sse42);
BENCHMARK_CAPTURE(parse, short_avx2, short_head, scan::Isa::Avx2);
BENCHMARK_CAPTURE(parse_and_frame, browser, browser_head);
BENCHMARK_CAPTURE(parse_and_frame, short, short_head);

}  // namespace
}  // namespace skua::h1
