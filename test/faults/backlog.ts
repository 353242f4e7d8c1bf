import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import type { SpanRecord } from "#core/model/telemetry.ts";
import { openDatabase } from "#store/database.ts";
import { enqueue } from "#store/outbox.ts";
import { decodeSpans } from "../receiver/decode.ts";
import type { Machine } from "../support/program.ts";

/** Id of the span at a position in the outbox. */
export const spanId = (n: number): string => (n + 1).toString(16).padStart(16, "0");
/** The position in the outbox of the span with an id. */
export const placeOf = (id: string): number => Number.parseInt(id, 16) - 1;

/**
 * Fills the outbox of a machine that has drained before, as after an outage of weeks.
 *
 * @param sinceMs when each span was queued @default now
 */
export function fillOutbox(machine: Machine, count: number, sinceMs: (n: number) => number = () => Date.now()): void {
  const db = openDatabase(machine.places.storePath);
  try {
    const session = Number(db.prepare("SELECT id FROM sessions LIMIT 1").get()?.["id"]);
    db.transaction(() => {
      const insert = db.prepare("INSERT INTO spans (key, session, segment, record) VALUES (?, ?, 0, ?)");
      for (let n = 0; n < count; n++) {
        insert.run(`backlog:${n}`, session, JSON.stringify(spanOf(n)));
        enqueue(db, `backlog:${n}`, sinceMs(n));
      }
    });
  } finally {
    db.close();
  }
}

/** A backend that stores only the position of each span, so that 100,000 spans need little memory. */
export interface Counter {
  readonly url: string;
  /** Positions in order of arrival, including repeated ones. */
  readonly places: number[];
  readonly requests: readonly { readonly atMs: number; readonly spans: number }[];
  readonly mostAtOnce: number;
  close(): Promise<void>;
}

/**
 * @param answer may respond to a request with spans in place of the healthy answer, and returns whether it did; the spans of
 *   such a request are not counted
 */
export async function startCounter(
  answer?: (response: ServerResponse, spans: number, places: readonly number[]) => boolean,
): Promise<Counter> {
  const places: number[] = [];
  const requests: { atMs: number; spans: number }[] = [];
  let [open, mostAtOnce] = [0, 0];
  const server = createServer(async (request, response) => {
    mostAtOnce = Math.max(mostAtOnce, ++open);
    response.on("close", () => open--);
    try {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      if (!request.url?.startsWith("/v1/traces")) return response.end();
      const spans = decodeSpans(gunzipSync(Buffer.concat(chunks)), "protobuf");
      requests.push({ atMs: performance.now(), spans: spans.length });
      const arrived = spans.map((span) => placeOf(span.spanId));
      if (answer?.(response, spans.length, arrived) === true) return;
      places.push(...arrived);
      return response.end();
    } catch {
      // A client that was killed during its request
      return response.destroy();
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`,
    places,
    requests,
    get mostAtOnce() {
      return mostAtOnce;
    },
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

/** One drain, and the maximum memory of its process. */
export async function drainMeasured(
  machine: Machine,
  env: Readonly<Record<string, string>>,
): Promise<{ readonly report: Record<string, unknown>; readonly peakMib: number; readonly tookMs: number }> {
  const [hook, measured] = [join(machine.home, "measure.cjs"), join(machine.home, "measured.txt")];
  if (!existsSync(hook)) {
    const write = `require("node:fs").writeFileSync(${JSON.stringify(measured)}, String(process.resourceUsage().maxRSS))`;
    writeFileSync(hook, `process.on("exit", () => { ${write}; });\n`);
  }
  const beganMs = performance.now();
  const report = await machine.drain([], { ...env, NODE_OPTIONS: `--require=${hook}` });
  const tookMs = Math.round(performance.now() - beganMs);
  return { report, peakMib: Math.round(Number(readFileSync(measured, "utf8")) / 1024), tookMs };
}

// --- internal ---

/** A tool call, because sessions have thousands of them. */
const spanOf = (n: number): SpanRecord => ({
  traceId: (Math.floor(n / 500) + 1).toString(16).padStart(32, "0"),
  spanId: spanId(n),
  parentSpanId: "eee19b7ec3c1b174",
  name: "execute_tool Bash",
  kind: "internal",
  startMs: 1_760_000_000_000 + n * 10,
  endMs: 1_760_000_000_250 + n * 10,
  status: { code: "unset" },
  attributes: {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "Bash",
    "gen_ai.tool.call.id": `toolu_${n.toString(36).padStart(24, "0")}`,
    "gen_ai.conversation.id": "6b3f8d1e-7c55-4a57-9a0c-0d6f2f1c9b1a",
    "openhook.source": "claude-code",
    "openhook.span.kind": "tool_call",
    "openhook.tool.input_bytes": 120 + (n % 900),
    "openhook.tool.output_bytes": 2_000 + (n % 9_000),
    "vcs.repository.name": "telescope",
    "vcs.ref.head.name": "main",
  },
  links: [],
  events: [],
  resource: { "service.name": "claude-code", "service.version": "2.1.329" },
});
