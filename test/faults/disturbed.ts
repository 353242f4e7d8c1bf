import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { type Receiver, startReceiver } from "../receiver/receiver.ts";
import { allowCommand } from "./allow-command.ts";
import { type Fault, nameOf } from "./fault.ts";
import { idOf, type Outcome, outcomeOf, waitingIn, withoutReason } from "./outcome.ts";
import type { FaultBuild } from "./program.ts";
import type { State, World } from "./world.ts";

/** The result of one run with a fault. */
export interface Disturbed {
  readonly fault: Fault;
  /** One line each; empty if everything is as without the fault. */
  readonly problems: readonly string[];
  readonly lost: number;
  readonly duplicates: number;
  /** Spans and log records that a backend accepted but that could not be marked as sent: sent again, byte for byte the same. */
  readonly sentAgain: number;
  /** From the restart until everything is as in an undisturbed run. */
  readonly recoveryMs: number;
}

/** Small requests, so that a kill can come between them, and every signal; all other settings are defaults. */
const SETTINGS = { OPENHOOK_OTEL_OTLP_MAX_SPANS_PER_REQUEST: "30", OPENHOOK_OTEL_LOGS: "events" } as const;
/** Larger than the log's limit, so that it is rotated. */
const LOG_BYTES = (1 << 20) + 1;
/** Content of a damaged store, which a drain must set aside. */
const DAMAGED_STORE = "no database at all ".repeat(500);

/** A state directory whose drain passes every step: the store is damaged, the log is long. */
export function stateOf(world: World): State {
  const state = world.state();
  writeFileSync(state.places.storePath, DAMAGED_STORE, { mode: 0o600 });
  writeFileSync(join(state.places.stateDir, "drain.log"), "x".repeat(LOG_BYTES), { mode: 0o600 });
  allowCommand(state, "cat >/dev/null");
  return state;
}

/** An undisturbed run. @returns the steps it passed, and its outcome */
export async function undisturbed(
  build: FaultBuild,
  world: World,
): Promise<{ readonly trace: readonly string[]; readonly outcome: Outcome }> {
  const [state, receiver] = [stateOf(world), await startReceiver()];
  try {
    const trace = join(world.root, "trace-undisturbed");
    rmSync(trace, { force: true });
    const { code, stderr } = await build.drain(state, { trace, env: envFor(receiver) });
    if (code !== 0) throw new Error(`the undisturbed drain exited with ${code}: ${stderr}`);
    return { trace: linesOf(trace), outcome: outcomeOf(state, receiver) };
  } finally {
    await receiver.close();
    state.remove();
  }
}

/** One drain with a fault, then drains without a fault until the queue is empty. */
export async function disturbed(
  build: FaultBuild,
  world: World,
  reference: Outcome,
  fault: Fault,
  receiver: Receiver,
): Promise<Disturbed> {
  const state = stateOf(world);
  const trace = join(world.root, `trace-of-${basename(state.places.stateDir)}`);
  const problems: string[] = [];
  try {
    receiver.clear();
    const env = envFor(receiver);
    const ended = await build.drain(state, { fault, trace, env });
    problems.push(...wrongEnd(fault, ended, linesOf(trace)));
    const [accepted, waiting] = [new Set([...receiver.spans, ...receiver.logs].map(idOf)), new Set(waitingIn(state))];

    const startMs = performance.now();
    let outcome: Outcome | undefined;
    for (let drains = 0; drains < MOST_DRAINS && !isDone(outcome); drains++) {
      const { code, stderr } = await build.drain(state, { env });
      if (code !== 0) problems.push(`drain ${drains + 1} after it exited with ${code}: ${stderr}`);
      outcome = outcomeOf(state, receiver);
    }
    const recoveryMs = performance.now() - startMs;
    if (outcome === undefined) throw new Error("no drain was run");

    const again = [...outcome.times].filter(([, times]) => times > 1).map(([id]) => id);
    // The backend has these spans, but the store does not show it yet: only they may be sent again
    const duplicates = again.filter((id) => !(accepted.has(id) && waiting.has(id)) || outcome.times.get(id) !== 2);
    const lost = [...reference.spans.keys()].filter((id) => !outcome.spans.has(id));
    problems.push(
      ...differences(reference, outcome),
      ...duplicates.map((id) => `span ${id} came ${outcome.times.get(id)} times`),
      ...outcome.changed.map((id) => `span ${id} came again with other content`),
      ...withoutReason(state).map((name) => `there is no reason beside ${name}`),
      ...setAsideOf(state),
    );
    const { length: sentAgain } = again.filter((id) => !duplicates.includes(id));
    return {
      fault,
      problems: problems.map((line) => `${nameOf(fault)}: ${line}`),
      lost: lost.length,
      duplicates: duplicates.length,
      sentAgain,
      recoveryMs,
    };
  } finally {
    state.remove();
    rmSync(trace, { force: true });
  }
}

/** Differences from the expected outcome, one line each, the first few of each kind. */
export function differences(expected: Outcome, got: Outcome): readonly string[] {
  const lines = [
    ...mapDifferences("span", expected.spans, got.spans),
    ...mapDifferences("stream", expected.points, got.points),
    ...Object.keys({ ...expected.rows, ...got.rows }).flatMap((table) =>
      listDifferences(`row of ${table}`, expected.rows[table] ?? [], got.rows[table] ?? []),
    ),
    ...listDifferences("quarantined file", expected.quarantine, got.quarantine),
  ];
  if (got.lost !== expected.lost) lines.push(`${got.lost} events counted as lost in place of ${expected.lost}`);
  if (got.instances !== expected.instances) lines.push(`${got.instances} instance ids`);
  for (const [where, n] of Object.entries(got.waiting)) if (n !== 0) lines.push(`${n} wait in ${where}`);
  return lines;
}

export const envFor = (receiver: Pick<Receiver, "url">): Readonly<Record<string, string>> => ({
  ...SETTINGS,
  OPENHOOK_OTEL_OTLP_ENDPOINT: receiver.url,
});

// --- internal ---

/** One drain should be enough; another may be needed if the first found a file that it could not claim. */
const MOST_DRAINS = 3;
const SHOWN = 3;

const isDone = (outcome: Outcome | undefined): boolean =>
  outcome !== undefined && Object.values(outcome.waiting).every((n) => n === 0);

const linesOf = (path: string): readonly string[] =>
  readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "");

function wrongEnd(
  fault: Fault,
  { code, signal, stderr }: { code: number | null; signal: string | null; stderr: string },
  trace: readonly string[],
): readonly string[] {
  // The step that should fail later can fail by itself: the damaged store cannot be opened
  if (!trace.includes("!")) return trace.includes("~") && fault.when === "after" ? [] : ["the fault did not happen"];
  if (fault.kind === "kill") return signal === "SIGKILL" ? [] : [`it ended with ${code ?? signal}`];
  const problems: string[] = [];
  if (code !== 0 && code !== 1) problems.push(`it ended with ${code ?? signal}: ${stderr}`);
  if (code === 1 && !/^openhook-otel: [^\n]+\n$/.test(stderr)) problems.push(`it printed ${JSON.stringify(stderr)}`);
  if (code === 0 && stderr !== "") problems.push(`it ended well and printed ${JSON.stringify(stderr)}`);
  return problems;
}

/** Checks that the damaged store is there, complete. */
function setAsideOf({ places }: State): readonly string[] {
  const names = readdirSync(dirname(places.storePath)).filter((name) => /^store\.db\.damaged-\S+Z$/.test(name));
  const whole = names.filter((name) => readFileSync(join(dirname(places.storePath), name), "utf8") === DAMAGED_STORE);
  return whole.length === 1 && names.length === 1 ? [] : [`set aside: ${names.length}, as it was: ${whole.length}`];
}

function mapDifferences(
  what: string,
  expected: ReadonlyMap<string, string>,
  got: ReadonlyMap<string, string>,
): readonly string[] {
  const missing = [...expected.keys()].filter((key) => !got.has(key));
  const added = [...got.keys()].filter((key) => !expected.has(key));
  const other = [...expected].filter(([key, text]) => got.has(key) && got.get(key) !== text);
  return [
    ...firstOf(missing, (key) => `${what} missing: ${expected.get(key)}`),
    ...firstOf(added, (key) => `${what} too much: ${got.get(key)}`),
    ...firstOf(other, ([key, text]) => `${what} ${key}: ${got.get(key)} instead of ${text}`),
  ];
}

function listDifferences(what: string, expected: readonly string[], got: readonly string[]): readonly string[] {
  const [left, right] = [counted(expected), counted(got)];
  const missing = [...left].filter(([text, n]) => (right.get(text) ?? 0) < n).map(([text]) => text);
  const added = [...right].filter(([text, n]) => (left.get(text) ?? 0) < n).map(([text]) => text);
  return [
    ...firstOf(missing, (text) => `${what} missing: ${text}`),
    ...firstOf(added, (text) => `${what} too much: ${text}`),
  ];
}

function counted(texts: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}

const firstOf = <T>(all: readonly T[], line: (one: T) => string): readonly string[] => [
  ...all.slice(0, SHOWN).map(line),
  ...(all.length > SHOWN ? [`and ${all.length - SHOWN} more of that kind`] : []),
];
