#!/usr/bin/env python3
"""tuspy and tus-js-client upload to `skua serve --upload`, whole, in pieces, and after the server was killed in between.

Usage: tus_test.py SKUA      exits with 77 (skipped) if neither client can be installed
"""
import json
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

from installed import cache_of, node, python
from served import SKIP, TIMEOUT, Served, checksum, random_file

SIZE = 3_000_000

PYTHON = r'''
import json, os, sys
from tusclient import client
url, source, mode, state = sys.argv[1:]
tus = client.TusClient(url)
if mode == "resume":
    uploader = tus.uploader(source, chunk_size=700_000, url=json.load(open(state)))
    assert uploader.offset == 700_000, uploader.offset
    uploader.upload()
else:
    uploader = tus.uploader(source, chunk_size=700_000, metadata={"filename": mode + ".bin"})
    if mode == "begin":
        uploader.upload_chunk()
        json.dump(uploader.url, open(state, "w"))
    else:
        uploader.upload()
'''

NODE = r'''
const fs = require("fs");
const tus = require("tus-js-client");
const [url, source, mode, state] = process.argv.slice(2);
const options = { endpoint: url, chunkSize: 700000, uploadSize: fs.statSync(source).size, retryDelays: null,
                  metadata: { filename: mode + ".bin" }, onError: (error) => { console.error(String(error)); process.exit(1); },
                  onSuccess: () => process.exit(0) };
if (mode === "resume") options.uploadUrl = JSON.parse(fs.readFileSync(state));
if (mode === "begin") options.onChunkComplete = () => { fs.writeFileSync(state, JSON.stringify(upload.url)); process.exit(0); };
const upload = new tus.Upload(fs.createReadStream(source, { start: 0 }), options);
upload.start();
'''


class Client:
    def __init__(self, command: list[str], environment: dict[str, str]):
        self.command, self.environment = command, environment

    def run(self, *arguments: str):
        done = subprocess.run([*self.command, *arguments], env=self.environment, capture_output=True, text=True, timeout=TIMEOUT)
        assert done.returncode == 0, f"{arguments}: {done.stdout}{done.stderr}"


def clients(program: str, folder: pathlib.Path) -> dict[str, Client]:
    found = {}
    (folder / "client.py").write_text(PYTHON)
    (folder / "client.js").write_text(NODE)
    if environment := python(cache_of(program), "tuspy==1.1.*"):
        found["tuspy"] = Client([sys.executable, str(folder / "client.py")], environment)
    if environment := node(cache_of(program), "tus-js-client@4"):
        found["tus-js-client"] = Client(["node", str(folder / "client.js")], environment)
    return found


def check(client: Client, program: str, folder: pathlib.Path, source: pathlib.Path, expected: int):
    state = folder / "state"
    site = folder / "site"
    site.mkdir()
    served = Served(program, site, "--upload")
    with served as url:
        client.run(url + "/", str(source), "whole", str(state))
        assert checksum(site / "whole.bin") == expected, "the file differs"
        client.run(url + "/", str(source), "begin", str(state))
        assert not (site / "begin.bin").exists()
        place = json.loads(state.read_text())
        served.process.send_signal(signal.SIGTERM)
        served.process.wait(TIMEOUT)
    with Served(program, site, "--upload") as url:
        state.write_text(json.dumps(url + place[place.index("/.skua-uploads/"):]))
        client.run(url + "/", str(source), "resume", str(state))
        assert checksum(site / "begin.bin") == expected, "the resumed file differs"
    assert sorted(path.name for path in site.iterdir()) == ["begin.bin", "whole.bin"], list(site.iterdir())


def over_http2(program: str, folder: pathlib.Path, source: pathlib.Path, expected: int) -> bool:
    """curl sees 104 before the answer to an upload over HTTP/2; reports whether curl can."""
    if not shutil.which("curl") or "HTTP2" not in subprocess.run(["curl", "-V"], capture_output=True, text=True).stdout:
        return False
    with Served(program, folder, "--upload") as url:
        done = subprocess.run(["curl", "-sv", "--noproxy", "*", "--http2-prior-knowledge", "-T", str(source), "-H", "Upload-Complete: ?1", "-H",
                               "Upload-Draft-Interop-Version: 8", url + "/h2.bin"], capture_output=True, text=True, timeout=TIMEOUT)
    heads = [line for line in done.stderr.splitlines() if line.startswith(("< HTTP/2", "< location", "< upload-complete"))]
    assert heads[0].startswith("< HTTP/2 104") and "/.skua-uploads/" in heads[1], heads
    assert heads[2].startswith("< HTTP/2 201") and heads[3] == "< location: /h2.bin" and heads[4] == "< upload-complete: ?1", heads
    assert checksum(folder / "h2.bin") == expected, "the file differs"
    return True


def main(arguments: list[str]) -> int:
    program = str(pathlib.Path(arguments[0]).resolve())
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        found = clients(program, folder)
        if not found:
            print("skipped: neither tuspy nor tus-js-client is available")
            return SKIP
        source = folder / "source.bin"
        expected = random_file(source, SIZE)
        for name, client in found.items():
            own = folder / name
            own.mkdir()
            check(client, program, own, source, expected)
            print(f"{name}: whole, in pieces, and over a restart")
        own = folder / "http2"
        own.mkdir()
        if over_http2(program, own, source, expected):
            print("curl: 104 over HTTP/2")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
