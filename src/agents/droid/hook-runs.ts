// Lines of 0.225.2, made with hooks that fail, refuse and take too long, 2026-11-30

import type { HookRun, HookRunReader } from "#core/model/hook-run.ts";
import { hookOf } from "../shared/names/hook-names.ts";
import { asCount, asString, objectsIn } from "../shared/payload/json.ts";
import { hookLines, inner } from "../shared/transcript/hook-lines.ts";

/** A line for the hooks of an event, which run at the same time: each has an exit code, and all together have a start and an end. */
export default {
  writesAll: () => true,
  read: hookLines(['"hookEventName"'], () => (line) => {
    const m = inner(line, "message");
    const [id, event] = [asString(line["id"]), asString(m["hookEventName"])];
    const [startMs, endMs] = [asCount(m["hookStartTime"]), asCount(m["hookEndTime"])];
    if (id === undefined || event === undefined || startMs === undefined) return [];
    const commands = objectsIn(m["hookCommands"]);
    const results = objectsIn(m["hookResults"]);
    const isAlone = commands.length === 1 && endMs !== undefined;
    return commands.map(({ command }, i): HookRun => {
      const at = { id: `${id}:${i}`, timeMs: startMs, event, ...hookOf(command) };
      const outcome = results.length === commands.length ? outcomeOf(results[i]?.["exitCode"]) : undefined;
      return { ...at, outcome, ...(isAlone && { durationMs: Math.max(0, endMs - startMs) }) };
    });
  }),
} satisfies HookRunReader;

// --- internal ---

function outcomeOf(exitCode: unknown): HookRun["outcome"] {
  if (typeof exitCode !== "number") return undefined;
  return exitCode === 0 ? "ok" : exitCode === 2 ? "blocked" : "failed";
}
