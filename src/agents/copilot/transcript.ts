// Line shapes of 1.0.102, recorded and by the schema that the program ships, read 2026-11-21; token rule in README.md beside this file
import { basename, dirname, join } from "node:path";
import type { TranscriptFile, TranscriptReader } from "#core/model/transcript-reader.ts";
import { putEntry } from "#core/rules/put-facts.ts";
import { asString } from "../shared/payload/json.ts";
import { SessionCopies } from "../shared/transcript/copies.ts";
import {
  type Dated,
  type Entry,
  entriesIn,
  foldersBelow,
  inOrder,
  isFile,
  mapInBatches,
  statFile,
} from "../shared/transcript/past.ts";
import { type LineRules, readLines, replaceState, UNREADABLE } from "../shared/transcript/read-lines.ts";
import { isFolderName } from "./adapter.ts";
import { lineContent } from "./content.ts";
import type { LineState } from "./line-context.ts";
import { readLine } from "./lines.ts";
import { databaseBeside, isUsagePart, readUsage, usagePart } from "./usage-database.ts";

export default {
  /** `session-state` in `COPILOT_HOME`, or else in `~/.copilot`, and the database beside it. */
  roots(home, env) {
    const moved = asString(env["COPILOT_HOME"]);
    const state = moved === undefined ? stateFolderIn(home) : join(moved, STATE_FOLDER);
    return [state, databaseBeside(state)];
  },
  /** Newer versions have a folder per session. Older ones wrote a file per session, which a newer version keeps when it resumes it. */
  async *locate(query) {
    const sessions = new Map<string, Dated>();
    for (const state of await foldersBelow(query, [STATE_FOLDER, join(".copilot", STATE_FOLDER)])) {
      const entries = await entriesIn(state, query);
      // Folders first: a resumed session continues in its folder
      const places = [
        ...entries.filter((entry) => entry.isFolder).map(({ name, path }) => [name, join(path, EVENTS_FILE)] as const),
        ...entries
          .filter(isSessionFile)
          .map(({ name, path }) => [COPIES.idOf(path, query.roots) ?? name, path] as const),
      ];
      const dated = await mapInBatches(places, async ([sessionId, path]) => {
        const file = isFolderName(sessionId) ? statFile(path, query) : undefined;
        return file === undefined || file.sizeBytes === 0 ? [] : [{ sessionId, path, startMs: file.startMs }];
      });
      for (const one of dated.flat()) if (!sessions.has(one.sessionId)) sessions.set(one.sessionId, one);
    }
    yield* inOrder(sessions.values(), query);
  },
  /**
   * A file contains a session and all its subagents. An older file can stay beside the folder, each with lines that the other lacks.
   * A path to another session's file is the path of the parent's file.
   */
  async files({ sessionId, path, home, roots }) {
    if (!isFolderName(sessionId)) return [];
    const folders = path === undefined ? [] : [dirname(dirname(path)), dirname(path)];
    const reported = path !== undefined && isFileOf(path, sessionId) ? [path] : [];
    const places = [...folders, stateFolderIn(home)].flatMap((folder) => [
      join(folder, sessionId, EVENTS_FILE),
      join(folder, `${sessionId}${EXTENSION}`),
      ...COPIES.of(sessionId, folder, roots),
    ]);
    const found: TranscriptFile[] = [];
    for (const place of new Set([...reported, ...places])) if (await isFile(place)) found.push({ path: place });
    const [first] = found;
    const usage = first === undefined ? undefined : await usagePart({ ...first, ...(roots && { roots }) }, sessionId);
    return usage === undefined ? found : [...found, usage];
  },
  async *read(file, from, options = {}) {
    if (isUsagePart(file)) {
      yield await readUsage(file, from);
      return;
    }
    const rules = (await hasUsagePart(file)) ? { ...RULES, state: FROM_DATABASE } : RULES;
    yield* readLines(file, from, options, rules);
  },
} satisfies TranscriptReader;

// --- internal ---

/** Kinds of lines in recordings or in the schemas of 0.0.400 to 1.0.102, used or not. */
const KINDS: readonly string[] =
  `session.start session.resume session.context_changed session.usage_record session.usage_checkpoint
  session.shutdown session.error session.warning session.info session.model_change session.mode_changed session.plan_changed
  session.permissions_changed session.task_complete session.compaction_start session.compaction_complete session.truncation
  session.handoff session.idle session.title_changed session.workspace_file_changed session.snapshot_rewind
  user.message system.message system.notification assistant.turn_start assistant.turn_end assistant.message
  assistant.intent assistant.reasoning assistant.usage tool.user_requested tool.execution_start tool.execution_complete
  tool.execution_progress tool.execution_partial_result subagent.started subagent.configured subagent.completed
  subagent.failed subagent.selected subagent.deselected skill.invoked hook.start hook.end permission.requested
  permission.completed abort pending_messages.modified
  assistant.fusion_phase_completed assistant.fusion_phase_failed external_tool.requested human_response.recorded
  mcp.oauth_recovery_completed permission.assentDetected permission.carriedForward permission.contextualAuthorization
  permission.messageAuthorization permission.messageAuthorizationDegraded permission.messageAuthorizationRead
  session.auto_mode_resolved session.autopilot_objective_changed session.binary_asset session.canvas.recorded
  session.canvas.removed session.completion_receipt session.context_cleared session.fusion_change_checkpoint
  session.fusion_commit_started session.fusion_completed session.fusion_handoff session.fusion_resolved
  session.fusion_route_failed session.import_legacy session.mode_notice_delivered session.model_deselected
  session.permission_recovery session.remote_steerable_changed session.request_body_compression_disabled
  session.schedule_cancelled session.schedule_created session.schedule_rearmed session.session_limits_changed
  skill.context_delivered skill.context_delivered_ref skill.invoked_ref tool_search.activated`.split(/\s+/);

const EVENTS_FILE = "events.jsonl";
const EXTENSION = ".jsonl";

/** Of the files of older versions. */
const COPIES = new SessionCopies({
  ending: EXTENSION,
  idIn: (name) => (name.endsWith(EXTENSION) && name !== EVENTS_FILE ? basename(name, EXTENSION) : undefined),
  ownId: /"sessionId":\s*"([\w-]+)"/,
});

const isSessionFile = ({ name, isFolder }: Entry): boolean => !isFolder && name.endsWith(EXTENSION);

const isFileOf = (path: string, sessionId: string): boolean =>
  basename(path) === EVENTS_FILE
    ? basename(dirname(path)) === sessionId
    : basename(path) === `${sessionId}${EXTENSION}`;

const RULES: LineRules<LineState> = {
  kinds: KINDS,
  state: (timeMs, stored) => ({ timeMs, ...stored }),
  read({ bytes }, state, sink) {
    const result = readLine(bytes, state);
    if (result === undefined) return UNREADABLE;
    replaceState(state, result.state);
    for (const entry of result.entries) putEntry(sink, entry);
    return result.kind;
  },
  content: lineContent,
};

/** The calls are in the database, so lines give none. */
const FROM_DATABASE: typeof RULES.state = (timeMs, stored) => ({
  timeMs,
  hasRecords: true,
  isInDatabase: true,
  ...stored,
});

/** A subagent's session is in the file of its parent, whose calls the parent's part contains. */
const hasUsagePart = async (file: TranscriptFile): Promise<boolean> =>
  (await usagePart(
    file,
    basename(file.path) === EVENTS_FILE ? basename(dirname(file.path)) : basename(file.path, EXTENSION),
  )) !== undefined;

const STATE_FOLDER = "session-state";
const stateFolderIn = (home: string): string => join(home, ".copilot", STATE_FOLDER);
