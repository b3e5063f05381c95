-- SPDX-License-Identifier: MIT
-- For wrk: builds requests as the environment says, and prints the result as one line of JSON.
-- Requests are built once, so that the generator's own cost stays small: a single one is sent without calling Lua.
--   BENCH_PIPELINE N     sends N copies at a time
--   BENCH_ROUTES N       requests /r0/items/42 to /r(N-1)/items/42 in turn
--   BENCH_HEAD_BYTES N   pads the head to N bytes, by fields of 8000
--   BENCH_BODY_BYTES N   posts a body of N bytes

local function number(name) return tonumber(os.getenv(name) or "0") end

local depth, routes = math.max(number("BENCH_PIPELINE"), 1), number("BENCH_ROUTES")
local head_bytes, body_bytes = number("BENCH_HEAD_BYTES"), number("BENCH_BODY_BYTES")
local prepared, turn, padding = {}, 0, 0

local function build(format, path)
  local method, body = "GET", nil
  if body_bytes > 0 then
    method, body = "POST", string.rep("b", body_bytes)
    wrk.headers["Content-Type"] = "application/octet-stream"
  end
  while head_bytes > 0 do
    local missing = head_bytes - (#format(method, path, nil, body) - body_bytes)
    if missing == 0 then break end
    local name = "X-Padding-" .. string.char(97 + padding)
    padding = padding + 1
    -- The last one takes the rest, so that none is left that is shorter than a field line.
    wrk.headers[name] = string.rep("p", (missing > 9000 and 8000 or missing) - #name - 4)
  end
  return string.rep(format(method, path, nil, body), depth)
end

function init(args)
  local format = wrk.format
  for i = 0, routes - 1 do prepared[i] = build(format, "/r" .. i .. "/items/42") end
  wrk.format = function() return routes > 0 and prepared[0] or build(format, wrk.path) end
end

if routes > 0 then
  function request()
    turn = (turn + 1) % routes
    return prepared[turn]
  end
end

function done(summary, latency, requests)
  local e = summary.errors
  io.write(string.format(
    '{"requests": %d, "seconds": %.6f, "bytes": %d, "p50_us": %d, "p99_us": %d, "max_us": %d, ' ..
    '"errors": {"connect": %d, "read": %d, "write": %d, "timeout": %d, "status": %d}}\n',
    summary.requests, summary.duration / 1e6, summary.bytes,
    latency:percentile(50), latency:percentile(99), latency.max,
    e.connect, e.read, e.write, e.timeout, e.status))
end
