"""A peer of the benchmarks: uvicorn with uvloop, httptools and websockets, and a plain ASGI application.

Usage: app.py --port P [--threads N] [--tls-cert FILE --tls-key FILE]; N is the number of worker processes
"""
import argparse
import pathlib

import uvicorn

MESSAGE_BYTES = 1 << 20
BODY_BYTES = 16 << 20
HOUR = 3600

TYPE = (b"content-type", b"text/plain")
PLAIN = {"type": "http.response.start", "status": 200, "headers": [TYPE, (b"content-length", b"13")]}
JSON = {"type": "http.response.start", "status": 200, "headers": [
    (b"content-type", b"application/json"), (b"content-length", b"27"), (b"cache-control", b"no-cache, private"),
    (b"etag", b'"33a64df551425fcc55e4d42a1"'), (b"vary", b"Accept-Encoding"), (b"x-request-id", b"9f86d081884c7d659a2feaa0"),
    (b"access-control-allow-origin", b"https://example.com")]}
PLAIN_BODY = {"type": "http.response.body", "body": b"Hello, World!"}
JSON_BODY = {"type": "http.response.body", "body": b'{"message":"Hello, World!"}'}

subscribers = set()


async def answer(send, body, kind=b"text/plain", status=200):
    length = b"%d" % len(body)
    await send({"type": "http.response.start", "status": status, "headers": [(b"content-type", kind), (b"content-length", length)]})
    await send({"type": "http.response.body", "body": body})


async def pieces(receive):
    """Yields the pieces of a body; ends early if the client does."""
    more = True
    while more:
        event = await receive()
        yield event.get("body", b"")
        more = event.get("more_body", False)


async def echo(receive, send):
    body, size = [], 0
    async for piece in pieces(receive):
        size += len(piece)
        if size > BODY_BYTES:
            return await answer(send, b"", status=413)
        body.append(piece)
    return await answer(send, b"".join(body), b"application/octet-stream")


async def upload(receive, send):
    size = 0
    async for piece in pieces(receive):
        size += len(piece)
    await answer(send, b"%d" % size)


def sent(event):
    """Returns a message to send that equals a received one."""
    if (text := event.get("text")) is not None:
        return {"type": "websocket.send", "text": text}
    return {"type": "websocket.send", "bytes": event["bytes"]}


async def publish(message):
    for one in list(subscribers):
        try:
            await one(message)
        except OSError:  # its client has gone
            subscribers.discard(one)


async def websocket(path, receive, send):
    await receive()
    if path not in ("/ws", "/publish", "/subscribe"):
        return await send({"type": "websocket.close"})
    await send({"type": "websocket.accept"})
    if path == "/subscribe":
        subscribers.add(send)
    try:
        while (event := await receive())["type"] == "websocket.receive":
            if path == "/ws":
                await send(sent(event))
            elif path == "/publish":
                await publish(sent(event))
    finally:
        subscribers.discard(send)


async def app(scope, receive, send):
    path = scope["path"]
    if scope["type"] == "websocket":
        await websocket(path, receive, send)
    elif path == "/":
        await send(PLAIN)
        await send(PLAIN_BODY)
    elif path == "/json":
        await send(JSON)
        await send(JSON_BODY)
    elif path == "/echo":
        await echo(receive, send)
    elif path == "/upload":
        await upload(receive, send)
    else:
        await answer(send, b"not found", status=404)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--tls-cert")
    parser.add_argument("--tls-key")
    told = parser.parse_args()
    uvicorn.run("app:app", app_dir=str(pathlib.Path(__file__).parent), host="127.0.0.1", port=told.port, workers=told.threads,
                loop="uvloop", http="httptools", ws="websockets-sansio", ws_max_size=MESSAGE_BYTES, ws_per_message_deflate=False,
                ws_ping_interval=None, lifespan="off", access_log=False, log_level="warning", backlog=4096,
                timeout_keep_alive=HOUR, ssl_certfile=told.tls_cert, ssl_keyfile=told.tls_key)


if __name__ == "__main__":
    main()
