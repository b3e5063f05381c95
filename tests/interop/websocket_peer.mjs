// Node's WebSocket library (`ws`), as a client that checks echoes, and as an echo server.
// Usage: NODE_PATH=... node websocket_peer.mjs client URL [CERTIFICATE] | serve
import crypto from "node:crypto";
import { once } from "node:events";
import fs from "node:fs";
import { createRequire } from "node:module";

const { WebSocket, WebSocketServer } = createRequire(import.meta.url)("ws"); // found by NODE_PATH
const [mode, url, certificate] = process.argv.slice(2);

function check(good, what) {
  if (!good) throw new Error(what);
}

function messages() {
  const text = (size) => "all work and no play ".repeat(size / 21 + 1).slice(0, size);
  const sizes = [0, 1, 125, 126, 65535, 65536, 1 << 20];
  return ["hello", "Grüße, 世界 🐦", "\0", ...sizes.flatMap((size) => [text(size), crypto.randomBytes(size)])];
}

async function echo(socket, message, fragments) {
  const answered = once(socket, "message");
  const bytes = Buffer.from(message);
  const binary = typeof message !== "string";
  for (let i = 0; i < fragments; ++i) {
    const piece = bytes.subarray(Math.floor(bytes.length * i / fragments), Math.floor(bytes.length * (i + 1) / fragments));
    socket.send(piece, { binary, fin: i === fragments - 1 }); // a fragment may end inside a character
  }
  const [answer, isBinary] = await answered;
  check(isBinary === binary && answer.equals(bytes), `got ${answer.length} of ${bytes.length} bytes back, in ${fragments} frames`);
}

async function client(perMessageDeflate) {
  const socket = new WebSocket(url, { perMessageDeflate, maxPayload: 17 << 20, ca: certificate && fs.readFileSync(certificate) });
  await once(socket, "open");
  const negotiated = socket.extensions.includes("permessage-deflate");
  check(negotiated === Boolean(perMessageDeflate), `the extensions are "${socket.extensions}"`);
  for (const message of messages()) {
    for (const fragments of [1, 3]) await echo(socket, message, fragments);
  }
  for (const payload of ["", "beat", "x".repeat(125)]) {
    const pong = once(socket, "pong");
    socket.ping(payload);
    check(String((await pong)[0]) === payload, "the pong is not the ping");
  }
  const closed = once(socket, "close");
  socket.close(4321, "enough ✓");
  const [code] = await closed;
  check(code === 4321, `closed with ${code}`);
}

function serve() {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0, perMessageDeflate: true, maxPayload: 17 << 20 });
  server.on("listening", () => console.log(`listening on http://127.0.0.1:${server.address().port}`));
  server.on("connection", (socket) => {
    socket.on("message", (data, binary) => socket.send(data, { binary }));
    socket.on("close", (code) => console.log(`closed ${code}`));
    socket.on("error", (error) => console.error(error));
  });
  process.on("SIGTERM", () => process.exit(0));
}

if (mode === "serve") {
  serve();
} else {
  const options = { plain: false, compressed: { threshold: 0 }, "without context": { threshold: 0, serverNoContextTakeover: true, clientNoContextTakeover: true } };
  for (const [name, option] of Object.entries(options)) {
    await client(option).catch((error) => {
      console.error(`node, ${name}:`, error);
      process.exit(1);
    });
  }
}
