// Events of 1.16.0, made with hooks that fail, refuse and take too long, 2026-11-30

import { dirname, join } from "node:path";
import type { HookRun, HookRunReader } from "#core/model/hook-run.ts";
import { hookOf } from "../shared/names/hook-names.ts";
import { asString, type Fields } from "../shared/payload/json.ts";
import { eventNames, readEvents } from "./event-files.ts";
import { LocalTimes } from "./local-times.ts";
import { EVENTS_FOLDER } from "./places.ts";

/** An event for each run, written when the hook has ended. How long it took is not in it. */
export default {
  // Without SessionEnd: the conversation is closed before these hooks run
  writesAll: () => true,
  async *read({ path, roots }) {
    const folder = join(dirname(path), EVENTS_FOLDER);
    for (const { event, timeMs } of readEvents(folder, eventNames(folder, 0), new LocalTimes(undefined), roots)) {
      if (event?.["kind"] !== "HookExecutionEvent" || timeMs === undefined) continue;
      const [id, name] = [asString(event["id"]), asString(event["hook_event_type"])];
      if (id === undefined || name === undefined) continue;
      yield { id, timeMs, event: name, ...hookOf(event["hook_command"]), outcome: outcomeOf(event) };
    }
  },
} satisfies HookRunReader;

// --- internal ---

function outcomeOf({ success, blocked }: Fields): HookRun["outcome"] {
  if (blocked === true) return "blocked";
  return success === true ? "ok" : success === false ? "failed" : undefined;
}
