import { cp, mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { type Context, UserError } from "../context.ts";
import { check, metricLines, toRecord } from "../demo/arrived.ts";
import { type Recording, unpackRecordings } from "../demo/recordings.ts";
import { type DemoPlaces, drainOnce, replay } from "../demo/replay.ts";
import { type ReceivedSpan, type Receiver, startReceiver } from "../receiver/receiver.ts";
import { waterfall } from "../report/waterfall/waterfall.ts";
import { GEN_AI_CONVERSATION_ID } from "../telemetry/semconv.ts";
import { printLines } from "../text/ascii.ts";
import { plural } from "../text/figures.ts";
import { lineOf, printable, type Terminal, terminalOf } from "../text/terminal.ts";

/**
 * Replays recorded sessions through the real hook, the real drain and the real exporter into an OTLP receiver of its
 * own, and shows what was decoded there. In a home of its own; the user's state, settings and configuration are neither
 * read nor written. Where `OTEL_EXPORTER_OTLP_ENDPOINT` is set, the same goes there too.
 *
 * @param packageRoot holds `dist` and `demo/recordings`
 * @returns 0; 1 when a number that arrived is not the recorded one, or the user's own endpoint did not take all
 * @throws UserError for what the user can mend: not built, no `/bin/sh`, no temporary folder, no free port
 */
export async function demo(
  options: { readonly keep: boolean },
  context: Context,
  packageRoot: string,
): Promise<number> {
  const places = await makePlaces();
  let seen: Seen;
  try {
    const receiver = await listening();
    try {
      seen = await perform(context, packageRoot, places, receiver);
    } finally {
      await receiver.close();
    }
  } finally {
    if (!options.keep) await rm(places.root, { recursive: true, force: true, maxRetries: 10 });
  }
  // Last, so that a reader that has seen enough (`| head`) leaves nothing of ours behind
  printLines(context, seen.lines);
  if (options.keep) context.stdout.write(`\nKept: OPENHOOK_OTEL_HOME=${printable(places.stateDir)}\n`);
  return seen.exact && seen.delivered ? 0 : 1;
}

// --- internal ---

interface Places extends DemoPlaces {
  readonly root: string;
  /** The state as it was before the drain, for the user's own endpoint. */
  readonly secondStateDir: string;
}

/** Backends refuse what is old, and what is not over yet. */
const ENDED_AGO_MS = 60_000;

/** What is to be shown, and whether all went as it should. */
interface Seen {
  readonly lines: readonly string[];
  readonly exact: boolean;
  /** The user's own endpoint took everything, or there is none. */
  readonly delivered: boolean;
}

async function perform(context: Context, packageRoot: string, places: Places, receiver: Receiver): Promise<Seen> {
  const terminal = terminalOf(context);
  const endMs = context.now() - ENDED_AGO_MS;
  const recordings = await unpackRecordings(join(packageRoot, "demo", "recordings"), places.home, endMs);
  printLines(context, introduction(recordings, terminal));

  const tookMs = await replay(recordings, places, context, packageRoot);
  const endpoint = ownEndpoint(context.env);
  if (endpoint !== undefined) {
    await cp(places.stateDir, places.secondStateDir, { recursive: true, preserveTimestamps: true });
  }
  const drained = await drainOnce(places, context, { OPENHOOK_OTEL_OTLP_ENDPOINT: receiver.url });
  const arrived = { spans: receiver.spans, points: receiver.latestPoints() };
  const requests = plural(receiver.requests.length, "OTLP request");
  const sessions = recordings.flatMap((recording) => recording.sessions);
  const checked = check(sessions, join(places.stateDir, "store.db"), arrived, terminal);
  const own = endpoint === undefined ? undefined : await deliverToUser(endpoint, places, context);
  return {
    exact: checked.exact,
    delivered: own === undefined || own.taken,
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
      ...nextSteps(recordings, context),
    ],
  };
}

/** @throws UserError when there is no place for temporary files */
async function makePlaces(): Promise<Places> {
  try {
    // On macOS the folder's usual name is a symbolic link, and agents write the real one
    const root = await realpath(await mkdtemp(join(tmpdir(), "openhook-demo-")));
    const places = {
      root,
      home: join(root, "home"),
      stateDir: join(root, "state"),
      secondStateDir: join(root, "state-for-your-endpoint"),
      configDir: join(root, "config"),
    };
    for (const folder of [places.home, places.stateDir, places.configDir]) await mkdir(folder, { mode: 0o700 });
    return places;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const advice = "set TMPDIR to a folder that you can write to";
    throw new UserError("E_DEMO", `cannot make a folder in ${tmpdir()}: ${reason}; ${advice}`, 1, { cause: error });
  }
}

async function listening(): Promise<Receiver> {
  try {
    return await startReceiver();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new UserError("E_DEMO", `cannot listen on 127.0.0.1 for the demo's receiver: ${reason}`, 1, { cause: error });
  }
}

function introduction(recordings: readonly Recording[], terminal: Terminal): readonly string[] {
  const sessions = recordings.flatMap((recording) => recording.sessions).length;
  const agents = sourcesOf(recordings).join(", ");
  return [
    heading(
      `${plural(sessions, "recorded session")} of ${agents}, through the real hook, drain and exporter`,
      terminal,
    ),
    "Real runs of the agent, whose model answered by a script, so that the right totals are known. Of what it wrote",
    "only the home folder, the session ids and the times were changed: the last session ended a minute ago.",
    "Your own state and settings are not touched.",
    "",
  ];
}

/** One session as the receiver has it: each of its segments is a trace, all on one time axis. */
function* sessionLines(recording: Recording, spans: readonly ReceivedSpan[], terminal: Terminal): Generator<string> {
  for (const [index, { sessionId }] of recording.sessions.entries()) {
    const own = spans.filter((span) => span.attributes[GEN_AI_CONVERSATION_ID] === sessionId);
    const traces = new Set(own.map((span) => span.traceId)).size;
    const number = recording.sessions.length > 1 ? ` ${index + 1} of ${recording.sessions.length}` : "";
    const about = `session ${sessionId}, ${plural(traces, "trace")}, ${plural(own.length, "span")}`;
    yield "";
    yield lineOf(
      [
        { text: `${recording.name}${number}`, style: "bold" },
        { text: `  ${about}`, style: "dim" },
      ],
      terminal.colour,
    );
    yield* waterfall(
      own.map((span) => ({ record: toRecord(span) })),
      terminal,
    );
  }
}

// The user's own endpoint

const ENDPOINTS = ["", "TRACES_", "METRICS_"].map((signal) => `OTEL_EXPORTER_OTLP_${signal}ENDPOINT`);

/** Where the user's environment sends OTLP, as it may be shown; `undefined` when nothing is set. */
function ownEndpoint(env: Context["env"]): string | undefined {
  const value = ENDPOINTS.map((name) => env[name]).find((text) => text !== undefined && text.trim() !== "");
  if (value === undefined) return undefined;
  return URL.canParse(value) ? new URL(value).origin : printable(value);
}

/** The same files once more, from before the drain: what one backend has taken is not sent to another. */
async function deliverToUser(endpoint: string, places: Places, context: Context) {
  const theirs = Object.entries(context.env).filter(([name]) => name.startsWith("OTEL_"));
  const again = { ...places, stateDir: places.secondStateDir };
  const mark = context.env["OTEL_RESOURCE_ATTRIBUTES"];
  const report = await drainOnce(again, context, {
    ...Object.fromEntries(theirs),
    OTEL_RESOURCE_ATTRIBUTES: [mark, "deployment.environment.name=openhook-demo"].filter(Boolean).join(","),
  });
  const taken = report.problems.length === 0 && report.waiting === 0 && report.rejected === 0;
  const lines = [
    "",
    taken
      ? `${endpoint} took the same ${plural(report.sent, "span")} and the metrics: deployment.environment.name is openhook-demo there.`
      : `${endpoint} did not take all: ${report.sent} of ${plural(report.spans, "span")} sent.`,
    ...report.problems.map((problem) => `! ${printable(problem)}`),
  ];
  return { taken, lines };
}

// Words

function nextSteps(recordings: readonly Recording[], { cwd, programPath }: Context): readonly string[] {
  const path = relative(cwd, programPath);
  const program = path.startsWith("..") || path.includes(" ") ? "openhook-otel" : `node ${path}`;
  return [
    "",
    "Next",
    `  ${program} enable ${sourcesOf(recordings).join(" ")}`,
    "      your own sessions are collected from the next one on",
    `  ${program} config set otlp.endpoint http://127.0.0.1:4318`,
    "      and sent to your backend; without an endpoint they stay on this machine",
    `  ${program} show`,
    "      your newest session, drawn like those above",
  ];
}

const heading = (text: string, { colour }: Terminal): string => lineOf([{ text, style: "bold" }], colour);

const sourcesOf = (recordings: readonly Recording[]): readonly string[] => [
  ...new Set(recordings.map((recording) => recording.source)),
];

const median = (values: readonly number[]): string =>
  ([...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0).toFixed(1);
