// Lines of 1.0.102, made with hooks that fail, refuse and take too long, 2026-11-30

import type { HookRun, HookRunReader } from "#core/model/hook-run.ts";
import { asString, type Fields } from "../shared/payload/json.ts";
import { hookLines, inner, timeOf } from "../shared/transcript/hook-lines.ts";

/** A start and an end for all hooks of an event together, without their names, and one for several parallel calls. */
export default {
  writesAll: () => false,
  read: hookLines(['"hook.start"', '"hook.end"'], () => {
    const started = new Map<string, number>();
    return (line) => {
      const data = inner(line, "data");
      const [id, event, timeMs] = [asString(data["hookInvocationId"]), asString(data["hookType"]), timeOf(line)];
      if (id === undefined || event === undefined || timeMs === undefined) return [];
      if (line["type"] === "hook.start") {
        started.set(id, timeMs);
        return [{ id, timeMs, event }];
      }
      if (line["type"] !== "hook.end") return [];
      const startMs = started.get(id);
      const outcome = outcomeOf(data);
      if (startMs === undefined) return [{ id, timeMs, event, outcome }];
      return [{ id, timeMs: startMs, event, outcome, durationMs: Math.max(0, timeMs - startMs) }];
    };
  }),
} satisfies HookRunReader;

// --- internal ---

/** A refused call is a success of the hook, with the refusal as its output. */
function outcomeOf(data: Fields): HookRun["outcome"] {
  if (data["success"] === false) return "failed";
  const isRefusal = Object.values(inner(data, "output")).some((text) => String(text).startsWith("Denied by "));
  return isRefusal ? "blocked" : data["success"] === true ? "ok" : undefined;
}
