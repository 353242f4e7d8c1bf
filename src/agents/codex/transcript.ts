// Line shapes as recorded from 0.110.0, 0.150.0 and 0.169.0, read 2026-11-21; token rules in README.md beside this file
import { join } from "node:path";
import type { TranscriptEntry } from "#core/model/transcript.ts";
import type { TranscriptFile, TranscriptReader } from "#core/model/transcript-reader.ts";
import { EntrySink } from "#core/rules/entry-sink.ts";
import { asString } from "../shared/payload/json.ts";
import { distinctParts } from "../shared/transcript/copies.ts";
import { isCompressed, plainPath } from "../shared/transcript/packed.ts";
import { type LineRules, readLines } from "../shared/transcript/read-lines.ts";
import { lineContent } from "./content.ts";
import { type LineState, lineState } from "./line-context.ts";
import { readLine } from "./lines.ts";
import { locate } from "./past.ts";
import { existingForm, FOLDERS, oldestFirst, partsOf, readHead, siblingFolders, subagentsOf } from "./rollouts.ts";

export default {
  /** The folders of sessions in `~/.codex`, or in `CODEX_HOME`. */
  roots(home, env) {
    const codexHome = asString(env["CODEX_HOME"]) ?? join(home, ".codex");
    return FOLDERS.map((folder) => join(codexHome, folder));
  },
  locate,
  /**
   * The main thread's file (several if it was rolled back), then one file for each subagent. For a subagent's session: the file that
   * names its parent. For a path to a subagent's file: the root's files, or those of the subagents if the root's are missing.
   */
  async files(query) {
    const { sessionId, path, mains, home, roots, isOwnOnly = false } = query;
    // By the reported path, otherwise by name: notifications have no path, and archived files have another one
    const there = path === undefined ? undefined : existingForm(path);
    const beside = siblingFolders(path ?? join(home, ".codex", "sessions", "x"));
    const found = [
      ...(there === undefined ? [] : [there]),
      ...(mains ?? (there === undefined ? partsOf(beside, sessionId, undefined) : [])),
    ];
    const isReadable = (file: string): boolean => readHead(file, roots) !== undefined;
    const reported = found.findLast(isReadable) ?? partsOf(beside, sessionId, there).findLast(isReadable);
    const head = reported === undefined ? undefined : readHead(reported, roots);
    if (reported === undefined || head === undefined) return [];
    const isRoot = head.rootId === head.threadId;
    if (!isRoot && head.threadId === sessionId) return [{ path: reported, key: `${PARENT_OF}${plainPath(reported)}` }];
    const folders = siblingFolders(reported);
    const rootId = isRoot ? head.threadId : sessionId;
    const parts =
      isRoot && mains !== undefined ? oldestFirst(mains) : partsOf(folders, rootId, isRoot ? reported : undefined);
    const children = isOwnOnly && parts.length > 0 ? [] : subagentsOf(folders, rootId, parts, roots);
    return distinctParts([
      ...parts.map(fileAt),
      ...children.map((child) => ({ ...fileAt(child.path), agentId: child.threadId })),
    ]);
  },
  async *read(file, from, options = {}) {
    if (file.key?.startsWith(PARENT_OF) !== true) return yield* readLines(file, from, options, RULES);
    const rules: typeof RULES = { ...RULES, begin: async (state, isFresh) => (isFresh ? parentOf(state) : []) };
    const withoutFacts = { ...options, content: false, sink: new EntrySink() };
    for await (const { entries, next, unreadable } of readLines(file, from, withoutFacts, rules))
      yield { entries, next, unreadable };
  },
} satisfies TranscriptReader;

// --- internal ---

/** Kinds of lines in recordings or in the programs 0.98 to 0.169, with or without facts. */
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
  passesCalls: true,
  content: lineContent,
};

/** A compressed file keeps its key: offsets refer to its content. */
const fileAt = (path: string): TranscriptFile => ({ path, ...(isCompressed(path) && { key: plainPath(path) }) });

/** A subagent's file is read for its own session id and for its root's session; each reading has a separate offset. */
const PARENT_OF = "parent of ";

function parentOf({ rootId, threadId, beganMs, timeMs }: LineState): readonly TranscriptEntry[] {
  if (rootId === undefined || rootId === threadId) return [];
  return [{ kind: "session", key: `session:${threadId}`, timeMs: beganMs ?? timeMs, parentSessionId: rootId }];
}
