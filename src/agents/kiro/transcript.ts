// ~/.kiro/sessions/cli/<id>.json as several public readers parse it, read 2026-11-21; why only this much: README.md
import { readdir, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import type { TranscriptBatch, TranscriptFile, TranscriptQuery, TranscriptReader } from "../../model/agent.ts";
import { defined } from "../../model/defined.ts";
import type { EntryOf, Offset, TokenUsage, TranscriptEntry } from "../../model/transcript.ts";
import { asArray, asCount, asObject, asString, asTimeMs } from "../shared/json.ts";
import { readSmall } from "../shared/open.ts";

export default { roots, locate, files, read } satisfies TranscriptReader;

/** Nothing moves it. */
function roots(home: string): readonly string[] {
  return [folderOf(home)];
}

/** Sessions of the CLI's TUI, the only ones that are kept in files we can read. */
async function* locate(home: string): AsyncGenerator<TranscriptQuery & { readonly path: string }> {
  for (const name of await sessionFiles(folderOf(home))) {
    yield { sessionId: basename(name, ".json"), path: join(folderOf(home), name), home };
  }
}

/** The session's own file, then those of the subagents below it, which are sessions that name their parent. */
async function files({ sessionId, path, home, roots }: TranscriptQuery): Promise<readonly TranscriptFile[]> {
  if (!SAFE_ID.test(sessionId)) return [];
  const main = path ?? join(folderOf(home), `${sessionId}.json`);
  const session = await load(main, roots);
  if (session === undefined) {
    await refuseTooLarge(main);
    return [];
  }
  const children = session.parent === undefined ? await descendants(main, sessionId, session.createdMs, roots) : [];
  return [{ path: main }, ...children];
}

/** The file is written anew each time: all of it, each time. */
async function* read(file: TranscriptFile, _from: Offset): AsyncGenerator<TranscriptBatch> {
  const session = await load(file.path, file.roots);
  const { size } = await stat(file.path);
  const next: Offset = { bytes: size, memo: {} };
  yield session === undefined
    ? { entries: [], next, unreadable: 1 }
    : { entries: entriesOf(session, file.agentId), next, unreadable: 0 };
}

// --- internal ---

type Fields = Readonly<Record<string, unknown>>;

interface SessionFile {
  readonly id: string;
  readonly parent: string | undefined;
  readonly createdMs: number;
  readonly updatedMs: number;
  readonly cwd: string | undefined;
  readonly agentName: string | undefined;
  readonly model: string | undefined;
  readonly turns: readonly unknown[];
}

const SAFE_ID = /^[A-Za-z0-9_-]+$/;
// Metadata and one record per turn; a larger file is none of these, and all of it is held
const MAX_BYTES = 16 << 20;

const folderOf = (home: string): string => join(home, ".kiro", "sessions", "cli");

const sessionFiles = (folder: string): Promise<readonly string[]> =>
  readdir(folder).then(
    (names) => names.filter((name) => name.endsWith(".json") && SAFE_ID.test(basename(name, ".json"))).sort(),
    () => [],
  );

async function refuseTooLarge(path: string): Promise<void> {
  const bytes = (await stat(path).catch(() => undefined))?.size ?? 0;
  if (bytes > MAX_BYTES) throw new Error(`it has ${bytes} bytes; one file of more than ${MAX_BYTES} is not read`);
}

/** `undefined` for a file that is not there, or is no session. */
async function load(path: string, roots: readonly string[] | undefined): Promise<SessionFile | undefined> {
  const read = await readSmall(path, MAX_BYTES, roots);
  if (read === undefined) return undefined;
  const found = read.stats;
  const session = asObject(tryParse(read.bytes.toString("utf8")));
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
  };
}

/** Subagents of subagents too. Files that were last written before the session began are nobody's children here. */
async function descendants(
  main: string,
  root: string,
  sinceMs: number,
  roots: readonly string[] | undefined,
): Promise<readonly TranscriptFile[]> {
  const folder = join(main, "..");
  const parents = new Map<string, { readonly path: string; readonly parent: string }>();
  for (const name of await sessionFiles(folder)) {
    const path = join(folder, name);
    const found = await stat(path).catch(() => undefined);
    if (path === main || found === undefined || found.mtimeMs < sinceMs) continue;
    const session = await load(path, roots);
    if (session?.parent !== undefined) parents.set(session.id, { path, parent: session.parent });
  }
  const below = (id: string, seen: readonly string[] = []): boolean => {
    const parent = parents.get(id)?.parent;
    if (parent === undefined || seen.includes(id)) return false;
    return parent === root || below(parent, [...seen, id]);
  };
  return [...parents].filter(([id]) => below(id)).map(([agentId, { path }]) => ({ path, agentId }));
}

function entriesOf(session: SessionFile, agentId: string | undefined): readonly TranscriptEntry[] {
  const facts = defined<EntryOf<"session">>({
    kind: "session",
    key: "session",
    timeMs: session.createdMs,
    globalKey: undefined,
    promptKey: undefined,
    agentId: undefined,
    agentVersion: undefined,
    gitBranch: undefined,
    cwd: session.cwd,
    parentSessionId: agentId === undefined ? session.parent : undefined,
  });
  // Asked for by its own name, a subagent's session says whose it is; all else of it comes with that one
  if (agentId === undefined) return session.parent === undefined ? [facts, ...usageOf(session)] : [facts];
  const subagent = defined<EntryOf<"subagent">>({
    kind: "subagent",
    key: `subagent:${agentId}`,
    timeMs: session.createdMs,
    globalKey: undefined,
    promptKey: undefined,
    agentId,
    agentType: session.agentName,
    parentCallId: undefined,
    parentAgentId: undefined,
  });
  return [subagent, ...usageOf(session, agentId)];
}

/** Turns whose counts are counts. Zeros beside credits are placeholders: unknown, and never told as zero. */
function usageOf(session: SessionFile, agentId?: string): readonly TranscriptEntry[] {
  return session.turns.flatMap((value, at) => {
    const turn = asObject(value);
    const usage = turn === undefined ? undefined : countsOf(turn);
    if (turn === undefined || usage === undefined) return [];
    const endMs = asTimeMs(turn["end_timestamp"]) ?? session.updatedMs;
    return [
      defined<EntryOf<"model_call">>({
        kind: "model_call",
        key: `${agentId === undefined ? "" : `${agentId}:`}turn:${loopOf(turn) ?? at}`,
        timeMs: endMs,
        globalKey: undefined,
        promptKey: undefined,
        agentId,
        responseId: undefined,
        requestId: undefined,
        model: asString(turn["model"]) ?? session.model,
        requestedModel: undefined,
        startMs: endMs - durationMs(turn["turn_duration"]),
        endMs,
        usage,
        complete: true,
        finishReason: undefined,
        asksForTools: undefined,
        covers: "turn",
      }),
    ];
  });
}

function countsOf(turn: Fields): TokenUsage | undefined {
  const told = asCount(turn["input_token_count"]);
  const output = asCount(turn["output_token_count"]);
  const cacheRead = asCount(turn["cache_read_input_token_count"]);
  const cacheWrite = asCount(turn["cache_write_input_token_count"]);
  if (told === undefined || output === undefined || told + output === 0) return undefined;
  // Whether input includes the cache is not known; where it cannot, it does not
  const cached = (cacheRead ?? 0) + (cacheWrite ?? 0);
  const input = cached > told ? told + cached : told;
  return defined<TokenUsage>({
    input,
    output,
    cacheRead,
    cacheWrite,
    cacheWrite5m: undefined,
    cacheWrite1h: undefined,
    reasoning: undefined,
  });
}

/** A turn's record is written again while it grows, under the same loop id. */
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

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
