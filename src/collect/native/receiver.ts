import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { closeSync, openSync, renameSync, unlinkSync, writeSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { join } from "node:path";
import { step } from "#kit/fault-points.ts";
import { type BodyFacts, bodyFileName, MAX_BODY_BYTES, UNFINISHED } from "./body-file.ts";
import { garbageCollector } from "./garbage.ts";
import type { Receiver } from "./receiver-file.ts";
import { Room, type RoomLimits } from "./room.ts";

/** What the receiver needs besides requests. */
interface ReceiverDeps {
  /** Where bodies are written; must exist. */
  readonly dir: string;
  /** What is allowed now; asked for each request. `undefined`: nothing. */
  readonly allowed: () => Receiver | undefined;
  /** A request with the token has come: an agent is at work. */
  readonly onUse: () => void;
  /** A body was kept. */
  readonly onKept: () => void;
  /** Another start of this program has found the port taken, and has asked whether it is by this one. */
  readonly onAsked: () => void;
}

/** Bodies that no drain has read yet. Beyond these limits agents are asked to wait. */
export const NATIVE_LIMITS = { files: 10_000, bytes: 512_000_000 } as const;

/**
 * The server for agents' own telemetry. Like the hook it parses nothing: one request becomes one file, which is complete when 200 is
 * answered. Agents are the only clients: a request with another host's name or from a web page is refused, and so is one without the
 * token. The caller lets it listen, on 127.0.0.1 only.
 */
export function receiverServer(deps: ReceiverDeps, limits: RoomLimits = NATIVE_LIMITS): Server {
  const room = new Room(deps.dir, limits);
  const dispose = garbageCollector();
  const server = createServer({ maxHeaderSize: 8 << 10, keepAliveTimeout: KEPT_MS }, (request, response) => {
    request.on("data", (chunk: Buffer) => dispose(chunk.length));
    answer(request, response, deps, room);
  });
  server.on("connection", () => dispose(CONNECTION_BYTES));
  server.maxConnections = MAX_CONNECTIONS;
  server.headersTimeout = HEADERS_MS;
  server.requestTimeout = REQUEST_MS;
  server.maxHeadersCount = 64;
  return server;
}

/** The header with which a start of this program asks who has the port. */
export const CHALLENGE = "openhook-challenge";

/** The answer that only a program with the token can give, and that does not tell the token. */
export const proofOf = (token: string, challenge: string): string =>
  createHmac("sha256", token).update(`receiver ${challenge}`).digest("hex");

// --- internal ---

/** Seven agents with three signals need fewer; a buffer of 64 KiB each is what they cost. */
const MAX_CONNECTIONS = 48;
/** About what Node needs for a connection and its first request. */
const CONNECTION_BYTES = 16 << 10;
const HEADERS_MS = 5_000;
/** For a whole request: on this machine the largest takes less than a second. */
const REQUEST_MS = 30_000;
/** Agents export every five to sixty seconds over one connection. */
const KEPT_MS = 75_000;
const RETRY_AFTER_S = 30;
/** Of a refused request so much is read that its sender sees the answer. */
const READ_OF_REFUSED = 1 << 20;

/** Agents without a setting for headers have the token in their address: `/<source>[/<token>]/v1/<signal>`. */
const PATH = /^\/([a-z0-9-]+)(?:\/([\w-]{43}))?\/v1\/(traces|logs|metrics)$/;

const CONTENT_TYPES: ReadonlyMap<string, BodyFacts["encoding"]> = new Map([
  ["application/json", "json"],
  ["application/x-protobuf", "proto"],
]);

function answer(request: IncomingMessage, response: ServerResponse, deps: ReceiverDeps, room: Room): void {
  request.on("error", () => {});
  const receiver = deps.allowed();
  const checked = check(request, receiver);
  if ("proof" in checked) {
    deps.onAsked();
    response.end(checked.proof);
  } else if ("status" in checked) refuse(request, response, checked);
  else {
    deps.onUse();
    // Nobody reads the metrics of agents, unless they are forwarded
    const isKept = checked.signal !== "metrics" || receiver?.forwards.includes(checked.source) === true;
    receive(request, response, checked, isKept ? new BodyFile(deps.dir, checked, room) : undefined, deps.onKept);
  }
}

/** @param file absent: the body is read and forgotten */
function receive(
  request: IncomingMessage,
  response: ServerResponse,
  facts: BodyFacts,
  file: BodyFile | undefined,
  onKept: () => void,
): void {
  let bytes = 0;
  const end = (refusal: Refusal | undefined): void => {
    request.off("data", onData).off("end", onEnd).off("close", onClose);
    if (refusal === undefined) accept(response, facts);
    else {
      file?.discard();
      refuse(request, response, refusal);
    }
  };
  const onData = (chunk: Buffer): void => {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) end(TOO_LARGE);
    else if (file?.add(chunk) === false) end(NO_ROOM);
  };
  const onEnd = (): void => {
    const isWritten = file !== undefined && bytes > 0;
    const isKept = isWritten && file.keep();
    if (isKept) onKept();
    end(isWritten && !isKept ? NO_ROOM : undefined);
  };
  const onClose = (): void => file?.discard();
  if (Number(request.headers["content-length"]) > MAX_BODY_BYTES) end(TOO_LARGE);
  else request.on("data", onData).on("end", onEnd).on("close", onClose);
}

interface Refusal {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
}

const TOO_LARGE: Refusal = { status: 413 };
const NO_ROOM: Refusal = { status: 503, headers: { "retry-after": String(RETRY_AFTER_S) } };

function check(
  request: IncomingMessage,
  receiver: Receiver | undefined,
): BodyFacts | Refusal | { readonly proof: string } {
  const { headers, method, url = "" } = request;
  // A page in a browser sends an origin; a name that leads here by a trick is not ours
  if (receiver === undefined || !isOwnHost(request, receiver) || headers.origin !== undefined) return { status: 403 };
  const challenge = headers[CHALLENGE];
  if (typeof challenge === "string") return { proof: proofOf(receiver.token, challenge) };
  const [, source, inPath, signal] = PATH.exec(url) ?? [];
  const given = inPath === undefined ? headers.authorization : `Bearer ${inPath}`;
  if (!isSame(given, `Bearer ${receiver.token}`)) return { status: 401 };
  if (source === undefined || !receiver.agents.includes(source)) return { status: 404 };
  if (method !== "POST") return { status: 405, headers: { allow: "POST" } };
  const encoding = CONTENT_TYPES.get((headers["content-type"] ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "");
  const packed = (headers["content-encoding"] ?? "identity").trim().toLowerCase();
  if (encoding === undefined || (packed !== "gzip" && packed !== "identity")) return { status: 415 };
  return { source, signal: signal as BodyFacts["signal"], encoding, isGzip: packed === "gzip" };
}

const isOwnHost = ({ headers }: IncomingMessage, { port }: Receiver): boolean =>
  headers.host === `127.0.0.1:${port}` || headers.host === `localhost:${port}`;

/** Takes the same time whatever is given, and says nothing of the length. */
function isSame(given: string | undefined, expected: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given ?? ""), digest(expected));
}

/** The empty answer of OTLP: everything was accepted. */
function accept(response: ServerResponse, { encoding }: BodyFacts): void {
  const body = encoding === "json" ? "{}" : "";
  response.writeHead(200, {
    "content-type": encoding === "json" ? "application/json" : "application/x-protobuf",
    "content-length": body.length,
  });
  response.end(body);
}

function refuse(request: IncomingMessage, response: ServerResponse, { status, headers }: Refusal): void {
  response.writeHead(status, { ...headers, connection: "close", "content-length": 0 }).end();
  let bytes = 0;
  request.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > READ_OF_REFUSED) request.destroy();
  });
}

/** One body on its way to the disk. Written synchronously: one piece at a time is in memory, however many agents send. */
class BodyFile {
  readonly #dir: string;
  readonly #facts: BodyFacts;
  readonly #room: Room;
  readonly #path: string;
  #fd: number | undefined;

  constructor(dir: string, facts: BodyFacts, room: Room) {
    this.#dir = dir;
    this.#facts = facts;
    this.#room = room;
    this.#path = join(dir, `${UNFINISHED}${randomBytes(8).toString("hex")}`);
  }

  /** @returns false: there is no room; the file is gone */
  add(chunk: Buffer): boolean {
    try {
      if (!this.#room.take(this.#fd === undefined ? 1 : 0, chunk.length)) throw new Error("the folder is full");
      this.#fd ??= step("native.create", () => openSync(this.#path, "wx", 0o600));
      const fd = this.#fd;
      step("native.write", () => writeWhole(fd, chunk));
      return true;
    } catch {
      this.discard();
      return false;
    }
  }

  /** Gives the file its final name. Like the hook it does not wait for the disk. @returns false: there is no room; the file is gone */
  keep(): boolean {
    try {
      this.#close();
      step("native.keep", () => renameSync(this.#path, join(this.#dir, bodyFileName(this.#facts, Date.now()))));
      return true;
    } catch {
      this.discard();
      return false;
    }
  }

  discard(): void {
    try {
      this.#close();
      unlinkSync(this.#path);
    } catch {
      // It was not created, or has its final name
    }
  }

  #close(): void {
    const fd = this.#fd;
    this.#fd = undefined;
    if (fd !== undefined) closeSync(fd);
  }
}

/** A full disk can take a part. */
function writeWhole(fd: number, chunk: Buffer): void {
  for (let at = 0; at < chunk.length; ) at += writeSync(fd, chunk, at);
}
