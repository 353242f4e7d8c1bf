// Line shapes as recorded from 2.0.77, 2.1.29, 2.1.197 and 2.1.329, read 2026-11-21; token rule in README.md beside this file
import { readdir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type {
  ReadOptions,
  TranscriptBatch,
  TranscriptFile,
  TranscriptQuery,
  TranscriptReader,
} from "../../model/agent.ts";
import type { ToldContent } from "../../model/content.ts";
import { defined } from "../../model/defined.ts";
import type { Offset, TranscriptEntry } from "../../model/transcript.ts";
import { asObject, asString } from "../shared/json.ts";
import { openJsonl } from "../shared/jsonl.ts";
import { Kinds } from "../shared/kinds.ts";
import { readSmall } from "../shared/open.ts";
import { lineContent } from "./content.ts";
import { type LineState, readLine } from "./lines.ts";

export default { roots, locate, files, read } satisfies TranscriptReader;

/** `~/.claude`, or where `CLAUDE_CONFIG_DIR` moved it; some versions keep it below `~/.config`. */
function roots(home: string, env: Readonly<Record<string, string | undefined>>): readonly string[] {
  const moved = asString(env["CLAUDE_CONFIG_DIR"]);
  const folders = moved === undefined ? [join(home, ".claude"), join(home, ".config", "claude")] : [moved];
  return folders.map((folder) => join(folder, "projects"));
}

/** Main session files below `~/.claude/projects`, in the order of their directories. */
async function* locate(home: string): AsyncGenerator<TranscriptQuery & { readonly path: string }> {
  const projects = join(home, ".claude", "projects");
  for (const project of await namesIn(projects)) {
    for (const name of await namesIn(join(projects, project))) {
      if (!name.endsWith(".jsonl") || name.startsWith("agent-")) continue;
      yield { sessionId: basename(name, ".jsonl"), path: join(projects, project, name), home };
    }
  }
}

/** The main file, then `<session>/subagents/*.jsonl`, then the `agent-*.jsonl` beside it that 2.0.77 wrote. */
async function files({ path, sessionId, roots }: TranscriptQuery): Promise<readonly TranscriptFile[]> {
  const main = path === undefined ? undefined : await findMain(path, sessionId);
  if (main === undefined) return [];
  const folder = dirname(main);
  const below = join(folder, sessionId, "subagents");
  const found: TranscriptFile[] = [{ path: main }];
  for (const name of await namesIn(below)) {
    const agentId = agentIdOf(name);
    if (agentId !== undefined) found.push({ path: join(below, name), agentId });
  }
  for (const name of await namesIn(folder)) {
    const agentId = agentIdOf(name);
    const path = join(folder, name);
    if (agentId !== undefined && (await belongsTo(path, sessionId, roots))) found.push({ path, agentId });
  }
  return found;
}

async function* read(file: TranscriptFile, from: Offset, wanted: ReadOptions = {}): AsyncGenerator<TranscriptBatch> {
  const memo = from.memo as Partial<Memo>;
  const jsonl = await openJsonl(file.path, {
    fromBytes: from.bytes,
    roots: file.roots,
    ...(memo.fingerprint !== undefined && { fingerprint: memo.fingerprint }),
  });
  try {
    const fresh = jsonl.fromBytes === 0;
    let state: LineState = fresh || memo.state === undefined ? { timeMs: jsonl.modifiedMs } : memo.state;
    let first = file.agentId !== undefined;
    const kinds = new Kinds(KINDS);
    for await (const batch of jsonl.batches) {
      const entries: TranscriptEntry[] = [];
      const content: ToldContent[] = [];
      let unreadable = batch.tooLong;
      for (const line of batch.lines) {
        const result = readLine(line, state, file.agentId);
        if (result === undefined) unreadable++;
        else {
          state = result.state;
          entries.push(...result.entries);
          if (wanted.content === true) content.push(...lineContent(line, result.entries));
          if (result.entries.length === 0) kinds.look(line);
        }
      }
      if (first && file.agentId !== undefined) {
        entries.unshift(await subagentEntry(file, file.agentId, entries[0]?.timeMs ?? state.timeMs));
        first = false;
      }
      const memoNow: Memo = { state, fingerprint: await jsonl.fingerprint(batch.endBytes) };
      const next = { bytes: batch.endBytes, memo: { ...memoNow } };
      yield { entries, next, unreadable, content, records: batch.lines.length, unknownKinds: kinds.take() };
    }
  } finally {
    await jsonl.close();
  }
}

// --- internal ---

/** Kinds of lines that were seen, or that public readers know, told or not. */
const KINDS = `user assistant system attachment api-request api-request-blob api-request-shape atis-latch
  cost-state last-prompt tools-used queue-operation mode permission-mode progress file-history-snapshot relocated
  worktree-state summary custom-title agent-name agent-color tag pr-link ai-title content-replacement`;

interface Memo {
  readonly state: LineState;
  readonly fingerprint: string;
}

/** EnterWorktree moves the file to another project's folder while the session runs. */
async function findMain(mainPath: string, sessionId: string): Promise<string | undefined> {
  if (await exists(mainPath)) return mainPath;
  const projects = dirname(dirname(mainPath));
  for (const project of await namesIn(projects)) {
    const path = join(projects, project, `${basename(sessionId)}.jsonl`);
    if (await exists(path)) return path;
  }
  return undefined;
}

const agentIdOf = (name: string): string | undefined => /^agent-([A-Za-z0-9_-]+)\.jsonl$/.exec(name)?.[1];

/** 2.0.77 keeps all sessions' subagents in one folder; their lines carry the parent's session id. */
async function belongsTo(path: string, sessionId: string, roots: TranscriptQuery["roots"]): Promise<boolean> {
  // What cannot be opened, or is no file, is nobody's
  const jsonl = await openJsonl(path, { fromBytes: 0, chunkBytes: 16_384, maxLineBytes: 1 << 20, roots }).catch(
    () => undefined,
  );
  if (jsonl === undefined) return false;
  try {
    for await (const { lines } of jsonl.batches) {
      return lines.some((line) => line.includes(`"sessionId":${JSON.stringify(sessionId)}`));
    }
    return false;
  } finally {
    await jsonl.close();
  }
}

const MAX_META_BYTES = 1 << 20;

/** The file beside a subagent's transcript says which call started it; absent before 2.1.197. */
async function subagentEntry(
  { path, roots }: TranscriptFile,
  agentId: string,
  timeMs: number,
): Promise<TranscriptEntry> {
  const beside = await readSmall(path.replace(/\.jsonl$/, ".meta.json"), MAX_META_BYTES, roots);
  const meta = asObject(tryParse(beside?.bytes.toString("utf8") ?? "{}")) ?? {};
  return defined<Extract<TranscriptEntry, { kind: "subagent" }>>({
    kind: "subagent",
    key: `subagent:${agentId}`,
    timeMs,
    globalKey: undefined,
    promptKey: undefined,
    agentId,
    agentType: asString(meta["agentType"]),
    parentCallId: asString(meta["toolUseId"]),
    parentAgentId: asString(meta["parentAgentId"]),
  });
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    (s) => s.isFile(),
    () => false,
  );

const namesIn = (folder: string): Promise<string[]> =>
  readdir(folder).then(
    (names) => names.sort(),
    () => [],
  );
