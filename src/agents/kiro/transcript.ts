// ~/.kiro/sessions/cli/<id>.json as several public readers parse it, read 2026-11-21; the reasons for this subset: README.md
import { stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { EntryOf, Offset, TokenUsage, TranscriptEntry } from "#core/model/transcript.ts";
import type { TranscriptFile, TranscriptQuery, TranscriptReader } from "#core/model/transcript-reader.ts";
import { minOf, sumKnown } from "#kit/numbers.ts";
import { defined } from "#kit/objects.ts";
import { readSmall } from "#kit/open.ts";
import {
  asArray,
  asCount,
  asNanoUnits,
  asObject,
  asString,
  asTimeMs,
  type Fields,
  parsedObject,
} from "../shared/payload/json.ts";
import { distinctParts, existingFiles, UUID } from "../shared/transcript/copies.ts";
import { FolderMemory } from "../shared/transcript/folder-memory.ts";
import {
  type Dated,
  entriesIn,
  foldersBelow,
  located,
  mapInBatches,
  oldestFirst,
  reportUnreadable,
} from "../shared/transcript/past.ts";
import { withUnreadUsage } from "../shared/transcript/unread-usage.ts";

export default {
  /** The folder of sessions in `KIRO_HOME`, or else in `~/.kiro`. */
  roots(home, env) {
    return [join(asString(env["KIRO_HOME"]) ?? join(home, ".kiro"), SESSIONS)];
  },
  /**
   * Sessions of the CLI's TUI, the only ones in readable files. A subagent's parent is only named inside its file, so each file is
   * read, once for this function and `files` together. A session in several folders is one session.
   */
  async *locate(query) {
    const found: (Dated & { readonly parent: string | undefined })[] = [];
    for (const folder of await foldersBelow(query, LAYOUTS)) {
      const entries = (await entriesIn(folder, query)).filter(({ name, isFolder }) => !isFolder && isSession(name));
      const heads = await mapInBatches(entries, async ({ path }) => {
        const head = await headOf(path, query.roots);
        if (head === undefined) await reportUnreadable(path, query, "not a Kiro session, or too large");
        return head === undefined ? [] : [{ sessionId: head.id, path, parent: head.parent, startMs: head.createdMs }];
      });
      found.push(...heads.flat());
    }
    const ids = new Set(found.map(({ sessionId }) => sessionId));
    const parents = new Map(
      found.flatMap(({ sessionId, parent }) => (parent === undefined ? [] : [[sessionId, parent]])),
    );
    const mains = new Map<string, Set<string>>();
    for (const { sessionId, path } of found) {
      const root = topmostAncestor(parents, sessionId);
      mains.set(root, (mains.get(root) ?? new Set()).add(join(dirname(path), `${root}.json`)));
    }
    const yielded = new Set<string>();
    for (const session of oldestFirst(found)) {
      const sessionId = topmostAncestor(parents, session.sessionId);
      // The root session includes its subagents; if its file is gone, the first subagent represents it
      if (yielded.has(sessionId) || (session.sessionId !== sessionId && ids.has(sessionId))) continue;
      yielded.add(sessionId);
      yield located({ sessionId, path: session.path, mains: [...(mains.get(sessionId) ?? [])] }, query);
    }
  },
  /**
   * The session's files in all folders, then those of its subagents, which are sessions that name their parent. If the session's
   * files are gone, the subagents in these folders remain.
   */
  async files(query) {
    const { sessionId, path, roots } = query;
    if (!SAFE_ID.test(sessionId)) return [];
    const folders = [
      ...new Set([
        ...(path === undefined ? [] : [dirname(path)]),
        ...(query.mains?.map(dirname) ?? knownFolders(query)),
      ]),
    ];
    const copies = folders.flatMap((folder) => sessionFiles.of(folder)).filter((file) => isCopyOf(file, sessionId));
    const own = existingFiles([...folders.map((folder) => join(folder, `${sessionId}.json`)), ...copies], roots);
    const tried = await Promise.allSettled(own.map((file) => headOf(file, roots)));
    const known = tried.flatMap((one) => (one.status === "fulfilled" && one.value !== undefined ? [one.value] : []));
    const refused = tried.find((one) => one.status === "rejected");
    if (known.length === 0 && refused !== undefined) throw refused.reason;
    if (known.length === 0) await Promise.all(own.map(refuseTooLarge));
    // If only some of them cannot be read, `read` reports these
    const parts = known.length === 0 ? [] : own.map((file): TranscriptFile => ({ path: file }));
    if (known.some(({ parent }) => parent !== undefined)) return parts;
    const sinceMs = known.length === 0 ? 0 : minOf(known.map(({ createdMs }) => createdMs));
    return distinctParts([...parts, ...(await descendants(folders, sessionId, sinceMs, roots))]);
  },
  /** The program rewrites the file each time, so it is read as a whole each time. */
  async *read(file, _from) {
    const session = await load(file.path, file.roots);
    const { size } = await stat(file.path);
    const next: Offset = { bytes: size, memo: {} };
    yield session === undefined
      ? { entries: [], next, unreadable: 1 }
      : { ...withUnreadUsage(session.fields, WITH_KNOWN_USAGE, entriesOf(session, file.agentId)), next, unreadable: 0 };
  },
} satisfies TranscriptReader;

// --- internal ---

interface SessionFile {
  readonly id: string;
  readonly parent: string | undefined;
  readonly createdMs: number;
  readonly updatedMs: number;
  readonly cwd: string | undefined;
  readonly agentName: string | undefined;
  readonly model: string | undefined;
  readonly turns: readonly unknown[];
  readonly fields: Fields;
}

/** The members that the reader knows. */
const WITH_KNOWN_USAGE = /^session_state\.conversation_metadata\.user_turn_metadatas$/;

const SAFE_ID = /^[A-Za-z0-9_-]+$/;
// Metadata and one record per turn; a larger file is something else and would not fit into memory
const MAX_BYTES = 16 << 20;

const SESSIONS = join("sessions", "cli");

/** Paths of the sessions folder, relative to a root that contains it. */
const LAYOUTS = [SESSIONS, join(".kiro", SESSIONS)];

/** Hooks report no path: the session is in one of these folders, or in several. */
const knownFolders = ({ home, roots = [] }: TranscriptQuery): readonly string[] => [
  join(home, ".kiro", SESSIONS),
  ...roots.flatMap((root) => [root, ...LAYOUTS.map((tail) => join(root, tail))]),
];

const isSession = (name: string): boolean =>
  name.endsWith(".json") && (SAFE_ID.test(basename(name, ".json")) || UUID.test(name));

/** Sync programs and users make copies, whose names contain the session's id. */
const isCopyOf = (path: string, sessionId: string): boolean => {
  const name = basename(path, ".json");
  return name !== sessionId && UUID.exec(name)?.[0] === sessionId;
};

const sessionFiles = new FolderMemory((folder, names) => names.filter(isSession).map((name) => join(folder, name)));

async function refuseTooLarge(path: string): Promise<void> {
  const bytes = (await stat(path).catch(() => undefined))?.size ?? 0;
  if (bytes > MAX_BYTES) throw new Error(`it has ${bytes} bytes; one file of more than ${MAX_BYTES} is not read`);
}

/** `undefined` if the file is missing or is no session. */
async function load(path: string, roots: readonly string[] | undefined): Promise<SessionFile | undefined> {
  const read = await readSmall(path, MAX_BYTES, roots);
  if (read === undefined) return undefined;
  const found = read.stats;
  const session = parsedObject(read.bytes);
  const id = asString(session?.["session_id"]);
  if (session === undefined || id === undefined) return undefined;
  const state = asObject(session["session_state"]) ?? {};
  const info = asObject(asObject(state["rts_model_state"])?.["model_info"]);
  return {
    id,
    parent: asString(session["parent_session_id"]),
    createdMs: asTimeMs(session["created_at"]) ?? found.mtimeMs,
    updatedMs: asTimeMs(session["updated_at"]) ?? found.mtimeMs,
    cwd: asString(session["cwd"]),
    agentName: asString(state["agent_name"]),
    model: asString(info?.["model_id"]),
    turns: asArray(asObject(state["conversation_metadata"])?.["user_turn_metadatas"]),
    fields: session,
  };
}

/** Subagents of subagents too. Files last written before the session began cannot be its subagents. */
async function descendants(
  folders: readonly string[],
  root: string,
  sinceMs: number,
  roots: readonly string[] | undefined,
): Promise<readonly TranscriptFile[]> {
  const found: { readonly id: string; readonly path: string }[] = [];
  const parents = new Map<string, string>();
  for (const path of folders.flatMap((folder) => sessionFiles.of(folder))) {
    // A file without a parent never gets one, so it is not read again
    const known = heads.get(path);
    if (known !== undefined && known.head.parent === undefined) continue;
    const child = await headOf(path, roots, sinceMs);
    if (child?.parent === undefined) continue;
    parents.set(child.id, child.parent);
    found.push({ id: child.id, path });
  }
  return found.filter(({ id }) => topmostAncestor(parents, id) === root).map(({ id, path }) => ({ path, agentId: id }));
}

/** The topmost known ancestor of a session. */
function topmostAncestor(parents: ReadonlyMap<string, string>, id: string, depth = 0): string {
  const parent = parents.get(id);
  return parent === undefined || depth > MAX_DEPTH ? id : topmostAncestor(parents, parent, depth + 1);
}
const MAX_DEPTH = 32;

type Head = Pick<SessionFile, "id" | "parent" | "createdMs">;

/**
 * Head of a session file. Every session needs the heads of all others, so each file is read once until it changes.
 *
 * @param sinceMs files last written before this are not read
 */
async function headOf(path: string, roots: readonly string[] | undefined, sinceMs = 0): Promise<Head | undefined> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined || found.mtimeMs < sinceMs) return undefined;
  const known = heads.get(path);
  if (known?.size === found.size && known.mtimeMs === found.mtimeMs) return known.head;
  const session = await load(path, roots);
  if (session === undefined) return undefined;
  const head = { id: session.id, parent: session.parent, createdMs: session.createdMs };
  if (heads.size >= MAX_HEADS) heads.clear();
  heads.set(path, { size: found.size, mtimeMs: found.mtimeMs, head });
  return head;
}
const MAX_HEADS = 50_000;
const heads = new Map<string, { readonly size: number; readonly mtimeMs: number; readonly head: Head }>();

function entriesOf(session: SessionFile, agentId: string | undefined): readonly TranscriptEntry[] {
  const facts = defined<EntryOf<"session">>({
    kind: "session",
    key: "session",
    timeMs: session.createdMs,
    cwd: session.cwd,
    parentSessionId: agentId === undefined ? session.parent : undefined,
  });
  // If a subagent's session is requested by its own id, only its parent is reported; the rest is read with the parent
  if (agentId === undefined) return session.parent === undefined ? [facts, ...usageOf(session)] : [facts];
  const subagent = defined<EntryOf<"subagent">>({
    kind: "subagent",
    key: `subagent:${agentId}`,
    timeMs: session.createdMs,
    agentId,
    agentType: session.agentName,
  });
  return [subagent, ...usageOf(session, agentId)];
}

/**
 * Turns with real counts. Zeros beside credits are placeholders: unknown, never 0. If a session only has placeholders, it reports
 * no usage. Beside real counts, placeholders mark the usage as incomplete.
 */
function usageOf(session: SessionFile, agentId?: string): readonly TranscriptEntry[] {
  const turns = session.turns.map((value) => asObject(value) ?? {});
  if (!turns.some(countsOf)) return [];
  return turns.flatMap((turn, at) => {
    const usage = countsOf(turn);
    if (usage === undefined && !isBilled(turn)) return [];
    const endMs = asTimeMs(turn["end_timestamp"]) ?? session.updatedMs;
    return [
      defined<EntryOf<"model_call">>({
        kind: "model_call",
        key: `${agentId === undefined ? "" : `${agentId}:`}turn:${loopOf(turn) ?? at}`,
        timeMs: endMs,
        agentId,
        model: asString(turn["model"]) ?? session.model,
        startMs: endMs - durationMs(turn["turn_duration"]),
        endMs,
        usage,
        nanoCredits: creditsOf(turn),
        complete: true,
        covers: "turn",
      }),
    ];
  });
}

const isBilled = (turn: Fields): boolean => (creditsOf(turn) ?? 0) > 0;

const creditsOf = (turn: Fields): number | undefined =>
  sumKnown(asArray(turn["metering_usage"]).map((use) => asNanoUnits(asObject(use)?.["value"])));

function countsOf(turn: Fields): TokenUsage | undefined {
  const reportedInput = asCount(turn["input_token_count"]);
  const output = asCount(turn["output_token_count"]);
  const cacheRead = asCount(turn["cache_read_input_token_count"]);
  const cacheWrite = asCount(turn["cache_write_input_token_count"]);
  if (!sumKnown([reportedInput, output])) return undefined;
  // Not documented whether input includes the cache: assume so, unless the cache is larger
  const cached = sumKnown([cacheRead, cacheWrite]);
  const isBeside = cached !== undefined && reportedInput !== undefined && cached > reportedInput;
  const input = isBeside ? reportedInput + cached : reportedInput;
  return defined<TokenUsage>({
    input,
    output,
    cacheRead,
    cacheWrite,
  });
}

/** Identifies a turn's record, which is rewritten under the same loop id while the turn runs. */
function loopOf(turn: Fields): string | undefined {
  const loop = asObject(turn["loop_id"]);
  const rand = loop?.["rand"];
  const agent = asString(asObject(loop?.["agent_id"])?.["name"]) ?? "";
  return typeof rand === "number" || typeof rand === "string" ? `${agent}:${rand}` : undefined;
}

function durationMs(value: unknown): number {
  const duration = asObject(value);
  return (asCount(duration?.["secs"]) ?? 0) * 1000 + Math.round((asCount(duration?.["nanos"]) ?? 0) / 1e6);
}
