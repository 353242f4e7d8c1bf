import { cp } from "node:fs/promises";
import { join } from "node:path";
import type { Context } from "#config/context.ts";
import { printLines } from "#kit/text/ascii.ts";
import { plural } from "#kit/text/figures.ts";
import { printable, terminalOf } from "#kit/text/terminal.ts";
import { check, metricLines, withLatestPoints } from "./arrived.ts";
import { deliverToUser, ownEndpoint } from "./own-endpoint.ts";
import type { DemoFolders } from "./places.ts";
import type { DemoReceiver } from "./receiver.ts";
import { unpackRecordings } from "./recordings.ts";
import { drainOnce, replay } from "./replay.ts";
import { heading, introduction, nextSteps, sessionLines } from "./text.ts";

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
 * Prints an introduction, replays the recordings into the demo's home, drains them into the receiver and compares.
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
  printLines(context, introduction(recordings, terminal));

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
      `hook      ${plural(tookMs.length, "call")} of the program that agents start, median ${median(tookMs)} ms each`,
      `drain     ${plural(drained.events, "event")} and their transcripts made ${plural(drained.spans, "span")}`,
      `receiver  ${plural(arrived.spans.length, "span")} and ${plural(arrived.points.length, "metric stream")} arrived in ${requests}`,
      ...drained.problems.map((problem) => `! ${printable(problem)}`),
      ...recordings.flatMap((recording) => [...sessionLines(recording, arrived.spans, terminal)]),
      "",
      heading("metrics, as they arrived", terminal),
      ...metricLines(arrived, terminal),
      "",
      heading("check", terminal),
      ...checked.lines,
      ...(own?.lines ?? []),
      ...nextSteps(),
    ],
  };
}

// --- internal ---

/** When the last recording ends: recent, because backends reject old spans, and not in the future. */
const ENDED_AGO_MS = 60_000;

const median = (values: readonly number[]): string =>
  ([...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0).toFixed(1);
