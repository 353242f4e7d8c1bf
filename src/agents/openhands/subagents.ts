import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import type { FactSink } from "#core/model/fact-sink.ts";
import type { EntryOf } from "#core/model/transcript.ts";
import { defined } from "#kit/objects.ts";
import { asObject, asString } from "../shared/payload/json.ts";
import { type EventFile, eventNames, readEvents } from "./event-files.ts";
import { LocalTimes } from "./local-times.ts";
import { EVENTS_FOLDER, SUBAGENTS_FOLDER, sessionIdOf } from "./places.ts";
import { messageText, taskDigest } from "./walk.ts";
import type { TaskRun, WalkState } from "./walk-state.ts";

// No file names the call that started a subagent. The first message of its conversation is the call's prompt.

/** Finds the calls of subagents that are not linked yet. */
export function linkSubagents(
  path: string,
  roots: readonly string[] | undefined,
  state: WalkState,
  agentId: string | undefined,
  sink: FactSink,
): void {
  if (state.tasks.length === 0) return;
  const folder = join(dirname(path), SUBAGENTS_FOLDER);
  const children = foldersIn(folder).flatMap((name): readonly Child[] => {
    const id = sessionIdOf(name);
    if (id === undefined || state.linked.includes(id)) return [];
    const first = firstMessage(join(folder, name, EVENTS_FOLDER), state, roots);
    return first?.timeMs === undefined
      ? []
      : [{ id, ms: first.timeMs, digest: taskDigest(messageText(first.event ?? {})) }];
  });
  for (const child of children.sort((a, b) => a.ms - b.ms)) {
    const run = runOf(child, state.tasks);
    if (run === undefined) continue;
    state.tasks = state.tasks.filter((one) => one !== run);
    state.linked = [...state.linked, child.id];
    const [call] = readEvents(
      join(dirname(path), EVENTS_FOLDER),
      [run.fileName],
      new LocalTimes(state.offsetMs),
      roots,
    );
    const agentType = asString(asObject(call?.event?.["action"])?.["subagent_type"]);
    sink.other(subagentEntry(child.id, child.ms, { callId: run.callId, agentType }, agentId));
  }
}

/** The subagent's own entry; its call is added by the conversation that made it. */
export const subagentEntry = (
  id: string,
  timeMs: number,
  call: { readonly callId: string; readonly agentType: string | undefined } | undefined,
  parentAgentId: string | undefined,
): EntryOf<"subagent"> =>
  defined<EntryOf<"subagent">>({
    kind: "subagent",
    key: `subagent:${id}`,
    timeMs,
    agentId: id,
    agentType: call?.agentType,
    parentCallId: call?.callId,
    parentAgentId,
  });

// --- internal ---

/** Names in a folder, sorted; empty if it cannot be read. */
function foldersIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}

interface Child {
  readonly id: string;
  readonly ms: number;
  readonly digest: string;
}

/** After the system prompt. */
const HEAD_FILES = 4;

function firstMessage(
  folder: string,
  { offsetMs }: WalkState,
  roots: readonly string[] | undefined,
): EventFile | undefined {
  const names = eventNames(folder, 0).slice(0, HEAD_FILES);
  const head = readEvents(folder, names, new LocalTimes(offsetMs), roots);
  return head.find(({ event }) => event?.["kind"] === "MessageEvent" && event["source"] === "user");
}

/** The first call with this prompt that waits for its subagent, in the latest process that had begun then. */
function runOf({ ms, digest }: Child, tasks: readonly TaskRun[]): TaskRun | undefined {
  const earlier = tasks.filter((run) => run.digest === digest && run.ms <= ms);
  const runMs = Math.max(...earlier.map((run) => run.runMs));
  return earlier.find((run) => run.runMs === runMs);
}
