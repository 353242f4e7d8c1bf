import type { Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { startGrpcReceiver, statusBytes } from "../receiver/grpc-receiver.ts";
import type { Reply } from "../receiver/receiver.ts";
import { absent, type Backend, behaving, behavingGrpc, raw, unreachable } from "./backend-server.ts";

/** One kind of backend trouble, and the expected result. */
export interface BackendFault {
  /** As in docs/reliability.md. */
  readonly name: string;
  /** `undefined`: this machine cannot simulate it. */
  readonly start: () => Promise<Backend | undefined>;
  /** What the first drain reports; absent: no problem. */
  readonly says?: RegExp;
  /** How many of the spans leave the queue in the first drain. @default "none" */
  readonly accepted?: "none" | "all" | "some";
  /** Whether the backend may have accepted spans without our knowledge, so that the same ones are sent again. @default false */
  readonly isAmbiguous?: boolean;
  /** Number of drains after the recovery until everything must be delivered. @default 1 */
  readonly drains?: number;
  /** The backend does not recover: `drains` must be enough. @default false */
  readonly staysIll?: boolean;
  /** Time before the drain after the recovery. @default 0 */
  readonly waitMs?: number;
  readonly env?: Readonly<Record<string, string>>;
}

const answering = (name: string, reply: Reply, says?: RegExp, more: Partial<BackendFault> = {}): BackendFault => ({
  name,
  start: () => behaving(() => reply),
  ...(says !== undefined && { says }),
  ...more,
});

const status = (code: number, says: RegExp, more: Partial<BackendFault> = {}): BackendFault =>
  answering(`answers ${code}`, { status: code }, says, more);

const GRPC = { OPENHOOK_OTEL_OTLP_PROTOCOL: "grpc" };
const overGrpc = (name: string, reply: Reply, says?: RegExp, more: Partial<BackendFault> = {}): BackendFault => ({
  name: `gRPC: ${name}`,
  start: () => behavingGrpc(() => reply),
  ...(says !== undefined && { says }),
  ...more,
  env: { ...GRPC, ...more.env },
});

const ALL = { accepted: "all" } as const;
/** For faults that use up the whole time limit. */
const QUICK = { env: { OPENHOOK_OTEL_OTLP_TIMEOUT_MS: "700" } };
const SMALL = { OPENHOOK_OTEL_OTLP_MAX_SPANS_PER_REQUEST: "2", OPENHOOK_OTEL_OTLP_CONCURRENCY: "1" };
const inSeconds = (seconds: number): string => new Date(Date.now() + seconds * 1000).toUTCString();

/** The faults that `npm test` runs: one of each kind. */
export const COMMON_FAULTS: readonly BackendFault[] = [
  status(401, /answered 401.*; check otlp\.headers\.authorization$/m),
  answering(
    "200 with a web page",
    { body: "<html>sign in</html>", accepted: false },
    /with a web page.*check otlp\.endpoint/,
  ),
  {
    name: "resets within the request",
    // After a few bytes, before the response head is complete
    start: () => raw((socket) => socket.once("data", () => socket.resetAndDestroy())),
    says: /connection broken by/,
  },
  answering("accepts the request, then resets", { reset: "after-reading", accepted: true }, /connection broken by/, {
    isAmbiguous: true,
  }),
];

export const FAULTS: readonly BackendFault[] = [
  ...COMMON_FAULTS,
  { name: "connection refused", start: absent, says: /connection refused by/ },
  { name: "black hole: SYN not answered", start: unreachable, says: /no answer from .* within 700 ms/, ...QUICK },
  {
    name: "black hole: accepts, never reads",
    start: () => raw((socket) => socket.pause()),
    says: /no answer from .* within 700 ms/,
    ...QUICK,
  },
  answering("black hole: reads, never answers", { hang: true }, /no answer from .* within 700 ms/, QUICK),
  answering("answers byte by byte", { dripMs: 50 }, /no answer from .* within 700 ms/, { ...QUICK, isAmbiguous: true }),
  answering("answers 200, its body byte by byte", { dripMs: 50, dripFrom: "body", body: "x".repeat(5000) }, undefined, {
    ...ALL,
    ...QUICK,
  }),
  {
    name: "endless 100 Continue",
    start: () => raw(endlessContinue),
    says: /no answer from .* within 700 ms/,
    ...QUICK,
  },
  {
    name: "endless header",
    start: () => raw(endlessHeader),
    says: /does not respond in HTTP|no answer from/,
    ...QUICK,
  },
  {
    name: "speaks another protocol",
    start: () => raw((s) => s.end("220 mail.example ESMTP\r\n")),
    says: /does not respond in HTTP/,
  },

  status(400, /answered 400.*; rejected spans stay queued and block nothing/),
  status(403, /answered 403.*; check otlp\.headers\.authorization/),
  status(404, /answered 404.*; check otlp\.endpoint/),
  status(405, /answered 405.*; check otlp\.endpoint/),
  status(415, /answered 415.*; check otlp\.protocol/),
  status(422, /answered 422/),
  status(500, /answered 500/),
  status(501, /answered 501/),
  status(502, /answered 502/),
  status(503, /answered 503/),
  status(504, /answered 504/),
  answering("429 with Retry-After in seconds", { status: 429, headers: { "retry-after": "1" } }, /answered 429/, {
    waitMs: 1_200,
  }),
  {
    name: "503 with Retry-After as a date",
    start: () => behaving(() => ({ status: 503, headers: { "retry-after": inSeconds(1) } })),
    says: /answered 503/,
    waitMs: 1_200,
  },

  answering(
    "413 at any size",
    { status: 413, body: "" },
    /answered 413; \d+ stay queued although each is too large by itself/,
  ),
  {
    name: "413 above 3 KB",
    start: () => behaving(({ headers }) => (Number(headers["content-length"]) > 3_000 ? { status: 413 } : undefined)),
    env: { OPENHOOK_OTEL_OTLP_COMPRESSION: "none" },
    ...ALL,
    staysIll: true,
  },
  {
    name: "resets requests above 3 KB instead of answering 413",
    start: () =>
      behaving(({ headers }) => (Number(headers["content-length"]) > 3_000 ? { reset: "before-reading" } : undefined)),
    env: { OPENHOOK_OTEL_OTLP_COMPRESSION: "none", OPENHOOK_OTEL_OTLP_METRICS_ENABLED: "false" },
    says: /connection broken by/,
    drains: 14,
    staysIll: true,
  },

  answering("partial success without counts", { partial: { rejected: 0, message: "please upgrade" } }, undefined, ALL),
  answering("200 with garbage", { body: "\u0007\u00ff garbage" }, undefined, ALL),
  answering(
    "200 with unrelated JSON",
    { body: '{"status":"ok"}', headers: { "content-type": "application/json" } },
    undefined,
    ALL,
  ),
  answering("200 with an empty body", { body: "" }, undefined, ALL),
  answering("200 with a wrong content type", { body: "OK", headers: { "content-type": "image/png" } }, undefined, ALL),
  answering("200 compressed", { body: gzipSync(""), headers: { "content-encoding": "gzip" } }, undefined, ALL),
  answering("200 with 3 MB", { body: "x".repeat(3 << 20) }, undefined, ALL),
  answering("204", { status: 204, body: "" }, undefined, ALL),
  answering("resets within the answer's body", { reset: "within-answer", accepted: true }, undefined, ALL),
  {
    name: "resets within the answer's head",
    start: () =>
      raw((socket) => socket.once("data", () => socket.write("HTTP/1.1 200 O", () => socket.resetAndDestroy()))),
    says: /connection broken by/,
  },
  answering("closes kept connections between requests", { dropAfterMs: 5 }, undefined, {
    ...ALL,
    // On a busy machine it closes while the next request is on its way
    isAmbiguous: true,
    env: { ...SMALL, OPENHOOK_OTEL_OUTBOX_MAX_SPANS_PER_SECOND: "40" },
  }),
  {
    name: "fails after the second request",
    start: () => behaving(({ index }) => (index >= 2 ? { status: 503 } : undefined)),
    env: SMALL,
    says: /answered 503/,
    accepted: "some",
  },
  {
    // A kept connection may have been closed before: retried immediately
    name: "accepts every second request without an answer",
    start: () =>
      behaving(({ path, index }) =>
        path === "/v1/traces" && index % 2 === 1 ? { reset: "after-reading", accepted: true } : undefined,
      ),
    env: SMALL,
    ...ALL,
    isAmbiguous: true,
  },

  overGrpc("UNAVAILABLE", { grpc: { code: 14 } }, /answered UNAVAILABLE \(14\)/),
  overGrpc("UNAUTHENTICATED", { grpc: { code: 16 } }, /UNAUTHENTICATED \(16\).*; check otlp\.headers\.authorization/),
  overGrpc("UNIMPLEMENTED", { grpc: { code: 12 } }, /UNIMPLEMENTED \(12\).*; check otlp\.endpoint; /),
  overGrpc("INVALID_ARGUMENT", { grpc: { code: 3 } }, /INVALID_ARGUMENT \(3\).*; rejected spans stay queued/),
  overGrpc(
    "RESOURCE_EXHAUSTED with RetryInfo",
    { grpc: { code: 8, statusDetails: statusBytes(8, "", 1_000) } },
    /RESOURCE_EXHAUSTED/,
    { waitMs: 1_200 },
  ),
  overGrpc(
    "RESOURCE_EXHAUSTED at any size",
    { grpc: { code: 8, details: "grpc: received message larger than max (5 vs. 4)" } },
    /larger than max .*stay queued although each is too large by itself/,
  ),
  overGrpc("never answers", { hang: true }, /no answer from .* within 700 ms/, { env: QUICK.env }),
  overGrpc("answers after accepting too late", { hang: true, accepted: true }, /no answer from .* within 700 ms/, {
    env: QUICK.env,
    isAmbiguous: true,
  }),
  overGrpc("OK with garbage", { body: "\u0007\u00ff garbage" }, undefined, ALL),
  overGrpc("OK with 3 MB", { body: "x".repeat(3 << 20) }, undefined, ALL),
  {
    name: "gRPC: closes the connection within the call",
    start: () => raw((socket) => socket.once("data", () => socket.resetAndDestroy()), startGrpcReceiver),
    says: /connection broken by|ended without an answer/,
    env: GRPC,
  },
];

// --- internal ---

function endlessContinue(socket: Socket): void {
  const timer = setInterval(() => socket.write("HTTP/1.1 100 Continue\r\n\r\n"), 10);
  socket.on("close", () => clearInterval(timer));
}

function endlessHeader(socket: Socket): void {
  socket.write("HTTP/1.1 200 OK\r\n");
  const timer = setInterval(() => socket.write(`x-${"a".repeat(1_000)}: 1\r\n`), 10);
  socket.on("close", () => clearInterval(timer));
}
