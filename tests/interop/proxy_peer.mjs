// A server that a reverse proxy stands in front of, on Node's own HTTP: POST is answered with its content, in chunks, and a
// trailer with its size; GET with the request's head as JSON.
// Usage: node proxy_peer.mjs
import http from "node:http";

const server = http.createServer((request, response) => {
  if (request.method === "GET") {
    response.setHeader("Content-Type", "application/json");
    return response.end(JSON.stringify({ url: request.url, headers: request.headers }));
  }
  let size = 0;
  response.setHeader("Trailer", "X-Size");
  request.on("data", (piece) => {
    size += piece.length;
    if (!response.write(piece)) request.pause();
  });
  response.on("drain", () => request.resume());
  request.on("end", () => {
    response.addTrailers({ "X-Size": String(size) });
    response.end();
  });
});
server.listen(0, "127.0.0.1", () => console.log(`listening on http://127.0.0.1:${server.address().port}`));
process.on("SIGTERM", () => process.exit(0));
