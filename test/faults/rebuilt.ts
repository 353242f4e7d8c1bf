import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Receiver } from "../receiver/receiver.ts";
import type { Damage } from "./damage.ts";
import { envFor } from "./disturbed.ts";
import { type Fault, nameOf } from "./fault.ts";
import { type Outcome, outcomeOf } from "./outcome.ts";
import type { FaultBuild } from "./program.ts";
import type { State, World } from "./world.ts";

/** The result for a store that was damaged between two drains. */
export interface Rebuilt {
  readonly damage: string;
  /** One line for each failed expectation: the damage is reported, no drain fails, and nothing stays queued. */
  readonly problems: readonly string[];
  readonly wasSetAside: boolean;
  /** Spans that an undisturbed run delivers and this one did not. */
  readonly lost: number;
  /** Spans that only this run delivered. */
  readonly added: number;
  /** Delivered more than once: a backend that knows ids stores them once. */
  readonly again: number;
  /** Sessions that are no longer in the store, delivered or not. */
  readonly forgotten: number;
  /** Over all instances, as a backend adds them up, compared with an undisturbed run. */
  readonly tokens: { readonly missing: number; readonly twice: number };
  readonly recoveryMs: number;
}

/** Sessions stay open over the two drains. */
const SETTINGS = { OPENHOOK_OTEL_SESSION_IDLE_TIMEOUT_MS: String(400 * 24 * 3_600_000) } as const;

/** Where the inbox is divided. */
const HALF = 0.5;

/** Drains the first half of the inbox, by a drain that is killed at `kill` if given, inflicts the damage, then drains the second half. */
export async function damaged(
  build: FaultBuild,
  world: World,
  receiver: Receiver,
  damage: Damage | undefined,
  kill?: Fault,
): Promise<{ readonly state: State; readonly outcome: Outcome; readonly problems: readonly string[]; tookMs: number }> {
  receiver.clear();
  const state = world.state([0, HALF]);
  const env = { ...envFor(receiver), ...SETTINGS };
  await build.drain(state, { env, ...(kill !== undefined && { fault: kill }) });
  damage?.inflict(state);
  world.fill(state, [HALF, 1]);
  const problems: string[] = [];
  const startMs = performance.now();
  for (const args of [
    ["drain", "--json"],
    ["drain", "--json", "--end-idle"],
  ]) {
    const { code, stderr } = await build.run(args, state, { env });
    if (code !== 0 || stderr !== "") problems.push(`${args.join(" ")}: exit ${code}, ${stderr}`);
  }
  const tookMs = performance.now() - startMs;
  return { state, outcome: outcomeOf(state, receiver), problems, tookMs };
}

/** @param reference an undisturbed run with the same kill */
export async function rebuilt(
  build: FaultBuild,
  world: World,
  receiver: Receiver,
  reference: Outcome,
  damage: Damage,
  kill?: Fault,
): Promise<Rebuilt> {
  const { state, outcome, problems, tookMs } = await damaged(build, world, receiver, damage, kill);
  try {
    const { aside, pending } = asideOf(state);
    const log = readFileOr(join(state.places.stateDir, "drain.log"));
    const wasSetAside = aside.length > 0;
    const wrong = [...problems];
    if (pending) wrong.push("a damaged store waits to be taken over");
    if (wasSetAside) {
      if (!/is damaged: .*; it was set aside/.test(log)) wrong.push(`the log does not mention it: ${log}`);
      const status = await build.run(["status"], state);
      if (!status.stdout.includes("a damaged store was set aside")) wrong.push("status does not mention it");
    }
    for (const [where, n] of Object.entries(outcome.waiting)) if (n !== 0) wrong.push(`${n} wait in ${where}`);
    // A repaired store stays repaired
    const after = await build.drain(state, { env: { ...envFor(receiver), ...SETTINGS } });
    if (after.code !== 0) wrong.push(`the next drain exited with ${after.code}: ${after.stderr}`);
    const { problems: reported }: { problems: string[] } = JSON.parse(after.stdout || '{"problems":["nothing"]}');
    if (reported.length > 0) wrong.push(`the next drain reported ${reported.join("; ")}`);

    const name = `${damage.to} ${damage.name}${kill === undefined ? "" : `, ${nameOf(kill)}`}`;
    const [before, now] = [reference.tokens, outcome.tokens];
    return {
      damage: name,
      problems: wrong.map((line) => `${name}: ${line}`),
      wasSetAside,
      lost: [...reference.spans.keys()].filter((id) => !outcome.spans.has(id)).length,
      added: [...outcome.spans.keys()].filter((id) => !reference.spans.has(id)).length,
      again: [...outcome.times.values()].filter((times) => times > 1).length,
      forgotten: Math.max(0, sessionsIn(reference) - sessionsIn(outcome)),
      tokens: { missing: Math.max(0, before - now), twice: Math.max(0, now - before) },
      recoveryMs: tookMs,
    };
  } finally {
    state.remove();
  }
}

// --- internal ---

const sessionsIn = (outcome: Outcome): number => outcome.rows["sessions"]?.length ?? 0;

const readFileOr = (path: string): string => {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
};

function asideOf({ places }: State): { readonly aside: readonly string[]; readonly pending: boolean } {
  const names = readdirSync(places.stateDir);
  return {
    aside: names.filter((name) => /^store\.db\.damaged-\S+Z$/.test(name)),
    pending: names.includes("store.db.damaged"),
  };
}
