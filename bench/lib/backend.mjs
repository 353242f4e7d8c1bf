// A backend on loopback that accepts everything and counts spans. A separate process, so that its work is not measured.
import { spawn } from "node:child_process";
import { createServer, get } from "node:http";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { spansIn } from "./spans-in.mjs";

/** @returns its address; `counts()` returns what has arrived so far: requests, spans, bytes on the wire */
export async function startBackend() {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), "--serve"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const port = await new Promise((done, fail) => {
    child.stdout.once("data", (data) => done(Number(data)));
    child.once("exit", () => fail(new Error("the backend did not start")));
  });
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    counts: () => fetchCounts(port),
    stop: () => child.kill(),
  };
}

// --- internal ---

/** Opens a new connection, because a kept one times out between two calls. */
function fetchCounts(port) {
  return new Promise((done, fail) => {
    const request = get({ host: "127.0.0.1", port, path: "/counts", agent: false }, (response) => {
      const pieces = [];
      response.on("data", (piece) => pieces.push(piece));
      response.on("end", () => {
        const text = Buffer.concat(pieces).toString();
        if (response.statusCode === 200) done(JSON.parse(text));
        else fail(new Error(`the backend cannot count the spans: ${text}`));
      });
    });
    request.on("error", fail);
  });
}

const isGzip = (body) => body[0] === 0x1f && body[1] === 0x8b;

function serve() {
  const counts = { requests: 0, spans: 0, bytes: 0 };
  // Decoded on request only, so that a measured drain does not wait for it
  let unread = [];
  const server = createServer((request, response) => {
    if (request.method === "GET") {
      try {
        for (const body of unread) counts.spans += spansIn(isGzip(body) ? gunzipSync(body) : body);
        unread = [];
        response.end(JSON.stringify(counts));
      } catch (error) {
        response.writeHead(500).end(error.message);
      }
      return;
    }
    const pieces = [];
    request.on("data", (piece) => pieces.push(piece));
    request.on("end", () => {
      const body = Buffer.concat(pieces);
      counts.requests++;
      counts.bytes += body.length;
      if (request.url.endsWith("/v1/traces")) unread.push(body);
      response.writeHead(200, { "content-type": "application/x-protobuf" }).end();
    });
  });
  server.listen(0, "127.0.0.1", () => console.log(server.address().port));
}

if (process.argv[1] === fileURLToPath(import.meta.url) && process.argv[2] === "--serve") serve();
