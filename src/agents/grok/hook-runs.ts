// Lines of 1.0.41, made with hooks that fail, refuse and take too long, 2026-11-30

import type { HookRun, HookRunReader } from "#core/model/hook-run.ts";
import { OUR_HOOK } from "../shared/names/hook-names.ts";
import { asCount, asString, type Fields, objectsIn } from "../shared/payload/json.ts";
import { hookLines, inner } from "../shared/transcript/hook-lines.ts";

/** A line for all hooks of an event, each with the file that it is in and its place there: `global/own:stop[0].hooks[1]`. */
export default {
  // The one after the session's end can be missing
  writesAll: (event) => event !== "stop",
  read: hookLines(['"hook_execution"'], () => (line) => {
    const params = inner(line, "params");
    const [update, meta] = [inner(params, "update"), inner(params, "_meta")];
    const [id, event] = [asString(meta["eventId"]), asString(update["event_name"])];
    const timeMs = asCount(meta["agentTimestampMs"]);
    if (update["sessionUpdate"] !== "hook_execution") return [];
    if (id === undefined || event === undefined || timeMs === undefined) return [];
    return objectsIn(update["runs"]).map((run, i): HookRun => {
      const status = inner(run, "status");
      // The numbers in ids begin again when a session is resumed
      const at = { id: `${id}:${timeMs}:${event}:${i}`, timeMs, event, ...hookIn(asString(run["name"])) };
      return { ...at, outcome: outcomeOf(status), durationMs: asCount(status["elapsed_ms"]) };
    });
  }),
} satisfies HookRunReader;

// --- internal ---

function hookIn(name: string | undefined): Pick<HookRun, "hook" | "isOurs"> {
  const [, file = "", group, handler] = /^(.*):\w+\[(\d+)\]\.hooks\[(\d+)\]$/.exec(name ?? "") ?? [];
  if (group === undefined) return { hook: name };
  const isOurs = file.replace(/^.*\//, "") === OUR_HOOK;
  return { hook: isOurs ? OUR_HOOK : `${file}[${group}][${handler}]`, isOurs };
}

function outcomeOf({ status, blocked }: Fields): HookRun["outcome"] {
  if (blocked === true) return "blocked";
  return status === "success" ? "ok" : status === "failed" ? "failed" : undefined;
}
