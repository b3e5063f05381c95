// A peer of the benchmarks: Node's http and http2, with the router find-my-way, `send` for files, and `ws`.
// Usage: node server.mjs --port P [--threads N] [--tls-cert FILE --tls-key FILE] [--files FOLDER]
import cluster from "node:cluster";
import { readFileSync } from "node:fs";
import http from "node:http";
import http2 from "node:http2";
import { parseArgs } from "node:util";
import findMyWay from "find-my-way";
import send from "send";
import { WebSocketServer } from "ws";

const { values: told } = parseArgs({
  options: {
    port: { type: "string" },
    threads: { type: "string", default: "1" },
    "tls-cert": { type: "string" },
    "tls-key": { type: "string" },
    files: { type: "string" },
  },
});

const BODY_LIMIT = 16 * 1024 * 1024;
const MESSAGE_LIMIT = 1024 * 1024;
const HEAD_LIMIT = 128 * 1024; // of http2 it includes 32 bytes a field

const plainFields = { "Content-Type": "text/plain", "Content-Length": 13 };
const jsonFields = {
  "Content-Type": "application/json",
  "Content-Length": 27,
  "Cache-Control": "no-cache, private",
  ETag: '"33a64df551425fcc55e4d42a1"',
  Vary: "Accept-Encoding",
  "X-Request-Id": "9f86d081884c7d659a2feaa0",
  "Access-Control-Allow-Origin": "https://example.com",
};

function answer(response, text, type = "text/plain") {
  response.writeHead(200, { "Content-Type": type, "Content-Length": Buffer.byteLength(text) });
  response.end(text);
}

function echo(request, response) {
  const pieces = [];
  let size = 0;
  request.on("data", (piece) => {
    size += piece.length;
    if (size > BODY_LIMIT) return request.destroy();
    pieces.push(piece);
  });
  request.on("end", () => answer(response, pieces.length === 1 ? pieces[0] : Buffer.concat(pieces, size), "application/octet-stream"));
}

function upload(request, response) {
  let size = 0;
  request.on("data", (piece) => (size += piece.length));
  request.on("end", () => answer(response, String(size)));
}

const router = findMyWay();
for (let number = 0; number < 200; number++) {
  router.on("GET", `/r${number}/items/:id`, (request, response, { id }) => answer(response, id));
}
router.on("POST", "/echo", echo);
router.on("POST", "/upload", upload);
if (told.files) {
  router.on("GET", "/files/*", (request, response, parameters) => send(request, parameters["*"], { root: told.files }).pipe(response));
}

function handle(request, response) {
  switch (request.url) {
    case "/":
      response.writeHead(200, plainFields);
      return response.end("Hello, World!");
    case "/json":
      response.writeHead(200, jsonFields);
      return response.end('{"message":"Hello, World!"}');
    default:
      return router.lookup(request, response);
  }
}

const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: MESSAGE_LIMIT, clientTracking: false });
const subscribers = new Set();

function publish(data, isBinary) {
  for (const one of subscribers) one.send(data, { binary: isBinary });
}

function upgraded(socket, path) {
  socket.on("error", () => {});
  if (path === "/subscribe") {
    subscribers.add(socket);
    socket.on("close", () => subscribers.delete(socket));
  } else {
    socket.on("message", path === "/publish" ? publish : (data, isBinary) => socket.send(data, { binary: isBinary }));
  }
}

function create() {
  const limits = { maxHeaderSize: HEAD_LIMIT, keepAliveTimeout: 0, requestTimeout: 0, headersTimeout: 0 };
  if (!told["tls-cert"]) return http.createServer(limits, handle);
  return http2.createSecureServer(
    {
      ...limits,
      allowHTTP1: true,
      cert: readFileSync(told["tls-cert"]),
      key: readFileSync(told["tls-key"]),
      settings: { maxHeaderListSize: HEAD_LIMIT },
    },
    handle,
  );
}

process.on("SIGTERM", () => process.exit(0)); // workers end with the first process
if (cluster.isPrimary && Number(told.threads) > 1) {
  for (let count = Number(told.threads); count > 0; count--) cluster.fork();
} else {
  const server = create();
  server.on("upgrade", (request, socket, head) => {
    sockets.handleUpgrade(request, socket, head, (accepted) => upgraded(accepted, request.url));
  });
  server.listen({ host: "127.0.0.1", port: Number(told.port), backlog: 4096 });
}
