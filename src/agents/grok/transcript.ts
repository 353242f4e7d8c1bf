// Files of 1.0.41, recorded 2026-11-25; token rules in README.md beside this file
import { existsSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Content, ContentUpdate } from "#core/model/content.ts";
import type { FactSink } from "#core/model/fact-sink.ts";
import { INITIAL_OFFSET } from "#core/model/initial-offset.ts";
import type { EntryOf, Offset, TranscriptEntry } from "#core/model/transcript.ts";
import type { ReadOptions, TranscriptBatch, TranscriptFile, TranscriptReader } from "#core/model/transcript-reader.ts";
import { pendingKey } from "#core/rules/keys.ts";
import { putEntry } from "#core/rules/put-facts.ts";
import { defined } from "#kit/objects.ts";
import { readSmallSync } from "#kit/open.ts";
import { contentOf, plainText } from "../shared/payload/content.ts";
import { asObject, asString, asTimeMs, parsedObject } from "../shared/payload/json.ts";
import { type LineRules, readLines } from "../shared/transcript/read-lines.ts";
import { shownResult } from "./adapter.ts";
import type { FileContext, LineState } from "./line-context.ts";
import { KINDS, readLine, spawningCall } from "./lines.ts";
import {
  files,
  isMeta,
  isSubagent,
  locate,
  PARENT_OF,
  parentOf,
  rootOfFile,
  roots,
  summaryIn,
  UPDATES_FILE,
} from "./places.ts";

export default { roots, locate, files, read } satisfies TranscriptReader;

async function* read(file: TranscriptFile, from: Offset, options: ReadOptions = {}): AsyncGenerator<TranscriptBatch> {
  if (file.key?.startsWith(PARENT_OF) === true) {
    yield { entries: parentEntry(file), next: { bytes: 0, memo: {} }, unreadable: 0 };
    return;
  }
  if (isMeta(file)) {
    yield { entries: await killedEntries(file), next: { bytes: 0, memo: {} }, unreadable: 0 };
    return;
  }
  yield* readLines(file, from, options, rulesOf(file));
}

// --- internal ---

const MAX_META_BYTES = 1 << 20;

function rulesOf(file: TranscriptFile): LineRules<LineState> {
  const folder = dirname(file.path);
  const context: FileContext = {
    sessionId: basename(folder),
    folder,
    agentId: file.agentId,
    searched: [rootOfFile(file.path)],
    roots: file.roots,
  };
  return {
    kinds: KINDS,
    state: (timeMs, stored) => ({ timeMs, ...stored }),
    read(line, state, sink) {
      const kind = readLine(line, context, state, sink);
      if (state.isTold === undefined && file.agentId === undefined) putSession(context, state, sink);
      return kind;
    },
    content: lineContent,
  };
}

/** The session's folder and branch, which only its summary has. */
function putSession({ folder, sessionId, roots }: FileContext, state: LineState, sink: FactSink): void {
  const summary = summaryIn(folder, roots);
  if (summary === undefined) return;
  state.isTold = true;
  const cwd = asString(asObject(summary["info"])?.["cwd"]);
  const gitBranch = asString(summary["head_branch"]);
  putEntry(
    sink,
    defined<EntryOf<"session">>({
      kind: "session",
      key: `session:${sessionId}`,
      timeMs: asTimeMs(summary["created_at"]) ?? state.timeMs,
      cwd,
      gitBranch,
      branches: "once",
    }),
  );
}

/**
 * A subagent that was killed: the line that names its call can be missing in its parent's file, which is written late. Its open calls
 * never ended.
 */
async function killedEntries({ path, agentId, roots }: TranscriptFile): Promise<readonly TranscriptEntry[]> {
  const bytes = readSmallSync(path, MAX_META_BYTES, roots);
  const meta = bytes && parsedObject(bytes);
  const [startedMs, status] = [asTimeMs(meta?.["started_at"]), asString(meta?.["status"])];
  if (agentId === undefined || startedMs === undefined || status === undefined || status === "completed") return [];
  const folder = dirname(dirname(dirname(path)));
  const parent = defined<TranscriptFile>({
    path: join(folder, UPDATES_FILE),
    agentId: isSubagent(folder, roots) ? basename(folder) : undefined,
    roots,
  });
  const open = existsSync(parent.path) ? await openCallsAt(parent, startedMs) : [];
  const own = { ...parent, path: join(dirname(folder), agentId, UPDATES_FILE), agentId };
  // Only a later process says that it was cancelled
  const left = status === "running" || !existsSync(own.path) ? [] : ((await openCallsAt(own, Infinity)) ?? []);
  return [
    defined<EntryOf<"subagent">>({
      kind: "subagent",
      key: `subagent:${agentId}`,
      timeMs: startedMs,
      agentId,
      agentType: asString(meta?.["subagent_type"]),
      parentCallId: spawningCall(open, asString(meta?.["description"])),
      parentAgentId: parent.agentId,
    }),
    ...left.map(
      ({ callId, timeMs }): EntryOf<"tool_result"> => ({
        kind: "tool_result",
        key: `result:${callId}`,
        timeMs,
        agentId,
        callId,
        status: "unfinished",
      }),
    ),
  ];
}

/** The calls of a file that were open at a time. */
async function openCallsAt(file: TranscriptFile, timeMs: number): Promise<LineState["openCalls"]> {
  const rules = rulesOf(file);
  let open: LineState["openCalls"];
  let isPast = false;
  const read: typeof rules.read = (line, state, sink) => {
    const kind = isPast ? undefined : rules.read(line, state, sink);
    isPast ||= state.timeMs > timeMs;
    if (!isPast) open = state.openCalls;
    return kind;
  };
  for await (const _ of readLines(file, INITIAL_OFFSET, {}, { ...rules, read })) if (isPast) break;
  return open;
}

/** A subagent's own session belongs to the session that started it. */
function parentEntry({ path, roots }: TranscriptFile): readonly EntryOf<"session">[] {
  const childId = basename(dirname(path));
  const timeMs = asTimeMs(summaryIn(dirname(path), roots)?.["created_at"]) ?? statSync(path).mtimeMs;
  const parentSessionId = parentOf([rootOfFile(path)], childId);
  if (parentSessionId === undefined) return [];
  return [{ kind: "session", key: `session:${childId}`, timeMs, parentSessionId }];
}

/** The content of a line, for the facts that were read from it. Answers are in the hooks. */
function lineContent(
  line: Buffer,
  entries: readonly TranscriptEntry[],
  { prompt, turn }: LineState,
): readonly ContentUpdate[] {
  const isPrompt = line.includes('"user_message_chunk"');
  if (!isPrompt && !entries.some(({ kind }) => KINDS_WITH_CONTENT.has(kind))) return [];
  const update = asObject(asObject(parsedObject(line)?.["params"])?.["update"]);
  const isWaiting = isPrompt && prompt !== undefined && !entries.some(({ kind }) => kind === "prompt");
  const text = plainText(update?.["content"]);
  if (isWaiting) return contentOf(pendingKey(prompt.key), "prompt", text);
  return entries.flatMap((entry): readonly ContentUpdate[] => {
    switch (entry.kind) {
      case "prompt":
        if (isPrompt) return contentOf(entry.key, "prompt", text);
        // A later line named the prompt's id
        return turn?.claims === undefined ? [] : [{ fact: entry.key, claims: pendingKey(turn.claims) }];
      case "tool_use":
        return contentOf(entry.key, "arguments", update?.["rawInput"]);
      case "tool_result":
        return resultContent(entry.key, update);
      default:
        return [];
    }
  });
}

const KINDS_WITH_CONTENT: ReadonlySet<string> = new Set(["prompt", "tool_use", "tool_result"]);

function resultContent(key: string, update: Readonly<Record<string, unknown>> | undefined): readonly Content[] {
  const shown = shownResult(update?.["rawOutput"]);
  return contentOf(key, "result", asString(shown) ?? plainText(update?.["content"]) ?? shown);
}
