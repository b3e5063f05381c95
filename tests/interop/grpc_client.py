"""Calls of all four kinds to grpc_peer.go with grpcio, through whatever is at ADDRESS.

Usage: grpc_client.py ADDRESS      prints `ok`, or fails
"""
import queue
import sys

import grpc

SECONDS = 60
LARGE = bytes(range(256)) * 4096  # 1 MiB
FIELDS = (("x-ask", "a b"), ("x-ask", "c"))


def plain(data: bytes) -> bytes:
    return data


def values(fields, name: str) -> list[str]:
    return [value for known, value in fields if known == name]


def check_fields(call):
    assert values(call.initial_metadata(), "x-header") == ["a b", "c"], call.initial_metadata()
    assert values(call.trailing_metadata(), "x-trailer") == ["a b", "c"], call.trailing_metadata()
    assert call.code() == grpc.StatusCode.OK, call.code()


def failure(call) -> grpc.RpcError:
    try:
        call()
    except grpc.RpcError as error:
        return error
    raise AssertionError("the call did not fail")


def unary(channel):
    ask = channel.unary_unary("/gull.Echo/Unary", plain, plain)
    for message in (b"", b"hello", LARGE):
        answer, call = ask.with_call(message, timeout=SECONDS, metadata=FIELDS)
        assert answer == message, len(answer)
        check_fields(call)
    error = failure(lambda: ask(b"fail", timeout=SECONDS))
    assert error.code() == grpc.StatusCode.NOT_FOUND and error.details() == "no such gull: Möwe", error
    error = failure(lambda: channel.unary_unary("/gull.Echo/None", plain, plain)(b"", timeout=SECONDS))
    assert error.code() == grpc.StatusCode.UNIMPLEMENTED, error


def down(channel):
    call = channel.unary_stream("/gull.Echo/Down", plain, plain)(b"x", timeout=SECONDS, metadata=FIELDS)
    assert list(call) == [f"{i}:x".encode() for i in range(5)]
    check_fields(call)
    call = channel.unary_stream("/gull.Echo/Down", plain, plain)(LARGE, timeout=SECONDS)
    assert [len(piece) for piece in call] == [len(LARGE) + 2] * 5


def up(channel):
    pieces = (b"y" * 1000 for _ in range(5000))
    answer, call = channel.stream_unary("/gull.Echo/Up", plain, plain).with_call(pieces, timeout=SECONDS, metadata=FIELDS)
    assert answer == b"5000 5000000", answer
    check_fields(call)


def both(channel):
    """Each message is sent only once the one before has come back."""
    messages: queue.Queue = queue.Queue()
    call = channel.stream_stream("/gull.Echo/Both", plain, plain)(iter(messages.get, None), timeout=SECONDS, metadata=FIELDS)
    for size in (0, 1, 100, 100_000, 1_000_000):
        messages.put(b"z" * size)
        assert len(next(call)) == size
    messages.put(None)
    assert list(call) == []
    check_fields(call)


def ends(channel):
    """A deadline and a cancellation, which the server prints."""
    error = failure(lambda: channel.unary_unary("/gull.Echo/Unary", plain, plain)(b"wait", timeout=0.2))
    # The server has the same deadline, and resets the call.
    assert error.code() in (grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.CANCELLED), error
    messages: queue.Queue = queue.Queue()
    call = channel.stream_stream("/gull.Echo/Both", plain, plain)(iter(messages.get, None), timeout=SECONDS)
    messages.put(b"first")
    assert next(call) == b"first"
    messages.put(b"wait")
    call.cancel()
    messages.put(None)
    assert call.code() == grpc.StatusCode.CANCELLED, call.code()


def main(address: str) -> int:
    unlimited = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1), ("grpc.enable_http_proxy", 0)]
    with grpc.insecure_channel(address, unlimited) as channel:
        for check in (unary, down, up, both, ends):
            check(channel)
            print(check.__name__, flush=True)
    print("ok")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
