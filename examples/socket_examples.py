"""The examples that speak protocols of their own, for examples_test.py; each prints `listening on ADDRESS` first."""
import shutil
import socket
import struct
import subprocess

from harness import TIMEOUT, Example, equal


class SocketExample(Example):
    """An example that speaks no HTTP."""

    def __init__(self, program: str, *arguments: str):
        self.process = subprocess.Popen([program, *arguments], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)
        self.running.append(self.process)
        words = self.process.stdout.readline().split()
        equal(words[:2], ["listening", "on"])
        self.address = words[2]
        self.port = int(self.address.rsplit(":", 1)[1])


    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), TIMEOUT)

    def end(self) -> tuple[str, str]:
        said = super().end()
        self.process.stdin.close()
        return said


def receive(connection: socket.socket, size: int) -> bytes:
    """Returns the next `size` bytes, or what comes before the end."""
    data = b""
    while len(data) < size:
        piece = connection.recv(size - len(data))
        if not piece:
            break
        data += piece
    return data


def send_until_full(connection: socket.socket) -> int:
    """Sends until nothing more is taken for a moment; returns the number of bytes."""
    sent = 0
    connection.settimeout(0.5)
    try:
        while sent < 100_000_000:
            sent += connection.send(b"x" * 65536)
    except TimeoutError:
        pass
    connection.settimeout(TIMEOUT)
    return sent


def receive_to_the_end(connection: socket.socket) -> bytes:
    """Returns all bytes before the end, which may be a reset."""
    data = b""
    try:
        while piece := connection.recv(65536):
            data += piece
    except ConnectionError:
        pass
    return data


def echoes(example: SocketExample) -> str:
    """Checks a TCP echo, ends it, and returns what it said on standard error."""
    connections = [example.connect() for _ in range(2)]
    for connection in connections:
        connection.sendall(b"x" * 100_000)
    for connection in connections:
        equal(receive(connection, 100_000), b"x" * 100_000)
    connections[0].sendall(b"last words")
    connections[0].shutdown(socket.SHUT_WR)
    equal(receive_to_the_end(connections[0]), b"last words")
    with example.connect() as deaf:
        assert send_until_full(deaf) < 100_000_000
    errors = example.end()[1]  # the second connection is still open
    for connection in connections:
        connection.close()
    return errors


def tcp_echo(program: str):
    echoes(SocketExample(program, "--port", "0"))
    taken = SocketExample(program, "0")
    refused = subprocess.run([program, str(taken.port)], capture_output=True, text=True, timeout=TIMEOUT)
    equal(refused.returncode, 1)
    assert f"could not listen on 127.0.0.1:{taken.port}: the address is in use" in refused.stderr, refused.stderr
    taken.end()


def tcp_echo_coroutine(program: str):
    equal(echoes(SocketExample(program, "--port", "0")), "")


def tcp_echo_server(program: str):
    errors = echoes(SocketExample(program, "--port", "0"))
    assert ": 100010 bytes, " in errors, errors


def port_forwarder(program: str):
    with socket.create_server(("127.0.0.1", 0)) as target:
        target.settimeout(TIMEOUT)
        example = SocketExample(program, f"127.0.0.1:{target.getsockname()[1]}", "0")

        def forwarded() -> tuple[socket.socket, socket.socket]:
            client = example.connect()
            server = target.accept()[0]
            server.settimeout(TIMEOUT)
            return client, server

        client, server = forwarded()
        with client, server:
            for one, other in ((client, server), (server, client)):
                one.sendall(b"hello")
                equal(receive(other, 5), b"hello")
            client.shutdown(socket.SHUT_WR)  # one end is passed on, and the other direction stays
            equal(server.recv(1), b"")
            server.sendall(b"y" * 1_000_000)
            server.close()
            equal(receive_to_the_end(client), b"y" * 1_000_000)
        client, server = forwarded()
        with client, server:  # a receiver that takes nothing stops the sender
            sent = send_until_full(client)
            assert sent < 100_000_000, sent
            client.shutdown(socket.SHUT_WR)
            equal(len(receive_to_the_end(server)), sent)
        client, server = forwarded()
        with client:  # a reset ends both sides
            server.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            server.close()
            equal(receive_to_the_end(client), b"")
    with example.connect() as client:  # nobody listens at the target any more
        equal(receive_to_the_end(client), b"")
    assert ": the connection was refused" in example.end()[1]


def embedded_loop(program: str):
    example = SocketExample(program, "--port", "0")
    peers = [example.connect() for _ in range(2)]
    for number, peer in enumerate(peers):
        peer.sendall(f"peer {number} is here\n".encode())
        equal(example.process.stdout.readline(), f"peer {number} is here\n")
    example.process.stdin.write("hello, peers\n")
    example.process.stdin.flush()
    for peer in peers:
        equal(receive(peer, 13), b"hello, peers\n")
        peer.close()
    example.end()
    example = SocketExample(program, "0")
    equal(example.process.communicate(timeout=TIMEOUT)[1], "")  # the end of its input ends it
    example.running.remove(example.process)
    equal(example.process.returncode, 0)


def key_value(program: str):
    example = SocketExample(program, "--port", "0")

    def ask(*words: str) -> bytes:
        return f"*{len(words)}\r\n".encode() + b"".join(f"${len(word)}\r\n{word}\r\n".encode() for word in words)

    conversation = (
        (b"PING\r\n", b"+PONG\r\n"), (ask("ping", "hi"), b"$2\r\nhi\r\n"), (ask("ECHO", "a\r\nb"), b"$4\r\na\r\nb\r\n"),
        (ask("GET", "a"), b"$-1\r\n"), (ask("SET", "a", ""), b"+OK\r\n"), (ask("GET", "a"), b"$0\r\n\r\n"),
        (b"set n  9223372036854775806\n", b"+OK\r\n"), (ask("INCR", "n"), b":9223372036854775807\r\n"),
        (ask("INCR", "n"), b"-ERR value is not an integer or out of range\r\n"), (ask("INCR", "new"), b":1\r\n"),
        (ask("EXISTS", "a", "n", "none", "a"), b":3\r\n"), (ask("DEL", "a", "a", "n"), b":2\r\n"), (ask("EXISTS", "a"), b":0\r\n"),
        (ask("COMMAND", "DOCS"), b"*0\r\n"), (ask("CONFIG", "GET", "save"), b"*2\r\n$4\r\nsave\r\n$0\r\n\r\n"),
        (ask("GET"), b"-ERR unknown command, or wrong number of arguments\r\n"), (b"\r\n*0\r\nPING\r\n", b"+PONG\r\n"))
    requests, answers = (b"".join(part) for part in zip(*conversation))
    with example.connect() as client:
        for request, answer in conversation:
            client.sendall(request)
            equal(receive(client, len(answer)), answer)
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        client.sendall(ask("DEL", "new"))
        equal(receive(client, 4), b":1\r\n")
        for byte in requests:  # in the smallest pieces
            client.sendall(bytes([byte]))
        client.sendall(ask("DEL", "new") + requests + ask("SET", "large", "v" * 500_000))  # and all at once
        equal(receive(client, 2 * len(answers) + 9), answers + b":1\r\n" + answers + b"+OK\r\n")
        for _ in range(400):  # far more than buffers hold: the requests wait for the answers to be taken
            client.sendall(ask("GET", "large"))
        value = b"$500000\r\n" + b"v" * 500_000 + b"\r\n"
        for _ in range(400):
            assert receive(client, len(value)) == value
        client.sendall(b"PING\r\n")
        client.shutdown(socket.SHUT_WR)
        equal(receive_to_the_end(client), b"+PONG\r\n")
    for hostile in (b"*1\r\n$99999999999999999999\r\n", b"*1000000000\r\n", b"*1\r\n$-1\r\n", b"*1\r\n:1\r\n", b"*x\r\n",
                    b"*1\r\n$4\r\nPINGPONG\r\n", b"x" * 1_000_000):
        with example.connect() as client:
            client.sendall(b"PING\r\n" + hostile)
            answer = receive_to_the_end(client)
            assert answer.startswith(b"+PONG\r\n-ERR Protocol error: "), (hostile[:30], answer)
    drive_by_redis(example)
    equal(example.end(), ("", ""))


def drive_by_redis(example: SocketExample):
    """Drives the store by the tools of Redis, if they are installed."""
    def run(*command: str) -> str:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
        equal(done.returncode, 0)
        return done.stdout

    port = str(example.port)
    if not shutil.which("redis-cli") or not shutil.which("redis-benchmark"):
        return print("skipped: redis-cli, redis-benchmark (Debian: redis-tools)")
    for command, answer in (("set k 41", "OK"), ("incr k", "42"), ("get k", "42"), ("del k none", "1"), ("get k", "")):
        equal(run("redis-cli", "-p", port, *command.split()).strip(), answer)
    for depth in ("1", "16"):
        told = run("redis-benchmark", "-p", port, "-t", "ping,set,get,incr", "-n", "1000", "-P", depth, "--csv")
        assert all(f'"{name}",' in told for name in ("PING_INLINE", "PING_MBULK", "SET", "GET", "INCR")), told
    return None


class Guest:
    """A client of line_chat."""

    def __init__(self, example: SocketExample, name: str):
        self.connection = example.connect()
        self.lines = self.connection.makefile("rb")
        self.say(name)
        equal(self.hear(), f"{name} has joined")

    def say(self, text: str):
        self.connection.sendall(text.encode() + b"\r\n")

    def hear(self) -> str:
        return self.lines.readline().decode().rstrip("\n")

    def close(self):
        self.lines.close()
        self.connection.close()


def line_chat(program: str):
    example = SocketExample(program, "--port", "0")
    ada = Guest(example, "Ada")
    ben = Guest(example, "Ben")
    equal(ada.hear(), "Ben has joined")
    for piece in (b"any ", b"gulls\x1b?\nyes", b"\n"):  # lines in pieces, two at once; no escapes for terminals
        ben.connection.sendall(piece)
    for guest in (ada, ben):
        equal([guest.hear() for _ in range(2)], ["Ben: any gulls?", "Ben: yes"])
    with example.connect() as double:
        double.sendall(b"Ada\n\n")
        equal(receive(double, 42), b"another name, please\n" * 2)
        double.sendall(b"x" * 1_000_000)  # without an end
        equal(receive_to_the_end(double), b"")
    ben.connection.shutdown(socket.SHUT_WR)
    equal(ben.hear(), "")
    ben.close()
    equal(ada.hear(), "Ben has left")

    deaf = Guest(example, "Eve")
    equal(ada.hear(), "Eve has joined")
    for _ in range(100_000):  # what waits for her is bounded
        ada.say("x" * 1000)
        if ada.hear() == "Eve has left":
            break
    else:
        raise AssertionError("a guest who reads nothing may stay")
    deaf.close()
    ada.close()
    equal(example.end(), ("", ""))


def udp_echo(program: str):
    example = SocketExample(program, "--port", "0")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as peer:
        peer.settimeout(TIMEOUT)
        for datagram in (b"hello", b"", b"x" * 60_000):
            peer.sendto(datagram, ("127.0.0.1", example.port))
            equal(peer.recvfrom(65536)[0], datagram)
    example.end()


def multicast_chat(program: str):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("", 0))
        group = f"239.255.0.71:{free.getsockname()[1]}"
    members = [SocketExample(program, group, str(socket.if_nametoindex("lo"))) for _ in range(2)]
    members[0].process.stdin.write("any gulls?\n")
    members[0].process.stdin.flush()
    for member in members:
        assert member.process.stdout.readline().endswith(": any gulls?\n")
    for member in members:  # the end of standard input ends it
        out, errors = member.process.communicate(timeout=TIMEOUT)
        member.running.remove(member.process)
        equal((out, errors, member.process.returncode), ("", "", 0))


TESTS = (tcp_echo, tcp_echo_coroutine, tcp_echo_server, port_forwarder, embedded_loop, key_value, line_chat, udp_echo, multicast_chat)
