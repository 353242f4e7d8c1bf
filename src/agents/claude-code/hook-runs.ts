// Lines of 2.1.332, made with hooks that fail, refuse, print and take too long, 2026-11-30; rules in README.md beside this file

import type { HookRun, HookRunReader } from "#core/model/hook-run.ts";
import { hookOf } from "../shared/names/hook-names.ts";
import { asArray, asCount, asObject, asString, type Fields, objectsIn } from "../shared/payload/json.ts";
import { compareVersions, parseVersion } from "../shared/payload/version.ts";
import { type HookLine, hookLines, inner, timeOf } from "../shared/transcript/hook-lines.ts";

/** Every run of a Stop hook is written down. Of other events only those that failed, refused or printed something. */
export default {
  writesAll: (event) => event === STOP,
  isIn: (version) => compareVersions(parseVersion(version ?? "") ?? "0", FIRST_WITH_RUNS) >= 0,
  read: hookLines(['"stop_hook_summary"', '"type":"hook_', " hook error: ["], () => {
    /** Commands of Stop hooks that failed; their lines come before the one with all runs. */
    const failed = new Map<string, string[]>();
    return (line) => {
      const [id, timeMs] = [asString(line["uuid"]), timeOf(line)];
      if (id === undefined || timeMs === undefined) return [];
      if (line["subtype"] === "stop_hook_summary") {
        return stopRuns(line, { id, timeMs }, failed.get(String(line["toolUseID"])) ?? []);
      }
      if (line["type"] === "user") return refusals(line, { id, timeMs });
      const attachment = inner(line, "attachment");
      const command = asString(attachment["command"]);
      if (attachment["hookEvent"] !== STOP) return [...runOf(attachment, { id, timeMs })];
      const key = String(attachment["toolUseID"]);
      const isFailure = OUTCOMES.get(attachment["type"]) === "failed";
      if (isFailure && command !== undefined) failed.set(key, [...(failed.get(key) ?? []), command]);
      return [];
    };
  }),
} satisfies HookRunReader;

// --- internal ---

type At = Pick<HookRun, "id" | "timeMs">;

const STOP = "Stop";
/** In recordings; 2.1.197 wrote none. */
const FIRST_WITH_RUNS = "2.1.329";

/** Of lines with one run each. There are others, with what a hook said; they belong to a run that is written down too. */
const OUTCOMES: ReadonlyMap<unknown, NonNullable<HookRun["outcome"]>> = new Map([
  ["hook_success", "ok"],
  ["hook_non_blocking_error", "failed"],
  ["hook_error_during_execution", "failed"],
  // Also by its timeout
  ["hook_cancelled", "failed"],
  ["hook_blocking_error", "blocked"],
] as const);

function* runOf(attachment: Fields, at: At): Generator<HookRun> {
  const outcome = OUTCOMES.get(attachment["type"]);
  const event = asString(attachment["hookEvent"]);
  if (outcome === undefined || event === undefined) return;
  const command = attachment["command"] ?? inner(attachment, "blockingError")["command"];
  yield { ...at, event, ...hookOf(command), outcome, durationMs: asCount(attachment["durationMs"]) };
}

/** All hooks of one stop. Their errors are in a list of their own. */
function stopRuns(line: HookLine, { id, timeMs }: At, failed: readonly string[]): readonly HookRun[] {
  const infos = objectsIn(line["hookInfos"]);
  const errors = asArray(line["hookErrors"]).map(String);
  const left = [...failed];
  const outcomes = infos.map(({ command }): HookRun["outcome"] => {
    if (errors.some((error) => error.startsWith(`[${String(command)}]:`))) return "blocked";
    const at = left.indexOf(String(command));
    if (at < 0) return undefined;
    left.splice(at, 1);
    return "failed";
  });
  // Earlier versions do not say which hook an error is of
  const areKnown = outcomes.filter((outcome) => outcome !== undefined).length >= errors.length;
  const event = asString(line["hookLabel"]) ?? STOP;
  return infos.map(({ command, durationMs }, i) => ({
    id: `${id}:${i}`,
    timeMs,
    event,
    ...hookOf(command),
    outcome: outcomes[i] ?? (areKnown ? "ok" : infos.length === 1 ? "failed" : undefined),
    durationMs: asCount(durationMs),
  }));
}

/** A call that a hook refused: only its result says so. */
function refusals(line: HookLine, { id, timeMs }: At): readonly HookRun[] {
  return asArray(inner(line, "message")["content"]).flatMap((block, i): readonly HookRun[] => {
    const result = asObject(block);
    if (result?.["is_error"] !== true) return [];
    const [, event, command] = REFUSED.exec(asString(result["content"]) ?? "") ?? [];
    return event === undefined ? [] : [{ id: `${id}:${i}`, timeMs, event, ...hookOf(command), outcome: "blocked" }];
  });
}

const REFUSED = /^(PreToolUse):\S+ hook error: \[(.+?)\]: /s;
