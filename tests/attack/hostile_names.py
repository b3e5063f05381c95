#!/usr/bin/env python3
# File names made to inject: markup, line breaks, escape sequences, quotes, bidirectional controls, bytes that are no UTF-8.
# Listings, the access log, error messages and Location show them as text, or not at all.
import html.parser
import json
import os
import pathlib
import re
import tempfile
import urllib.parse

from harness import arguments, check
from serving import Served, for_each_backend, request

SCRIPTS = (b"<script>alert(1)", b"<img src=x onerror=alert(1)>", b'"onmouseover="alert(1)', b"'onclick='alert(1)", b"</title><script>",
           b"</a><a href=javascript:alert(1)>", b"--><script>", b"]]><b>", b"<!--", b"&lt;b&gt;", b"&#60;b&#62;", b"&amp;", b"&", b"&quot;",
           b"javascript:alert(1)", b"data:text,x", b"<svg onload=alert(1)>", b"`onload=alert(1)`", b"</script><script>", b"<base href=x>",
           b"</td></tr>", b"</template>", b"{{7*7}}", b"${7*7}", b"<%= 7 %>", b"=cmd|'x'!A1", b"@import", b"</style>", b"<?php ?>", b"+ADw-script+AD4-")
PATHS = (b"a?b", b"a#b", b"a%2fb", b"a%00b", b"%2e%2e", b"%0d%0aSet-Cookie: a=b", b"a;b", b"a:b", b"http:", b"https:x", b"?sort=size", b"#top",
         b" leading", b"trailing ", b"  ", b"~", b"...", b"-rf", b"--help", b"*", b"$(id)", b"|ls", b"a&b=c", b"a+b", b"a@b", b"[a]", b"{a}",
         b"a,b", b"a=b", b"a'b", b'a"b', b"a\xc2\xa0b", b"CON", b"nul.txt", b"a.", b"index.htm", b"a\xef\xbc\x8fb", b"%", b"%%", b"%zz", b"a%")
CONTROLS = (b"a\r\nSet-Cookie: a=b", b"a\nb", b"a\rb", b"a\tb", b"\x1b[31mred", b"\x1b]0;title\x07", b"a\x08b", b"a\x7fb", b"a\x01b", b"\x1b[2J",
            b"a\x0bb", b"a\x0cb", b"a\\b", b"..\\..\\b")
UNICODE = (b"\xe2\x80\xaegpj.exe", b"\xe2\x81\xa6a\xe2\x81\xa9", b"\xe2\x80\x8fa", b"\xe2\x80\x8b", b"\xef\xbb\xbfa", b"\xe2\x80\xa8a", b"\xe2\x80\xa9a",
           b"\xc2\x85a", b"\xc2\x9b31ma", b"\xef\xbc\x9cscript\xef\xbc\x9e", b"\xf0\x9f\x92\xa9", b"a\xcc\x81" * 60, b"\xc3\xa4", b"a\xcc\x88", b"\xe4\xbd\xa0\xe5\xa5\xbd")
INVALID = (b"\xff", b"a\xfeb", b"\xc0\xaf", b"\xc3", b"\xe2\x82", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xf8\x88\x80\x80\x80", b"\x80", b"a\xbf\"",
           b"\xc3<b>", b"\xe2\x82<script>", b"\xf0\x9f\x92<i>")
LONG = (b"x" * 255, b"<" * 255, b"&" * 255, b'"' * 255, b"%" * 255, b"\xff" * 255, b"\xe2\x80\xae" * 85)
# No name can have a slash.
NAMES = tuple(name.replace(b"/", b"\xe2\x88\x95") for name in SCRIPTS + PATHS + CONTROLS + UNICODE + INVALID + LONG)

# Names with a control character or a backslash, and hidden ones, are neither served nor listed.
SHOWN = [name for name in NAMES if not name.startswith(b".") and not any(byte < 0x20 or byte == 0x7F or byte == 0x5C for byte in name)]


def squeezed(text):
    """Decoders differ in how many U+FFFD they write for bytes that are no UTF-8."""
    return re.sub("\N{REPLACEMENT CHARACTER}+", "\N{REPLACEMENT CHARACTER}", text)


def as_text(name):
    return squeezed(name.decode("utf-8", "replace"))


def as_shown(name):
    """Controls that other characters are hidden or turned round by do not reach the page."""
    return squeezed(re.sub("[\x80-\x9f\u2028-\u202e\u2066-\u2069\ufeff]", "\ufffd", name.decode("utf-8", "replace")))


class Listing(html.parser.HTMLParser):
    """Collects the links of the table, and every kind of element and attribute."""

    def __init__(self):
        super().__init__()
        self.links, self.kinds, self.in_link, self.in_table, self.texts = [], set(), False, False, []

    def handle_starttag(self, tag, attributes):
        self.kinds.add((tag, *(name for name, _ in attributes)))
        self.in_table = self.in_table or tag == "tbody"
        if tag == "a" and self.in_table:
            self.in_link = True
            self.links.append([dict(attributes)["href"], ""])

    def handle_endtag(self, tag):
        self.in_link = self.in_link and tag != "a"
        self.in_table = self.in_table and tag != "tbody"

    def handle_data(self, data):
        if self.in_link:
            self.links[-1][1] += data


def listing(server, target=b"/"):
    answer = server.ask(request(b"GET", target))
    check(answer and answer[0] == 200, f"{target!r}: {answer and answer[0]}")
    parsed = Listing()
    parsed.feed(answer[2].decode())  # strict: the page is UTF-8
    parsed.close()
    return parsed


def check_listings(server, backend, plain_kinds):
    for target in (b"/hostile/", b"/hostile/?sort=-size", b"/hostile/?q=%3Cscript%3E&sort=%22%3E", b"/hostile/?view=gallery"):
        page = listing(server, target)
        check(page.kinds <= plain_kinds, f"{backend}: {target!r} has other elements: {page.kinds - plain_kinds}")
    page = listing(server, b"/hostile/")
    links = {urllib.parse.unquote_to_bytes(href): text for href, text in page.links if href != "../"}
    expected = {name: as_shown(name) for name in SHOWN}
    got = {name.removeprefix(b"./"): squeezed(text) for name, text in links.items()}
    check(got == expected, f"{backend}: the listing differs: {sorted(set(got.items()) ^ set(expected.items()))}")
    for href, _ in page.links:
        check(re.fullmatch(r"[A-Za-z0-9%./~_-]*", href), f"{backend}: {href!r} is not encoded")
        whole = urllib.parse.urljoin("http://localhost/hostile/", href)
        check(whole.startswith("http://localhost/"), f"{backend}: {href!r} leads to {whole}")
    answer = server.ask(request(b"GET", b"/hostile/", b"", b"Accept: application/json"))
    names = sorted(squeezed(entry["name"]) for entry in json.loads(answer[2])["entries"])
    check(names == sorted(map(as_text, SHOWN)), f"{backend}: the JSON listing differs")


def check_fields(backend, name, answer):
    """Every field is printable ASCII, and is one that the server sends."""
    known = {"location", "content-type", "content-length", "date", "connection", "etag", "last-modified", "accept-ranges", "cache-control",
             "x-content-type-options", "vary", "allow", "content-security-policy", "server", "transfer-encoding"}
    status, fields, _ = answer
    for field, value in fields.items():
        check(field in known, f"{backend}: {name!r}: {status} with the field {field}")
        check(re.fullmatch(r"[ -~]*", value), f"{backend}: {name!r}: {field}: {value!r}")


def check_uploads(server, backend, folder):
    for name in NAMES:
        target = b"/new/" + urllib.parse.quote_from_bytes(name, safe="").encode()
        for method, content in ((b"PUT", b"text"), (b"PUT", b"text"), (b"GET", b""), (b"DELETE", b"")):
            answer = server.ask(request(method, target, content))
            check(answer, f"{backend}: no answer to {method} {target!r}")
            check_fields(backend, name, answer)
            if answer[0] == 201:
                path = urllib.parse.unquote_to_bytes(answer[1]["location"])
                check(path == b"/new/" + name, f"{backend}: the location of {name!r} is {answer[1]['location']}")
            if method == b"GET" and answer[0] == 200:
                check(answer[2] == b"text", f"{backend}: {name!r} is another file")
            if answer[0] >= 400:
                check("html" not in answer[1].get("content-type", ""), f"{backend}: {name!r}: an error as HTML")
        quoted = name.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\r", b"%0D").replace(b"\n", b"%0A")
        form = b'--x\r\nContent-Disposition: form-data; name="f"; filename="' + quoted + b'"\r\n\r\nform\r\n--x--\r\n'
        for _ in range(2):  # the second is refused, with the name in the answer
            answer = server.ask(request(b"POST", b"/form/", form, b"Content-Type: multipart/form-data; boundary=x"))
            check(answer, f"{backend}: no answer to a form with {name!r}")
            check_fields(backend, name, answer)
            check("html" not in answer[1].get("content-type", ""), f"{backend}: {name!r}: an error as HTML")
            check(not re.search(rb"[\x00-\x09\x0b-\x1f\x7f]", answer[2]), f"{backend}: {name!r} is answered with {answer[2]!r}")
        folder_target = b"/folders/" + urllib.parse.quote_from_bytes(name, safe="").encode()
        answer = server.ask(request(b"GET", folder_target))
        check_fields(backend, name, answer)
        if answer[0] == 301:
            check(urllib.parse.unquote_to_bytes(answer[1]["location"]) == b"/folders/" + name + b"/", f"{backend}: {answer[1]}")
    stray = [name for name in os.listdir(os.fsencode(folder / "form")) if b"/" in name or name.startswith(b".") or re.search(rb"[\x00-\x1f\x7f]", name)]
    check(not stray, f"{backend}: the form made {stray}")


def check_log(backend, text, raw_count):
    lines = text.splitlines(keepends=True)
    lines = [line for line in lines if not line.startswith((b"listening", b"sandbox"))]
    check(len(lines) >= raw_count, f"{backend}: {len(lines)} lines of the access log for {raw_count} requests")
    for line in lines:
        check(re.fullmatch(rb'127\.0\.0\.1 - [^ ]* \[[^]]*\] "([^"\\\x00-\x1f\x7f-\xff]|\\.)*" \d{3} (\d+|-) "([^"\\\x00-\x1f\x7f-\xff]|\\.)*" '
                           rb'"([^"\\\x00-\x1f\x7f-\xff]|\\.)*"\n', line), f"{backend}: the access log has {line!r}")


def attack(options, backend):
    check(len(NAMES) >= 100 and len(set(NAMES)) == len(NAMES), "the names")
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary, "site")
        for name in ("hostile", "new", "form", "folders", "plain/more"):
            (folder / name).mkdir(parents=True)
        (folder / "plain" / "photo.jpg").write_bytes(b"x")
        (folder / "plain" / "sound.mp3").write_bytes(b"x")
        (folder / "plain" / "film.mp4").write_bytes(b"x")
        for name in NAMES:
            pathlib.Path(os.fsdecode(os.fsencode(folder / "hostile") + b"/" + name)).write_bytes(b"x")
            pathlib.Path(os.fsdecode(os.fsencode(folder / "folders") + b"/" + name)).mkdir()
        with Served(options, folder, "--upload", "--access-log", backend=backend) as server:
            plain_kinds = listing(server, b"/plain/").kinds | listing(server, b"/plain/?view=gallery").kinds | \
                listing(server, b"/plain/?q=o").kinds | listing(server, b"/plain/?sort=-size").kinds | listing(server, b"/folders/").kinds
            check_listings(server, backend, plain_kinds)
            check_uploads(server, backend, folder)
            for number, name in enumerate(NAMES):  # as they are, where fields and targets allow that
                server.ask(b"GET /" + name + b" HTTP/1.1\r\nHost: localhost\r\nUser-Agent: " + name + b"\r\nReferer: " + name +
                           b"\r\nConnection: close\r\n\r\n")
            check(server.is_alive(), f"{backend}: the server is gone")
            check(server.stop() == 0, f"{backend}: the exit code is not 0")
        check_log(backend, server.log, 5 * len(NAMES))
    print(f"{backend}: {len(NAMES)} hostile names", flush=True)


OPTIONS = arguments()
with tempfile.TemporaryDirectory() as empty_folder:
    for_each_backend(OPTIONS, attack, empty_folder)
