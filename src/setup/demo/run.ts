import { cp } from "node:fs/promises";
import { join } from "node:path";
import type { Context } from "#config/context.ts";
import { plural } from "#kit/text/figures.ts";
import { printable, terminalOf } from "#kit/text/terminal.ts";
import { check, withLatestPoints } from "./arrived.ts";
import type { DemoFolders } from "./places.ts";
import type { DemoReceiver } from "./receiver.ts";
import { unpackRecordings } from "./recordings.ts";
import { drainOnce, replay } from "./replay.ts";
import { introduction } from "./text.ts";

/** The result of a demo. */
export interface DemoResult {
  /** To be printed. */
  readonly lines: readonly string[];
  /** Every number that arrived is the recorded one. */
  readonly exact: boolean;
  /** The user's own endpoint accepted everything, or none is set. */
  readonly delivered: boolean;
}

/**
 * Replays the recordings into the demo's home, drains them into the receiver and compares.
 *
 * @throws UserError when the program was not built, or the hook or a drain fails
 */
export async function runDemo(
  context: Context,
  packageRoot: string,
  places: DemoFolders,
  receiver: DemoReceiver,
): Promise<DemoResult> {
  const terminal = terminalOf(context);
  const endMs = context.now() - ENDED_AGO_MS;
  const recordings = await unpackRecordings(join(packageRoot, "demo", "recordings"), places.home, endMs);

  const tookMs = await replay(recordings, places, context, packageRoot);
  const endpoint = ownEndpoint(context.env);
  if (endpoint !== undefined) {
    await cp(places.stateDir, places.secondStateDir, { recursive: true, preserveTimestamps: true });
  }
  const drained = await drainOnce(places, context, {
    OPENHOOK_OTEL_OTLP_ENDPOINT: receiver.url,
    OPENHOOK_OTEL_OTLP_PROTOCOL: "http/json",
  });
  const received = receiver.received();
  const arrived = withLatestPoints(received);
  const requests = plural(received.requests, "OTLP request");
  const sessions = recordings.flatMap((recording) => recording.sessions);
  const checked = check(sessions, join(places.stateDir, "store.db"), arrived, terminal);
  const own = endpoint === undefined ? undefined : await deliverToUser(endpoint, places, context);
  return {
    exact: checked.exact,
    delivered: own === undefined || own.isAccepted,
    lines: [
      ...introduction(recordings, terminal),
      ...checked.lines,
      `${plural(tookMs.length, "hook call")}, median ${median(tookMs)} ms each; ${plural(arrived.spans.length, "span")} and ` +
        `${plural(arrived.points.length, "metric stream")} arrived in ${requests}`,
      ...drained.problems.map((problem) => `! ${printable(problem)}`),
      ...(own?.lines ?? []),
    ],
  };
}

// --- internal ---

/** Where the user's environment sends OTLP, without path or credentials; `undefined` if no variable is set. */
function ownEndpoint(env: Context["env"]): string | undefined {
  const value = ENDPOINTS.map((name) => env[name]).find((text) => text !== undefined && text.trim() !== "");
  if (value === undefined) return undefined;
  return URL.canParse(value) ? new URL(value).origin : printable(value);
}

/**
 * Drains the copied state into the user's endpoint, because a drain does not send again what another backend has accepted.
 *
 * @returns whether the endpoint accepted everything, and lines to print
 */
async function deliverToUser(endpoint: string, places: DemoFolders, context: Context) {
  const theirs = Object.entries(context.env).filter(([name]) => name.startsWith("OTEL_"));
  const again = { ...places, stateDir: places.secondStateDir };
  const mark = context.env["OTEL_RESOURCE_ATTRIBUTES"];
  const report = await drainOnce(again, context, {
    ...Object.fromEntries(theirs),
    OTEL_RESOURCE_ATTRIBUTES: [mark, "deployment.environment.name=openhook-demo"].filter(Boolean).join(","),
  });
  const isAccepted = report.problems.length === 0 && report.waiting === 0 && report.rejected === 0;
  const lines = [
    isAccepted
      ? `${endpoint} accepted the same ${plural(report.sent, "span")} and the metrics, with deployment.environment.name = openhook-demo.`
      : `${endpoint} accepted only ${report.sent} of ${plural(report.spans, "span")}.`,
    ...report.problems.map((problem) => `! ${printable(problem)}`),
  ];
  return { isAccepted, lines };
}

/** When the last recording ends: recent, because backends reject old spans, and not in the future. */
const ENDED_AGO_MS = 60_000;

const median = (values: readonly number[]): string =>
  ([...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0).toFixed(1);

const ENDPOINTS = ["", "TRACES_", "METRICS_"].map((signal) => `OTEL_EXPORTER_OTLP_${signal}ENDPOINT`);
