import { sep } from "node:path";
import { v5 as uuidv5 } from "uuid";
import type { StoredCommit } from "#core/model/changes.ts";
import type { SpanSettings } from "#core/telemetry/spans.ts";
import { type Attribution, identityOf } from "#show/report/attribution.ts";
import type { Agents } from "#show/report/session-summary.ts";
import { type SessionView, viewOf } from "#show/report/session-view.ts";
import type { Database } from "#store/database.ts";
import { sessionById } from "#store/sessions.ts";
import { type Edit, linesAfter } from "./edited-lines.ts";
import type { LineRange } from "./git/patches.ts";

/** One record of Agent Trace: what agents contributed to one commit. @see https://github.com/cursor/agent-trace, read 2026-11-27 */
interface TraceRecord {
  readonly version: string;
  readonly id: string;
  readonly timestamp: string;
  readonly vcs: { readonly type: "git"; readonly revision: string };
  readonly tool: { readonly name: string; readonly version: string };
  readonly files: readonly TraceFile[];
  readonly metadata: Readonly<Record<string, unknown>>;
}

interface TraceFile {
  /** From the root of the repository, with slashes. */
  readonly path: string;
  readonly conversations: readonly TraceConversation[];
}

interface TraceConversation {
  readonly contributor: { readonly type: "ai" | "unknown"; readonly model_id?: string };
  /** Empty: the file was edited, but which of its lines are the agent's is not known. */
  readonly ranges: readonly { readonly start_line: number; readonly end_line: number }[];
}

/** A commit to describe, as git and the store know it. */
export interface CommitToTrace {
  /** All digits. */
  readonly revision: string;
  /** What each session that knows it stored about it. */
  readonly commits: readonly StoredCommit[];
  /** Lines that it added, by path. Absent: a merge, or unknown. */
  readonly added?: ReadonlyMap<string, readonly LineRange[]>;
}

/** What a record is made with. */
interface TraceDeps extends Agents {
  readonly settings: SpanSettings;
  readonly version: string;
  /** The root of the worktree in which a session ran. @returns `undefined` if it is not known any more */
  readonly rootOf: (cwd: string | undefined) => string | undefined;
}

/**
 * Describes a commit: the files of it that agents edited with their tools, and the lines if they are certain.
 *
 * @returns `undefined` if no such file is known
 */
export function traceRecord(
  db: Database,
  attribution: Attribution,
  { revision, commits, added }: CommitToTrace,
  deps: TraceDeps,
): TraceRecord | undefined {
  const files = new Map<string, TraceConversation[]>();
  const sessions = commits.map((commit) => {
    const view = viewOf(db, sessionById(db, commit.session), deps, deps.settings);
    const edits = editsFor(view, commit, attribution, deps.rootOf(view.stored.cwd));
    return { commit, view, edits };
  });
  const editors = countBy(sessions.flatMap(({ edits }) => [...edits.keys()]));
  for (const { commit, view, edits } of sessions) {
    for (const [path, all] of edits) {
      const inCommit = added?.get(path);
      if (inCommit === undefined) continue;
      // Two sessions can have worked on the file in any order
      const isOnlyEditor = editors.get(path) === 1 && commit.certainty === "observed" && isOneTurn(view, all, commit);
      const ranges = isOnlyEditor ? certainRanges(all, inCommit) : [];
      const conversation: TraceConversation = { contributor: contributorOf(view, commit), ranges };
      files.set(path, [...(files.get(path) ?? []), conversation]);
    }
  }
  if (files.size === 0) return undefined;
  const timeMs = Math.min(...commits.map((one) => one.timeMs));
  return {
    version: SPECIFICATION,
    id: uuidv5(`agent-trace ${revision}`, NAMESPACE),
    timestamp: new Date(timeMs).toISOString(),
    vcs: { type: "git", revision },
    tool: { name: "openhook-otel", version: deps.version },
    files: [...files].map(([path, conversations]) => ({ path, conversations })),
    metadata: {
      "openhook-otel": {
        certainty: commits.some(({ certainty }) => certainty === "observed") ? "observed" : "inferred",
        sessions: sessions.flatMap(({ view: { stored }, edits }) =>
          edits.size === 0 ? [] : [{ source: stored.source, session_id: stored.sessionId }],
        ),
      },
    },
  };
}

// --- internal ---

/** Its schema allows two numbers, although its examples have three. */
const SPECIFICATION = "0.1";
/** One commit always has the same id. */
const NAMESPACE = "0d4f9a52-6c0b-5d0e-9d63-0a4a3c1f7b11";

/** A session's edits that count for a commit, by path. */
function editsFor(
  { stored, toolCalls }: SessionView,
  commit: StoredCommit,
  attribution: Attribution,
  root: string | undefined,
): ReadonlyMap<string, readonly Edit[]> {
  const edits = new Map<string, Edit[]>();
  if (root === undefined) return edits;
  for (const { tool } of toolCalls) {
    if (tool.status !== "success" || tool.files === undefined) continue;
    const next = attribution.at(stored.id, tool.startMs).commit;
    if (next === undefined || identityOf(next) !== identityOf(commit)) continue;
    for (const path of new Set(tool.files.flatMap((file) => pathIn(root, file.path) ?? []))) {
      const writes = tool.files.filter((file) => pathIn(root, file.path) === path);
      edits.set(path, [...(edits.get(path) ?? []), { endMs: tool.endMs, writes }]);
    }
  }
  return edits;
}

/** @returns `undefined` for a file outside the worktree */
const pathIn = (root: string, path: string): string | undefined =>
  path.startsWith(root + sep) ? path.slice(root.length + 1).replaceAll(sep, "/") : undefined;

/** Between two turns the user may have changed lines of the file, which leaves no trace if their number stays the same. */
function isOneTurn({ turnList }: SessionView, edits: readonly Edit[], commit: StoredCommit): boolean {
  const times = [commit.timeMs, ...edits.map(({ endMs }) => endMs)];
  return turnList.some(({ startMs, endMs }) => times.every((ms) => ms >= startMs && ms <= endMs + TURN_END_MS));
}

/** A commit's time can be that of the hook after the call. */
const TURN_END_MS = 1;

/**
 * The ranges of lines that the edits left, if these are exactly the lines that the commit added: then no other user or program added or
 * removed any. Otherwise none.
 */
function certainRanges(edits: readonly Edit[], added: readonly LineRange[]): TraceConversation["ranges"] {
  const lines = linesAfter(edits);
  if (lines === undefined) return [];
  const inCommit = added.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, at) => first + at));
  if (lines.length !== inCommit.length || inCommit.some((line, at) => line !== lines[at])) return [];
  return added.map(([start_line, end_line]) => ({ start_line, end_line }));
}

/** The model is known if the session used only one: agents do not report which model made a tool call. */
function contributorOf({ calls, facts }: SessionView, { certainty }: StoredCommit): TraceConversation["contributor"] {
  if (certainty === "inferred") return { type: "unknown" };
  const models = new Set(calls.map(({ call }) => `${call.provider ?? facts.provider ?? ""}/${call.model ?? ""}`));
  const [model, another] = models;
  const isKnown =
    model !== undefined && another === undefined && /^[^/]+\/.+$/.test(model) && model.length <= MAX_MODEL;
  return { type: "ai", ...(isKnown && { model_id: model }) };
}

/** By the schema. */
const MAX_MODEL = 250;

function countBy(all: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const one of all) counts.set(one, (counts.get(one) ?? 0) + 1);
  return counts;
}
