// A peer for bench/websocket using `ws` for Node: an echo, and /subscribe with /publish.
// Usage: NODE_PATH=... node websocket.mjs PORT
import { createRequire } from "node:module";

const { WebSocketServer } = createRequire(import.meta.url)("ws"); // found through NODE_PATH

const subscribers = new Set();

function publish(data, isBinary) {
  for (const one of subscribers) one.send(data, { binary: isBinary });
}

const server = new WebSocketServer({ host: "127.0.0.1", port: Number(process.argv[2]), perMessageDeflate: true });
server.on("connection", (socket, request) => {
  socket.on("error", () => {});
  if (request.url === "/subscribe") {
    subscribers.add(socket);
    socket.on("close", () => subscribers.delete(socket));
  } else {
    socket.on("message", request.url === "/publish" ? publish : (data, isBinary) => socket.send(data, { binary: isBinary }));
  }
});
process.on("SIGTERM", () => process.exit(0));
