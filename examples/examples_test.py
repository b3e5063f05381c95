#!/usr/bin/env python3
"""Runs one example as a newcomer would: starts it, sends it requests, ends it with SIGTERM.

Usage: examples_test.py NAME PROGRAM        NAME is one of the functions below or in socket_examples.py, PROGRAM the built example
Every example prints `listening on ...` first and exits with 0.
"""
import base64
import gzip
import hashlib
import http.client
import http.server
import json
import os
import pathlib
import queue
import select
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import urllib.parse

sys.dont_write_bytecode = True

import socket_examples  # noqa: E402
from harness import SKIPPED, TIMEOUT, Example, equal  # noqa: E402

SITE = pathlib.Path(__file__).resolve().parent / "site"


class WebSocket:
    """A client for small JSON messages, each in one text frame."""

    def __init__(self, port: int, path: str):
        self.connection = socket.create_connection(("127.0.0.1", port), TIMEOUT)
        self.connection.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nOrigin: http://127.0.0.1:{port}\r\nUpgrade: websocket\r\n"
                                "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".encode())
        self.input = self.connection.makefile("rb")
        head = b"".join(iter(self.input.readline, b"\r\n"))
        assert head.startswith(b"HTTP/1.1 101 ") and b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" in head, head

    def send(self, message):
        text = json.dumps(message).encode()
        assert len(text) < 126
        mask = b"mask"
        self.connection.sendall(bytes([0x81, 0x80 | len(text)]) + mask + bytes(c ^ mask[i % 4] for i, c in enumerate(text)))

    def receive(self):
        kind, size = self.input.read(2)
        equal(kind, 0x81)
        if size == 126:
            size = int.from_bytes(self.input.read(2), "big")
        return json.loads(self.input.read(size))

    def close(self):
        self.input.close()
        self.connection.close()


def hello(program: str):
    example = Example(program)
    equal(example.get("/")[:2], (200, "Hello, world!"))
    equal(example.get("/none")[0], 404)
    equal(example.ask("POST", "/")[2]["allow"], "GET, HEAD, OPTIONS")
    example.end()


def routes(program: str):
    example = Example(program)
    equal(example.get("/users/7")[:2], (200, "Ada"))
    equal([example.get(target)[0] for target in ("/users/9", "/users/x", "/users/99999999999")], [404] * 3)
    equal(example.get("/echo/a/b%20c")[1], "a/b c")
    equal(example.get("/search?q=sea+birds")[1], "you searched for sea birds")
    equal(example.ask("POST", "/shout", "hey")[:2], (201, "hey!"))
    equal(example.ask("POST", "/shout")[:2], (400, "say something"))
    status, _, fields = example.ask("POST", "/name/Ada")
    equal((status, fields["location"]), (303, "/whoami"))
    equal(example.get("/whoami", Cookie=fields["set-cookie"].split(";")[0])[1], "Ada")
    equal(example.get("/whoami")[1], "a stranger")
    equal([example.get(target)[0] for target in ("/admin", "/admin/none")], [403] * 2)
    equal(json.loads(example.get("/admin", X_Key="open sesame")[1]), {"secret": 42})
    equal(example.get("/none")[2]["x-content-type-options"], "nosniff")
    example.end()


def files(program: str):
    example = Example(program, str(SITE))
    status, text, fields = example.get("/")
    equal((status, text), (200, (SITE / "index.html").read_text()))
    equal(example.get("/", If_None_Match=fields["etag"])[:2], (304, ""))
    equal(example.get("/assets/style.css")[2]["cache-control"], "max-age=3600")
    equal([json.loads(example.get("/api/calls")[1])["calls"] for _ in range(2)], [1, 2])
    assert "planets.json" in example.get("/files/")[1]
    example.end()
    missing = subprocess.run([program, "0", "/nowhere"], capture_output=True, text=True, timeout=TIMEOUT)
    equal(missing.returncode, 1)
    assert "/nowhere" in missing.stderr


def reverse_proxy(program: str):
    class Upstream(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            content = f"{self.path} for {self.headers['X-Forwarded-For']}".encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_):
            pass

    upstream = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
    threading.Thread(target=upstream.serve_forever, daemon=True).start()
    example = Example(program, f"http://127.0.0.1:{upstream.server_port}/")
    equal(example.get("/api/users?x=1")[0], 401)
    equal(example.get("/api/users?x=1", Authorization="Bearer gull")[:2], (200, "/users?x=1 for 127.0.0.1"))
    equal(example.get("/")[:2], (200, "The API is below /api.\n"))
    upstream.shutdown()
    upstream.server_close()
    equal(example.get("/api/users", Authorization="Bearer gull")[0], 502)
    assert "GET /api/users: could not connect" in example.end()[1]


def tracing(program: str):
    batches = queue.SimpleQueue()

    class Collector(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            batches.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    collector = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    threading.Thread(target=collector.serve_forever, daemon=True).start()
    example = Example(program, f"http://127.0.0.1:{collector.server_port}/v1/traces")
    status, text, fields = example.get("/orders/gull")
    equal((status, text), (200, "ordered one of 3 left\n"))
    assert fields["server-timing"].startswith("total;dur="), fields
    spans = []
    while len(spans) < 2:
        for resource in batches.get(timeout=TIMEOUT)["resourceSpans"]:
            for scope in resource["scopeSpans"]:
                spans += scope["spans"]
    inner, outer = sorted(spans, key=lambda span: span["name"], reverse=True)
    equal([inner["name"], outer["name"]], ["GET /stock/{item}", "GET /orders/{item}"])
    equal([inner["traceId"], inner["parentSpanId"]], [outer["traceId"], outer["spanId"]])
    status, text, fields = example.get("/orders/penguin")
    equal((status, fields["content-type"]), (404, "application/problem+json"))
    equal(json.loads(text), {"type": "about:blank", "title": "Not Found", "status": 404})
    example.end()
    collector.shutdown()


def embedded_files(program: str):
    example = Example(program)
    for path in sorted(SITE.rglob("*")):
        if not path.is_file():
            continue
        url = "/" + urllib.parse.quote(path.relative_to(SITE).as_posix())
        status, content, fields = example.ask_bytes("GET", url)
        equal((status, content), (200, path.read_bytes()))
        digest = hashlib.sha256(content).hexdigest()[:32]
        equal(fields["etag"], f'"{digest}"')
        status, content, fields = example.ask_bytes("GET", url, Accept_Encoding="gzip")
        coding = fields.get("content-encoding", "identity")
        equal((coding, gzip.decompress(content) if coding == "gzip" else content), (coding, path.read_bytes()))
        if path.suffix in {".html", ".css", ".svg", ".json"} and path.stat().st_size > 1000:
            equal(coding, "gzip")
    equal(example.get("/")[1], (SITE / "index.html").read_text())
    equal(example.get("/none")[0], 404)
    example.end()


def multicore(program: str):
    example = Example(program, "2")
    for _ in range(10):
        equal(example.get("/")[1], "Hello from one of many!")
    assert int(example.get("/thread")[1]) >= 0
    out, _ = example.end()
    assert "11 connections, 11 requests" in out, out


def prepared(program: str):
    example = Example(program)
    equal(example.get("/static")[1], "a page that lives in the program\n")
    status, text, fields = example.get("/prepared")
    equal((status, text, fields["content-type"]), (200, "<h1>prepared</h1>\n", "text/html; charset=utf-8"))
    assert "date" in fields
    equal([example.get(target)[1] for target in ("/hello", "/hello?lang=de")], ["hello\n", "hallo\n"])
    equal(example.get("/shared")[1], "x" * 1_000_000)
    equal(example.get("/owned")[1], "y" * 10_000)
    example.end()


def visitor_counter(program: str):
    example = Example(program)
    cookie = None
    for visit in (1, 2, 3):
        _, text, fields = example.get("/", **({"Cookie": cookie} if cookie else {}))
        assert f"your visit {visit}," in text, text
        cookie, *attributes = fields["set-cookie"].split("; ")
        assert "HttpOnly" in attributes and "SameSite=Lax" in attributes, attributes
    assert "your visit 1," in example.get("/", Cookie="visits=many")[1]
    assert "visit 5 overall" in example.get("/")[1]
    assert "Max-Age=0" in example.ask("POST", "/forget")[2]["set-cookie"]
    example.end()


def testing(program: str):
    example = Example(program)
    equal(example.get("/add/20/22")[1], "42")
    equal(example.ask("POST", "/length", "four")[1], "4")
    equal(example.get("/agent", User_Agent="python")[1], "python")
    example.end()


def operations(program: str):
    example = Example(program, "0")
    admin = urllib.parse.urlsplit(example.process.stdout.readline().removeprefix("admin on ").strip())

    def ask(path: str) -> tuple[int, str]:
        connection = http.client.HTTPConnection(admin.hostname, admin.port, timeout=TIMEOUT)
        connection.request("GET", path)
        response = connection.getresponse()
        content = response.read().decode()
        connection.close()
        return response.status, content

    equal(ask("/readyz"), (200, "[+] server: ok\n[+] stock: ok\nready\n"))
    for number in range(1, 4):
        equal(example.ask("POST", "/orders/tea?token=secret")[1], f"order {number}: tea\n")
    equal(ask("/readyz"), (503, "[+] server: ok\n[-] stock: sold out\nnot ready\n"))
    equal(ask("/livez"), (200, "ok\n"))
    metrics = ask("/metrics")[1]
    assert "\nshop_orders_total 3\n" in metrics, metrics
    assert "/orders/{item}" in ask("/")[1]
    lines, _ = example.end()
    equal([json.loads(line)["target"] for line in lines.splitlines()], ["/orders/tea?token=***"] * 3)


def graceful(program: str):
    example = Example(program)
    equal(example.get("/")[1], "Hello, and good bye.\n")
    equal(example.get("/broken")[0], 500)
    # SIGTERM arrives while half of the request is missing; it is still answered.
    with socket.create_connection(("127.0.0.1", example.port), TIMEOUT) as slow:
        slow.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n")
        equal(slow.recv(100), b"HTTP/1.1 100 Continue\r\n\r\n")
        example.process.send_signal(signal.SIGTERM)
        slow.sendall(b"body")
        answer = b"".join(iter(lambda: slow.recv(65536), b""))
    assert answer.startswith(b"HTTP/1.1 200 OK\r\n") and answer.endswith(b"\r\n\r\nHello, and good bye.\n"), answer
    _, errors = example.process.communicate(timeout=TIMEOUT)
    equal(example.process.returncode, 0)
    assert "/ 200 21" in errors, errors
    assert "server: a handler failed on GET /broken: a bug of mine" in errors, errors
    assert errors.endswith("drained after 3 responses\n"), errors


def hand_over(program: str):
    example = Example(program)
    equal(example.get("/")[1], f"Hello from process {example.process.pid}\n")
    example.process.send_signal(signal.SIGUSR2)
    errors = example.process.stderr.readline()
    assert errors.startswith("handed over to process "), errors
    successor = int(errors.split()[-1])
    equal(example.process.wait(TIMEOUT), 0)
    equal(example.get("/")[1], f"Hello from process {successor}\n")
    descriptor = os.pidfd_open(successor)
    os.kill(successor, signal.SIGTERM)
    assert select.select([descriptor], [], [], TIMEOUT)[0], "it does not end"
    os.close(descriptor)
    example.running.remove(example.process)


def auth(program: str):
    example = Example(program)
    status, _, fields = example.get("/basic")
    equal((status, fields["www-authenticate"]), (401, 'Basic realm="example", charset="UTF-8"'))
    ada = base64.b64encode(b"ada:open sesame").decode()
    equal(example.get("/basic/x", Authorization=f"Basic {ada}")[:2], (200, "Hello, ada!\n"))
    equal(example.get("/basic/x", Authorization="Basic YTpi")[0], 401)
    equal(example.get("/api/", Authorization="Bearer abc123")[1], "Hello, robot!\n")
    equal(example.get("/api/", Authorization="Bearer abc")[0], 401)
    status, _, fields = example.get("/digest")  # 404 if skua was built without OpenSSL
    assert status == 404 or fields["www-authenticate"].startswith('Digest realm="example", '), fields
    example.end()


def middleware(program: str):
    example = Example(program)
    status, text, fields = example.get("/page", Origin="https://gulls.example")
    equal((status, fields["access-control-allow-origin"]), (200, "https://gulls.example"))
    equal((fields["vary"], "content-encoding" in fields), ("Origin, Accept-Encoding", False))
    equal((len(fields["x-request-id"]), fields["x-content-type-options"]), (32, "nosniff"))
    assert "access-control-allow-origin" not in example.get("/page", Origin="https://evil.example")[2]
    coded = example.ask("HEAD", "/page", Accept_Encoding="gzip")[2]
    equal((coded["content-encoding"], int(coded["content-length"]) < len(text) // 2), ("gzip", True))
    status, _, fields = example.ask("OPTIONS", "/page", Origin="https://gulls.example",
                                    Access_Control_Request_Method="GET")
    equal((status, fields["access-control-allow-methods"]), (204, "GET, HEAD, POST"))
    equal(example.get("/gull", Accept="text/html;q=0.5, application/json")[1], '{"name":"Larus"}')
    equal(example.get("/gull")[1], "<b>Larus</b>")
    equal([example.ask("POST", "/login")[0] for _ in range(5)], [401] * 3 + [429] * 2)
    assert 0 < int(example.ask("POST", "/login")[2]["retry-after"]) <= 20
    example.end()


def coroutine(program: str):
    example = Example(program)
    status, text, fields = example.get("/wait/5")
    equal((status, text), (200, "waited for 5 ms\n"))
    assert fields["server-timing"].startswith("total;dur="), fields
    equal(example.get("/divisors/28")[1], "56\n")
    equal(example.get("/sum")[1], "42\n")
    example.end()


def download(program: str):
    example = Example(program)
    status, text, fields = example.get("/bytes/100000")
    equal((status, text, fields["content-length"]), (200, "0" * 100000, "100000"))
    with socket.create_connection(("127.0.0.1", example.port), TIMEOUT) as connection:
        connection.sendall(b"GET /lines/2 HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n")
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    assert b"7\r\nline 1\n\r\n0\r\nX-Lines: 2\r\n\r\n" in answer, answer
    example.end()


def sse(program: str):
    example = Example(program)
    assert "EventSource" in example.get("/")[1]
    with socket.create_connection(("127.0.0.1", example.port), TIMEOUT) as connection:
        connection.sendall(b"GET /ticks HTTP/1.0\r\nLast-Event-ID: 41\r\n\r\n")
        answer = b""
        while b"tick 43" not in answer:
            piece = connection.recv(65536)
            assert piece, answer
            answer += piece
    assert b"event: tick\nid: 42\nretry: 1000\ndata: tick 42\n\n" in answer, answer
    example.end()


def mjpeg(program: str):
    example = Example(program)
    equal(example.get("/")[1], '<img src="/camera">')
    with socket.create_connection(("127.0.0.1", example.port), TIMEOUT) as connection:
        connection.sendall(b"GET /camera HTTP/1.0\r\n\r\n")
        answer = b""
        while answer.count(b"Content-Type: image/bmp\r\nContent-Length: 57654\r\n\r\nBM") < 3:
            piece = connection.recv(65536)
            assert piece, answer[:500]
            answer += piece
    example.end()


def forms(program: str):
    example = Example(program)
    assert '<form method="post"' in example.get("/")[1]
    urlencoded = {"Content_Type": "application/x-www-form-urlencoded"}
    equal(example.ask("POST", "/greet", "name=Ada+%3Cb%3E&tag=new&tag=shy", **urlencoded)[1],
          "<p>Hello, Ada &#60;b&#62;! (new) (shy)</p>\n")
    part = '--x\r\nContent-Disposition: form-data; name="name"\r\n\r\nGrace\r\n--x--\r\n'
    multipart = {"Content_Type": "multipart/form-data; boundary=x"}
    equal(example.ask("POST", "/greet", part, **multipart)[1], "<p>Hello, Grace!</p>\n")
    equal(example.ask("POST", "/greet", part[:30], **multipart)[0], 400)
    equal(example.ask("POST", "/greet", "{}", Content_Type="application/json")[0], 415)
    example.end()


def upload(program: str):
    with tempfile.TemporaryDirectory() as folder:
        example = Example(program, folder)
        part = '--x\r\nContent-Disposition: form-data; name="file"; filename="../a.txt"\r\n\r\nsome text\r\n--x--\r\n'
        multipart = {"Content_Type": "multipart/form-data; boundary=x"}
        equal(example.ask("POST", "/upload", part, **multipart)[:2], (200, "a.txt: 9 bytes, done"))
        equal(pathlib.Path(folder, "a.txt").read_text(), "some text")
        equal(example.ask("POST", "/upload", part[:-10], **multipart)[0], 400)
        example.end()
        equal([path.name for path in pathlib.Path(folder).iterdir()], ["a.txt"])


def responder(program: str):
    example = Example(program)
    equal(example.ask("POST", "/sum/ada", b"\x01\x02\x03")[:2], (200, "ada: 3 bytes, sum 6\n"))
    equal(example.ask("POST", "/sum/nobody", b"\x01")[0], 403)
    _, errors = example.end()
    equal(errors, "ada is done\nnobody is done\n")


class SecureExample(Example):
    """An example that serves TLS; its certificate is not verified."""

    def __init__(self, *command: str):
        self.start(list(command), "https")
        self.plain_port = urllib.parse.urlsplit(self.process.stdout.readline().split()[-1]).port
        self.fingerprint = self.process.stdout.readline().split()[-1]

    def certificate(self) -> bytes:
        context = ssl._create_unverified_context()
        with socket.create_connection(("127.0.0.1", self.port), TIMEOUT) as plain:
            with context.wrap_socket(plain) as secure:
                return secure.getpeercert(binary_form=True)

    def connection(self):
        context = ssl._create_unverified_context()
        return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=TIMEOUT, context=context)


def https(program: str):
    example = SecureExample(program, "0")
    status, text, fields = example.get("/")
    equal((status, text), (200, "Hello over HTTP/1.1, and nobody can listen in.\n"))
    assert "strict-transport-security" not in fields, fields
    certificate = example.certificate()
    equal(example.fingerprint.replace(":", "").lower(), hashlib.sha256(certificate).hexdigest())
    if shutil.which("curl"):
        command = ["curl", "-sSk", "--http2", "--noproxy", "*", f"https://127.0.0.1:{example.port}/"]
        told = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT).stdout
        assert told.startswith("Hello over HTTP/"), told
    plain = http.client.HTTPConnection("127.0.0.1", example.plain_port, timeout=TIMEOUT)
    plain.request("GET", "/a%20b?c=d")
    redirect = plain.getresponse()
    equal((redirect.status, redirect.getheader("location")), (308, f"https://127.0.0.1:{example.port}/a%20b?c=d"))
    example.end()
    missing = subprocess.run([program, "/none.pem", "/none.key", "0"], capture_output=True, text=True, timeout=TIMEOUT)
    equal(missing.returncode, 1)
    assert "'/none.pem' cannot be read: No such file" in missing.stderr, missing.stderr


def late_answer(program: str):
    example = Example(program)
    for name in ("rain", "wind"):
        equal(example.get(f"/report/{name}")[:2], (200, f"the report on {name}\n"))
    example.end()


def chat(program: str):
    page = SITE.parent / "chat"
    example = Example(program, str(page))
    equal(example.get("/")[1], (page / "index.html").read_text())
    ada, ben, eve = (WebSocket(example.port, "/chat") for _ in range(3))
    ada.send({"type": "join", "room": "lobby", "name": "Ada"})
    start = ada.receive()
    equal(start["type"], "start")
    equal(ada.receive(), {"type": "people", "names": ["Ada"]})
    eve.send({"type": "join", "room": "elsewhere", "name": "Eve"})
    ada.send({"type": "say", "text": "h\u00e4 \"?\""})
    said = ada.receive()
    equal((said["type"], said["name"], said["text"]), ("said", "Ada", "h\u00e4 \"?\""))
    ben.send({"type": "join", "room": "lobby", "name": "Ben"})
    equal([ben.receive() for _ in range(3)], [start, said, {"type": "people", "names": ["Ada", "Ben"]}])
    equal(ada.receive(), {"type": "people", "names": ["Ada", "Ben"]})
    ben.send({"type": "dance"})
    equal(ben.receive()["type"], "error")
    ben.close()
    equal(ada.receive(), {"type": "people", "names": ["Ada"]})
    ada.send({"type": "say", "text": "still here"})
    equal(ada.receive()["text"], "still here")
    # Ben comes back, and gets what he missed.
    ben = WebSocket(example.port, "/chat")
    ben.send({"type": "join", "room": "lobby", "name": "Ben", "after": said["id"]})
    equal(ben.receive(), {"type": "start", "id": said["id"]})
    missed = ben.receive()
    equal((missed["type"], missed["text"]), ("said", "still here"))
    equal([eve.receive()["type"], eve.receive()], ["start", {"type": "people", "names": ["Eve"]}])
    for one in (ada, ben):
        one.close()
    eve.close()
    example.end()


def ws_client(program: str):
    room = Example(str(pathlib.Path(program).with_name("example-chat")), str(SITE.parent / "chat"))
    said = [json.dumps({"type": "join", "room": "lobby", "name": "Ada"}), json.dumps({"type": "say", "text": "hello"})]
    done = subprocess.run([program, f"ws://127.0.0.1:{room.port}/chat", "3", *said], capture_output=True, text=True, timeout=TIMEOUT)
    equal((done.returncode, done.stderr), (0, ""))
    *messages, closed = done.stdout.splitlines()
    equal([json.loads(message)["type"] for message in messages], ["start", "people", "said"])
    equal(closed, "closed: 1000 ")
    done = subprocess.run([program, f"ws://127.0.0.1:{room.port}/", "1"], capture_output=True, text=True, timeout=TIMEOUT)
    equal(done.returncode, 1)
    assert "the server answered 200 OK" in done.stderr, done.stderr
    room.end()


def client(program: str):
    server = Example(str(pathlib.Path(program).with_name("example-hello")))
    _, page, _ = server.get("/")
    url = f"http://127.0.0.1:{server.port}/"
    done = subprocess.run([program, url], capture_output=True, text=True, timeout=TIMEOUT)
    equal((done.returncode, done.stdout, done.stderr), (0, f"200 {url}\n{page}", ""))
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "page"
        done = subprocess.run([program, url, str(file)], capture_output=True, text=True, timeout=TIMEOUT)
        equal((done.returncode, file.read_text()), (0, page))
        done = subprocess.run([program, f"{url}missing", str(file)], capture_output=True, text=True, timeout=TIMEOUT)
        equal((done.returncode, file.read_text()), (1, page))
        assert "the server answered 404" in done.stderr, done.stderr
    server.end()


def redis(program: str):
    if not shutil.which("redis-server"):
        print("skipped: redis-server is not installed")
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory() as folder:
        place = f"{folder}/redis.sock"
        command = ["redis-server", "--port", "0", "--unixsocket", place, "--save", "", "--dir", folder]
        server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        Example.running.append(server)
        one, two = Example(program, f"unix:{place}"), Example(program, f"unix:{place}")
        status, text, _ = one.get("/a")
        while status == 503:  # the server is not there yet
            status, text, _ = one.get("/a")
        equal(text, "1 visits of /a\n")
        events = two.connection()
        events.request("GET", "/live")
        stream = events.getresponse()
        while not select.select([stream.fp], [], [], 0.05)[0]:  # until it is subscribed
            equal(two.get("/b")[0], 200)
        equal(stream.readline(), b"event: visit\n")
        equal(stream.readline(), b"data: /b\n")
        equal(two.get("/a")[1], "2 visits of /a\n")
        events.close()
        for example in (one, two):
            example.end()
        server.terminate()
        equal(server.wait(TIMEOUT), 0)


def redis_chat(program: str):
    if not shutil.which("redis-server"):
        print("skipped: redis-server is not installed")
        sys.exit(SKIPPED)
    page = SITE.parent / "chat"
    environment = {**os.environ, "CHAT_FOLDER": str(page)}
    with tempfile.TemporaryDirectory() as folder:
        place = f"{folder}/redis.sock"
        command = ["redis-server", "--port", "0", "--unixsocket", place, "--save", "", "--dir", folder]
        server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        Example.running.append(server)
        one, two = (Example(program, f"unix:{place}", environment=environment) for _ in range(2))
        ada, ben = WebSocket(one.port, "/chat"), WebSocket(two.port, "/chat")
        ada.send({"type": "join", "room": "lobby", "name": "Ada"})
        equal(sorted(ada.receive()["type"] for _ in range(2)), ["people", "start"])
        ben.send({"type": "join", "room": "lobby", "name": "Ben"})
        equal(sorted(ben.receive()["type"] for _ in range(2)), ["people", "start"])
        equal(ada.receive(), {"type": "people", "names": ["Ada", "Ben"]})
        ben.send({"type": "say", "text": "hello"})
        said = ada.receive()
        equal((said["type"], said["name"], said["text"]), ("said", "Ben", "hello"))
        equal(ben.receive(), said)
        message = json.dumps({"name": "Eve", "text": "by post"})
        status, answer, _ = one.ask("POST", "/rooms/lobby", message, Idempotency_Key="7")
        equal(status, 200)
        equal(two.ask("POST", "/rooms/lobby", message, Idempotency_Key="7")[:2], (200, answer))
        polled = json.loads(two.get(f"/rooms/lobby/poll?after={said['id']}")[1])
        equal(([one["id"] for one in polled["messages"]], polled["gap"]), ([json.loads(answer)["id"]], False))
        equal(json.loads(one.get("/rooms/lobby/people")[1]), ["Ada", "Ben"])
        equal(json.loads(one.get("/status")[1]), {"node": "chat", "bus": "ok"})
        ada.close()
        ben.close()
        for example in (one, two):
            example.end()
        server.terminate()
        equal(server.wait(TIMEOUT), 0)
    alone = Example(program, environment=environment)
    equal(json.loads(alone.get("/status")[1]), {"node": "chat", "bus": "ok"})
    equal(alone.ask("POST", "/rooms/lobby", message)[0], 200)
    alone.end()


if __name__ == "__main__":
    tests = {f.__name__: f for f in (hello, routes, files, reverse_proxy, embedded_files, multicore, prepared, visitor_counter, testing, graceful, operations, tracing, hand_over,
                                     auth, middleware, coroutine, download, sse, mjpeg, forms, upload, responder,
                                     late_answer, https, chat, ws_client, client, redis, redis_chat, *socket_examples.TESTS)}
    if len(sys.argv) != 3 or sys.argv[1] not in tests:
        sys.exit(f"usage: examples_test.py NAME PROGRAM, with one of {', '.join(tests)}")
    try:
        tests[sys.argv[1]](sys.argv[2])
        left = [process.args for process in Example.running if process.poll() is None]
        assert not left, f"{sys.argv[1]} does not end {left[0]}"
    finally:
        for process in Example.running:
            process.kill()
            process.wait(TIMEOUT)
