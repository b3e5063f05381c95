# Handmade HTTP/2 frames, for peers that do what no library would: RFC 9113 section 4, 6; RFC 7541.
import socket
import struct

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = range(10)
END_STREAM, ACK, END_HEADERS = 1, 1, 4
NO_ERROR, PROTOCOL_ERROR, ENHANCE_YOUR_CALM = 0, 1, 11


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def text(value):
    """A string literal without Huffman coding, up to 4 KiB."""
    size = len(value)
    return (bytes([size]) if size < 127 else bytes([127, (size - 127) & 127 | 128, (size - 127) >> 7])) + value


def literal(name, value):
    """A field without indexing, with a literal name."""
    return b"\x00" + text(name) + text(value)


def indexed(name, value):
    """A literal field that is added to the dynamic table."""
    return b"\x40" + text(name) + text(value)


def head(method=b"GET", path=b"/", *more):
    fields = [(b":method", method), (b":scheme", b"http"), (b":path", path), (b":authority", b"a"), *more]
    return b"".join(literal(name, value) for name, value in fields)


def request(stream, *arguments, flags=END_STREAM | END_HEADERS):
    return frame(HEADERS, flags, stream, head(*arguments))


def setting(identifier, value):
    return struct.pack(">HI", identifier, value)


class Peer:
    """A connection that has sent the preface and can send anything; with `context`, over TLS."""

    def __init__(self, port, settings=b"", timeout=10, context=None):
        self.sock = socket.create_connection(("127.0.0.1", port), timeout=timeout)
        if context is not None:
            self.sock = context.wrap_socket(self.sock)
        self.sock.sendall(PREFACE + frame(SETTINGS, 0, 0, settings))
        self.data = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.sock.close()

    def send(self, data):
        """Reports whether the data could be sent; does not read meanwhile."""
        try:
            self.sock.sendall(data)
            return True
        except OSError:
            return False

    def frame(self):
        """Returns (kind, flags, stream, payload), or None at the end."""
        try:
            while len(self.data) < 9 or len(self.data) < 9 + int.from_bytes(self.data[:3], "big"):
                piece = self.sock.recv(65536)
                if not piece:
                    return None
                self.data += piece
        except ConnectionError:
            return None
        size = int.from_bytes(self.data[:3], "big")
        kind, flags, stream = struct.unpack(">BBI", self.data[3:9])
        payload, self.data = self.data[9:9 + size], self.data[9 + size:]
        return kind, flags, stream, payload

    def goaway(self):
        """Reads to the end; returns the error code of the last GOAWAY, or None without one."""
        code = None
        while (got := self.frame()) is not None:
            if got[0] == GOAWAY:
                code = int.from_bytes(got[3][4:8], "big")
        return code


def is_spoken_at(port):
    with Peer(port, timeout=5) as peer:
        got = peer.frame()
        return got is not None and got[0] == SETTINGS
