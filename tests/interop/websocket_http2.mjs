// Node's own HTTP/2 client, with handmade WebSocket frames on its streams (RFC 8441), against an echo.
// Usage: node websocket_http2.mjs URL [CERTIFICATE]
import crypto from "node:crypto";
import { once } from "node:events";
import fs from "node:fs";
import http2 from "node:http2";

const [url, certificate] = process.argv.slice(2);
const TEXT = 1, BINARY = 2, CLOSE = 8, PING = 9, PONG = 10;

function check(good, what) {
  if (!good) throw new Error(what);
}

function encode(opcode, payload) {
  const key = crypto.randomBytes(4);
  const size = payload.length;
  const head = Buffer.alloc(size < 126 ? 2 : size < 65536 ? 4 : 10);
  head[0] = 0x80 | opcode;
  head[1] = 0x80 | (size < 126 ? size : size < 65536 ? 126 : 127);
  if (head.length === 4) head.writeUInt16BE(size, 2);
  if (head.length === 10) head.writeBigUInt64BE(BigInt(size), 2);
  return Buffer.concat([head, key, payload.map((byte, i) => byte ^ key[i & 3])]);
}

async function* frames(stream) {
  let bytes = Buffer.alloc(0);
  for await (const piece of stream) {
    bytes = Buffer.concat([bytes, piece]);
    while (bytes.length >= 2) {
      const short = bytes[1];
      check(short < 128, "the server masks");
      const head = short < 126 ? 2 : short === 126 ? 4 : 10;
      if (bytes.length < head) break;
      const size = short < 126 ? short : short === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
      if (bytes.length < head + size) break;
      yield [bytes[0] & 15, bytes.subarray(head, head + size)];
      bytes = bytes.subarray(head + size);
    }
  }
}

function ask(session, path, protocol) {
  return session.request({ ":method": "CONNECT", ":protocol": protocol, ":path": path, "sec-websocket-version": "13" }, { endStream: false });
}

async function talk(session) {
  const stream = ask(session, "/ws", "websocket");
  const closed = once(stream, "close");
  const [head] = await once(stream, "response");
  check(head[":status"] === 200, `the status is ${head[":status"]}`);
  const received = frames(stream);
  const answer = async () => (await received.next()).value;
  for (const size of [0, 1, 125, 126, 65535, 65536, 1 << 20]) {
    for (const [opcode, payload] of [[BINARY, crypto.randomBytes(size)], [TEXT, Buffer.alloc(size, "all work and no play ")]]) {
      stream.write(encode(opcode, payload));
      const [kind, back] = await answer();
      check(kind === opcode && back.equals(payload), `got ${back.length} of ${size} bytes back, of kind ${kind}`);
    }
  }
  stream.write(encode(PING, Buffer.from("beat")));
  const [kind, payload] = await answer();
  check(kind === PONG && String(payload) === "beat", "the pong is not the ping");
  stream.write(encode(CLOSE, Buffer.from([0x03, 0xe8])));
  const [last, reason] = await answer();
  check(last === CLOSE && reason.equals(Buffer.from([0x03, 0xe8])), "the close is not answered");
  check((await received.next()).done, "the server does not end its side");
  stream.end();
  await closed;
  check(stream.rstCode === http2.constants.NGHTTP2_NO_ERROR, `the stream ended with ${stream.rstCode}`);
}

async function refused(session, path, protocol, status) {
  const stream = ask(session, path, protocol);
  const [head] = await once(stream, "response");
  check(head[":status"] === status, `${protocol} at ${path}: ${head[":status"]}`);
  stream.resume();
  await once(stream, "close");
}

try {
  const session = http2.connect(url, certificate ? { ca: fs.readFileSync(certificate) } : {});
  const [settings] = await once(session, "remoteSettings");
  check(settings.enableConnectProtocol, "the server does not offer extended CONNECT");
  await refused(session, "/", "websocket", 501);
  await refused(session, "/ws", "connect-udp", 501);
  for (let round = 0; round < 3; ++round) await Promise.all(Array.from({ length: 10 }, () => talk(session)));
  session.close();
  await once(session, "close");
  console.log("node: ok");
} catch (error) {
  console.error("websocket_http2:", error);
  process.exit(1);
}
