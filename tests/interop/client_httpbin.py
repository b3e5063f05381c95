"""httpbin (PyPI) as a threaded HTTP/1.1 server for client_httpbin_test.py; prints its URL."""
import signal
import sys

from httpbin import app
from werkzeug.serving import WSGIRequestHandler, make_server


class Handler(WSGIRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_request(self, *_):
        pass


signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
server = make_server("127.0.0.1", 0, app, threaded=True, request_handler=Handler)
server.daemon_threads = True
print(f"listening on http://localhost:{server.server_port}", flush=True)
server.serve_forever(0.02)
