-- wrk: a POST with a head of nearly 64 KiB and a body of 10 MiB.
wrk.method = "POST"
wrk.headers["X-Padding"] = string.rep("x", 65000)
wrk.body = string.rep("x", 10 * 1024 * 1024)
