// Node's own HTTP/2 client against skua-bench-server's mode `echo`: one request, a large body both ways, many at once.
// Usage: node http2_client.mjs URL [CERTIFICATE]
import http2 from "node:http2";
import fs from "node:fs";
import crypto from "node:crypto";

const [url, certificate] = process.argv.slice(2);
const session = http2.connect(url, certificate ? { ca: fs.readFileSync(certificate) } : {});
session.on("error", (error) => fail(error));

function fail(error) {
  console.error("http2_client:", error);
  process.exit(1);
}

function ask(fields, body) {
  return new Promise((resolve, reject) => {
    const stream = session.request(fields);
    const pieces = [];
    let status = 0;
    stream.on("response", (head) => { status = head[":status"]; });
    stream.on("data", (piece) => pieces.push(piece));
    stream.on("end", () => resolve({ status, body: Buffer.concat(pieces) }));
    stream.on("error", reject);
    stream.end(body);
  });
}

async function echo(body) {
  const answer = await ask({ ":path": "/echo", ":method": "POST" }, body);
  if (answer.status !== 200 || !answer.body.equals(body)) {
    throw new Error(`status ${answer.status}, ${answer.body.length} bytes of ${body.length}`);
  }
}

try {
  const body = crypto.randomBytes(20 << 20);
  await echo(Buffer.from("hello"));
  await echo(body);
  const head = await ask({ ":path": "/", ":method": "HEAD" });
  if (head.status !== 200 || head.body.length !== 0) throw new Error(`HEAD: ${head.status}`);
  for (let round = 0; round < 10; ++round) {
    await Promise.all(Array.from({ length: 50 }, (_, i) => echo(body.subarray(i, i + 1000 + i * 200))));
  }
  console.log("node: ok");
  session.close();
} catch (error) {
  fail(error);
}
