#!/usr/bin/env python3
"""The parser of the OpenTelemetry Collector takes the spans of example-tracing, with what they say.

Usage: otlp_test.py EXAMPLE      exits with 77 (skipped) without Go
"""
import json
import pathlib
import subprocess
import sys
import time
import urllib.error
import urllib.request

import installed
from asked import equal
from served import SKIP, TIMEOUT, Program

HERE = pathlib.Path(__file__).resolve().parent
CALLER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
UNSAMPLED = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"


def ask(url: str, **fields: str) -> int:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(urllib.request.Request(url, headers=fields), timeout=TIMEOUT) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def check(url: str, collector: subprocess.Popen) -> None:
    equal(ask(url + "orders/penguin", traceparent=UNSAMPLED), 404)  # sends nothing
    before = time.time_ns()
    equal(ask(url + "orders/gull?a=%22", traceparent=CALLER, User_Agent='a "b" \u00e9'.encode().decode("latin-1")), 200)
    after = time.time_ns()
    spans = [json.loads(collector.stdout.readline()) for _ in range(2)]
    inner, outer = sorted(spans, key=lambda span: span["name"], reverse=True)
    equal([outer["name"], inner["name"]], ["GET /orders/{item}", "GET /stock/{item}"])
    for span in spans:
        equal([span["service"], span["kind"], span["trace"]], ["shop", "Server", CALLER.split("-")[1]])
        assert before - 10**9 < span["start"] <= span["end"] < after + 10**9, (before, span, after)
    equal(outer["parent"], CALLER.split("-")[2])
    equal(inner["parent"], outer["span"])
    equal(inner["attributes"]["shop.item"], "gull")
    equal(outer["attributes"]["http.response.status_code"], 200)
    equal(outer["attributes"]["http.route"], "/orders/{item}")
    equal(ask(url + "stock/penguin", traceparent=CALLER), 404)
    equal(json.loads(collector.stdout.readline())["attributes"]["http.response.status_code"], 404)


def main(example: str) -> int:
    program = installed.go(installed.cache_of(example), HERE / "otlp_collector.go", "go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp@v1.71.0")
    if program is None:
        return SKIP
    collector = subprocess.Popen([program], stdout=subprocess.PIPE, text=True)
    try:
        target = collector.stdout.readline().removeprefix("listening on ").strip() + "/v1/traces"
        with Program(example, "0", target) as url:
            check(url if url.endswith("/") else url + "/", collector)
    finally:
        collector.kill()
        collector.wait(TIMEOUT)
    print("3 spans arrived as they should")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
