-- SPDX-License-Identifier: MIT
-- For wrk: sends BENCH_PIPELINE copies of the request at a time and prints its counts as one line
-- of JSON. The request is built once: wrk then sends it without calling Lua, which keeps the
-- generator's own cost small.

local depth = tonumber(os.getenv("BENCH_PIPELINE") or "1")

function init(args)
  local format = wrk.format
  wrk.format = function(...) return string.rep(format(...), depth) end
end

function done(summary, latency, requests)
  local e = summary.errors
  io.write(string.format(
    '{"requests": %d, "seconds": %.6f, "bytes": %d, "errors": %d, "p50_us": %d, "p99_us": %d}\n',
    summary.requests, summary.duration / 1e6, summary.bytes,
    e.connect + e.read + e.write + e.status + e.timeout,
    latency:percentile(50), latency:percentile(99)))
end
