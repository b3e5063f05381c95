// A server of Node's http or http2 module for client_servers_test.py: client_peer.mjs http|http2 [CERTIFICATE KEY]
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import http from "node:http";
import http2 from "node:http2";
import https from "node:https";
import zlib from "node:zlib";

const [kind, certificate, key] = process.argv.slice(2);
const text = "A sentence that is said again and again. ".repeat(1000);

const codings = {
  "gzip": zlib.gzipSync, "x-gzip": zlib.gzipSync, "deflate": zlib.deflateSync, "br": zlib.brotliCompressSync,
  "identity": (bytes) => bytes, "raw": zlib.deflateRawSync,
};

// `a,b`: first a, then b, as in Content-Encoding. "raw" is deflate without the zlib wrapper, as some servers send it.
function coded(request, response) {
  const names = new URL(request.url, "http://x").searchParams.get("by").split(",");
  const bytes = names.reduce((content, name) => codings[name](content), Buffer.from(text));
  response.writeHead(200, { "Content-Encoding": names.join(", ").replace("raw", "deflate"), "Content-Length": bytes.length });
  response.end(bytes);
}

function chunked(_, response) {
  const next = (i) => {
    response.write(`${String(i).repeat(i * i * 100)}\n`);
    if (i < 9) setImmediate(next, i + 1); else response.end();
  };
  next(0);
}

function trailers(_, response) {
  if (kind === "http") response.setHeader("Trailer", "X-Checksum");
  response.write("with trailers\n");
  response.addTrailers({ "X-Checksum": "abc" });
  response.end();
}

function early(_, response) {
  for (let i = 0; i < 3; i++) response.writeEarlyHints({ link: `</style-${i}.css>; rel=preload` });
  response.end("late\n");
}

function echo(request, response) {
  const sum = createHash("sha256");
  let size = 0;
  request.on("data", (piece) => { sum.update(piece); size += piece.length; });
  request.on("end", () => {
    response.setHeader("Content-Type", "application/json");
    response.end(JSON.stringify({
      method: request.method, size, sha256: sum.digest("hex"), length: Number(request.headers["content-length"] ?? -1),
      path: request.url, type: request.headers["content-type"] ?? "", protocol: `HTTP/${request.httpVersion}`,
    }));
  });
}

function truncated(request, response) {
  if (request.url.includes("by=length")) response.setHeader("Content-Length", 100);
  const broken = http2.constants.NGHTTP2_INTERNAL_ERROR;
  response.write("the first part", () => response.stream ? response.stream.close(broken) : response.socket.destroy());
}

function garbage(_, response) {
  response.socket.end("no HTTP at all\r\n\r\n");
}

function slow(request, response) {
  if (request.url.includes("where=content")) response.write("the first part");
}

function redirect(request, response) {
  const status = new URL(request.url, "http://x").searchParams.get("status");
  response.writeHead(Number(status), { Location: `../echo?from=${status}` });
  response.end();
}

function refused(_, response) {
  if (kind === "http") response.setHeader("Connection", "close");
  response.writeHead(403);
  response.end("no body wanted");
}

// No content, despite its Content-Length. RFC 9110 §8.6
function unchanged(_, response) {
  response.writeHead(304, { ETag: '"x"', "Content-Length": 1234 });
  response.end();
}

// RFC 9113 §7
function old(request, response) {
  if (response.stream) return response.stream.close(http2.constants.NGHTTP2_HTTP_1_1_REQUIRED);
  echo(request, response);
}

const handlers = { coded, chunked, trailers, early, echo, truncated, garbage, slow, redirect, refused, unchanged, old };
const handle = (request, response) => (handlers[request.url.split(/[/?]/)[1]] ?? refused)(request, response);

function server() {
  const files = certificate && { cert: readFileSync(certificate), key: readFileSync(key), allowHTTP1: true };
  if (kind === "http2") return files ? http2.createSecureServer(files, handle) : http2.createServer(handle);
  return files ? https.createServer(files, handle) : http.createServer(handle);
}

const listening = server();
listening.on("checkContinue", (request, response) => { response.writeContinue(); handle(request, response); });
listening.listen(0, "127.0.0.1", () =>
  console.log(`listening on http${certificate ? "s" : ""}://localhost:${listening.address().port}`));
process.on("SIGTERM", () => process.exit(0));
