// Line shapes as recorded from 0.110.0, 0.150.0 and 0.169.0, read 2026-11-21; token rules in README.md beside this file
import { join } from "node:path";
import type {
  ReadOptions,
  TranscriptBatch,
  TranscriptFile,
  TranscriptQuery,
  TranscriptReader,
} from "../../model/agent.ts";
import { EntrySink } from "../../model/entry-sink.ts";
import type { Offset, TranscriptEntry } from "../../model/transcript.ts";
import { asString } from "../shared/payload/json.ts";
import { isPacked, plainPath } from "../shared/transcript/packed.ts";
import { type LineRules, readLines } from "../shared/transcript/read-lines.ts";
import { lineContent } from "./content.ts";
import { type LineState, lineState } from "./line-context.ts";
import { readLine } from "./lines.ts";
import { locate } from "./past.ts";
import { FOLDERS, foldersBeside, formThere, partsOf, readHead, subagentsOf } from "./rollouts.ts";

export default { roots, locate, files, read } satisfies TranscriptReader;

/** `~/.codex`, or where `CODEX_HOME` moved it. */
function roots(home: string, env: Readonly<Record<string, string | undefined>>): readonly string[] {
  const codexHome = asString(env["CODEX_HOME"]) ?? join(home, ".codex");
  return FOLDERS.map((folder) => join(codexHome, folder));
}

/**
 * The main thread's file, all of them where it was taken back, then one for each subagent. A subagent that is asked for gives the file that names its parent; one
 * that is told as where its root lies gives the root's, or of a root that is gone its subagents'.
 */
async function files({ sessionId, path, home, roots }: TranscriptQuery): Promise<readonly TranscriptFile[]> {
  // Where it was told; else by its name: notifications tell no path, and archived files have moved
  const there = path === undefined ? undefined : formThere(path);
  const beside = foldersBeside(path ?? join(home, ".codex", "sessions", "x"));
  const told = there ?? partsOf(beside, sessionId, undefined).at(-1);
  const head = told === undefined ? undefined : readHead(told, roots);
  if (told === undefined || head === undefined) return [];
  const isRoot = head.rootId === head.threadId;
  if (!isRoot && head.threadId === sessionId) return [{ path: told, key: `${PARENT_OF}${plainPath(told)}` }];
  const folders = foldersBeside(told);
  const rootId = isRoot ? head.threadId : sessionId;
  const parts = partsOf(folders, rootId, isRoot ? told : undefined);
  const children = subagentsOf(folders, rootId, parts.at(-1), roots);
  return [...parts.map(fileAt), ...children.map((child) => ({ ...fileAt(child.path), agentId: child.threadId }))];
}

async function* read(file: TranscriptFile, from: Offset, options: ReadOptions = {}): AsyncGenerator<TranscriptBatch> {
  const isOfParent = file.key?.startsWith(PARENT_OF) === true;
  const wanted = isOfParent ? { ...options, content: false, sink: new EntrySink() } : options;
  for await (const { state, isFresh, isFirst, ...batch } of readLines(file, from, wanted, RULES)) {
    if (!isOfParent) yield batch;
    else yield { entries: isFresh && isFirst ? parentOf(state) : [], next: batch.next, unreadable: batch.unreadable };
  }
}

// --- internal ---

/** Kinds of lines that were seen, or that the programs 0.98 to 0.169 can write, told or not. */
const KINDS: readonly string[] =
  `session_meta dynamic_tools_updated turn_context token_usage_record response_item event_msg compacted world_state
  inter_agent_communication inter_agent_communication_metadata realtime_item security_risk_score ghost_snapshot`.split(
    /\s+/,
  );

const RULES: LineRules<LineState> = {
  kinds: KINDS,
  shortens: true,
  state: lineState,
  read: readLine,
  content: lineContent,
};

/** Packed it is the same file, read as far as before: offsets are those in what it holds. */
const fileAt = (path: string): TranscriptFile => ({ path, ...(isPacked(path) && { key: plainPath(path) }) });

/** The same file is a part of two sessions, its own in name and its root's in fact; each has an offset of its own. */
const PARENT_OF = "parent of ";

function parentOf({ rootId, threadId, beganMs, timeMs }: LineState): readonly TranscriptEntry[] {
  if (rootId === undefined || rootId === threadId) return [];
  return [{ kind: "session", key: `session:${threadId}`, timeMs: beganMs ?? timeMs, parentSessionId: rootId }];
}
