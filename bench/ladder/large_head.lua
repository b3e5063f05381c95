-- wrk: a head of nearly 64 KiB. 65 000 bytes leave room for the fields that wrk adds.
wrk.headers["X-Padding"] = string.rep("x", 65000)
