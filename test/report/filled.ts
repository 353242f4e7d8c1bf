import { clockAt } from "../support/clock.ts";
import { Replay } from "../support/replay.ts";

/** One recorded run, as `[source, name]`. */
export type Recorded = readonly [source: string, name: string];

/** Includes several agents, subagents, a killed session, failed and denied tools, several segments. */
export const RECORDED: readonly Recorded[] = [
  ["claude-code", "permission-denied"],
  ["claude-code", "multi-turn"],
  ["claude-code", "killed"],
  ["claude-code", "nested-subagents"],
  ["claude-code", "interactive"],
  ["codex", "subagent"],
  ["codex", "parallel-tools"],
  ["gemini-cli", "basic"],
  ["opencode", "multi-turn"],
  ["cline", "tool-errors"],
];

/**
 * A store with recorded sessions, all ended; one without its transcript, whose tokens are unknown; and one that is still
 * running: only the first of its hooks were read, and its transcript up to then.
 *
 * @returns the home with the store, which the caller removes, and the time of the last activity
 */
export async function filledStore(
  recorded: readonly Recorded[] = RECORDED,
): Promise<{ readonly of: Replay; readonly lastMs: number }> {
  const of = new Replay("claude-code", "subagent", { withTranscripts: false });
  const half = of.calls.slice(0, Math.ceil(of.calls.length / 2));
  const untilMs = Math.max(...half.map((call) => Date.parse(call.received_at)));
  let lastMs = untilMs;
  for (const [source, name] of [...recorded, ["claude-code", "basic"] as const]) {
    const other = new Replay(source, name, { withTranscripts: name !== "basic" || source !== "claude-code" });
    for (const call of other.calls) other.put(call);
    const endMs = Math.max(...other.calls.map((call) => Date.parse(call.received_at)));
    lastMs = Math.max(lastMs, endMs);
    // One store for all tests: transcripts are read from the home that the hooks reported
    const places = { ...other.places, storePath: of.places.storePath };
    await other.drain({ endIdle: true }, { ...clockAt(endMs), places });
    other.remove();
  }
  of.writeTranscripts({ untilMs });
  for (const call of half) of.put(call);
  await of.drain({}, clockAt(untilMs));
  return { of, lastMs };
}
