// Files of 1.16.0, recorded 2026-11-25; rules in README.md beside this file
import { closeSync, existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Content, ContentUpdate } from "#core/model/content.ts";
import type { FactSink } from "#core/model/fact-sink.ts";
import type { EntryOf, Offset, TranscriptEntry } from "#core/model/transcript.ts";
import type { ReadOptions, TranscriptBatch, TranscriptFile, TranscriptReader } from "#core/model/transcript-reader.ts";
import { EntrySink } from "#core/rules/entry-sink.ts";
import { toolCallPart } from "#core/rules/keys.ts";
import { putWithContent } from "#core/rules/put-facts.ts";
import { openRegularSync, RefusedError } from "#kit/open.ts";
import { answerPiece, contentOf, plainText } from "../shared/payload/content.ts";
import { asString, type Fields } from "../shared/payload/json.ts";
import { Kinds } from "../shared/transcript/kinds.ts";
import { countKind } from "../shared/transcript/unread-usage.ts";
import { eventNames, eventWithId, readEvents } from "./event-files.ts";
import { LocalTimes } from "./local-times.ts";
import { EVENTS_FOLDER, files, locate, roots } from "./places.ts";
import { readState, type State } from "./state-file.ts";
import { linkSubagents, subagentEntry } from "./subagents.ts";
import { putUsage } from "./usage.ts";
import { KINDS, messageText, observationText, walk } from "./walk.ts";
import { initialState, type WalkState } from "./walk-state.ts";

export default { roots, locate, files, read } satisfies TranscriptReader;

/** New events, then the usage that was written since. Events are never changed, the state file is rewritten. */
async function* read(file: TranscriptFile, from: Offset, options: ReadOptions = {}): AsyncGenerator<TranscriptBatch> {
  const folder = join(dirname(file.path), EVENTS_FOLDER);
  refuseOthers(file);
  // Read first, so that each answer in it already has its event
  const recorded = readState(file.path, file.roots);
  const own = new EntrySink();
  const sink = options.sink ?? own;
  const looksAtCalls = options.sink?.needsResult !== undefined;
  const kinds = new Kinds(KINDS);
  const state = stateOf(from, folder, file.path);
  const batch = (content: readonly ContentUpdate[], unreadable: number, records: number): TranscriptBatch => ({
    entries: own.take(),
    content,
    next: { bytes: 0, memo: { ...state } },
    unreadable,
    records,
    ...kinds.take(),
  });
  const times = new LocalTimes(state.offsetMs);
  const names = eventNames(folder, state.next);
  for (let at = 0; at < names.length; at += FILES_PER_BATCH) {
    const content: ContentUpdate[] = [];
    let [unreadable, records] = [0, 0];
    for (const one of readEvents(folder, names.slice(at, at + FILES_PER_BATCH), times, file.roots)) {
      const { event } = one;
      // The last file may be incomplete; after it, a damaged one is passed over
      if (event === undefined && one.name === names.at(-1)) break;
      const isFirst = state.next === 0;
      [state.next, state.lastName] = [one.number + 1, one.name];
      if (event === undefined) {
        unreadable++;
        continue;
      }
      records++;
      if (isFirst) begin(file, one.timeMs ?? state.timeMs, recorded, sink);
      // Content needs only the facts of this event
      const before = own.count;
      const fields = { fields: event, identity: asString(event["id"]) ?? one.name, state, agentId: file.agentId };
      countKind(kinds, event["kind"], () => ({ ...fields, modifiedMs: one.timeMs ?? state.timeMs }), sink);
      walk(one, event, state, { agentId: file.agentId, model: recorded?.model, sink: looksAtCalls ? own : sink });
      if (looksAtCalls) {
        const entries = own.take();
        putWithContent(sink, entries, () => eventContent(event, entries));
      } else if (options.content === true) {
        const actionIn = (id: string) => eventWithId(folder, id, file.roots)?.["action"];
        content.push(...eventContent(event, own.since(before), actionIn));
      }
    }
    state.offsetMs = times.offsetMs;
    yield batch(content, unreadable, records);
  }
  if (recorded !== undefined) putUsage(state, recorded, file, sink);
  linkSubagents(file.path, file.roots, state, file.agentId, sink);
  yield batch([], 0, 0);
}

// --- internal ---

/** Few commits, and little memory: a file can have 60 kB. */
const FILES_PER_BATCH = 200;

/** @throws RefusedError if the state file is a pipe or a link out of its folder; none at all is normal before the first run ends */
function refuseOthers({ path, roots }: TranscriptFile): void {
  try {
    closeSync(openRegularSync(path, roots).fd);
  } catch (error) {
    if (error instanceof RefusedError) throw error;
  }
}

/** The stored state, unless the conversation was replaced by another one. */
function stateOf({ memo }: Offset, folder: string, path: string): WalkState {
  const stored = memo as Partial<WalkState>;
  const isSame = asString(stored.lastName) !== undefined && existsSync(join(folder, stored.lastName ?? ""));
  const fresh = initialState(statSync(path).mtimeMs);
  return isSame ? { ...fresh, ...stored } : fresh;
}

/** Once per conversation: its facts; for a subagent, its identity. */
function begin({ agentId }: TranscriptFile, timeMs: number, recorded: State | undefined, sink: FactSink): void {
  if (agentId !== undefined) sink.other(subagentEntry(agentId, timeMs, undefined, undefined));
  else if (recorded?.cwd !== undefined) {
    const entry: EntryOf<"session"> = { kind: "session", key: "session", timeMs, cwd: recorded.cwd };
    sink.other(entry);
  }
}

/**
 * The content of an event, for the entries that were read from it. Reasoning is left out.
 *
 * @param actionIn reads the event of a call that ran again after a kill, of which there is only the result
 */
function eventContent(
  event: Fields,
  entries: readonly TranscriptEntry[],
  actionIn: (id: string) => unknown = () => undefined,
): readonly Content[] {
  const use = entries.find((entry) => entry.kind === "tool_use");
  return entries.flatMap((entry): readonly Content[] => {
    switch (entry.kind) {
      case "prompt":
        return contentOf(entry.key, "prompt", messageText(event));
      case "model_call": {
        const text =
          event["kind"] === "Condensation" ? event["summary"] : (messageText(event) ?? plainText(event["thought"]));
        const call = use === undefined ? [] : answerPiece(entry.key, toolCallPart(use.callId, use.name));
        return [...answerPiece(entry.key, text), ...call];
      }
      case "tool_use":
        return contentOf(entry.key, "arguments", event["action"] ?? actionIn(String(event["action_id"])));
      case "tool_result":
        return entry.status === "unfinished" ? [] : contentOf(entry.key, "result", observationText(event));
      default:
        return [];
    }
  });
}
