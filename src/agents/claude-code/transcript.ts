// Line shapes as recorded from 2.0.77, 2.1.29, 2.1.197 and 2.1.329, read 2026-11-21; token rule in README.md beside this file
import { isAbsolute, join } from "node:path";
import type { ReadOptions, TranscriptBatch, TranscriptFile, TranscriptReader } from "../../model/agent.ts";
import type { ToldContent } from "../../model/content.ts";
import { defined } from "../../model/defined.ts";
import type { Offset, TranscriptEntry } from "../../model/transcript.ts";
import { asObject, asString } from "../shared/json.ts";
import { openJsonl } from "../shared/jsonl.ts";
import { Kinds } from "../shared/kinds.ts";
import { readSmall } from "../shared/open.ts";
import { lineContent } from "./content.ts";
import { type LineState, readLine } from "./lines.ts";
import { files, locate } from "./places.ts";

export default { roots, locate, files, read } satisfies TranscriptReader;

/**
 * `~/.claude`, or where `CLAUDE_CONFIG_DIR` moved it; some versions keep it below `~/.config`. Claude Code takes the variable
 * for one folder; readers of usage take several with commas between, and whoever uses them has it set so.
 */
function roots(home: string, env: Readonly<Record<string, string | undefined>>): readonly string[] {
  const moved = asString(env["CLAUDE_CONFIG_DIR"]);
  const folders =
    moved === undefined
      ? [join(home, ".claude"), join(home, ".config", "claude")]
      : [...new Set([moved, ...listed(moved)])];
  return folders.map((folder) => join(folder, "projects"));
}

async function* read(file: TranscriptFile, from: Offset, wanted: ReadOptions = {}): AsyncGenerator<TranscriptBatch> {
  const memo = from.memo as Partial<Memo>;
  const jsonl = await openJsonl(file.path, {
    fromBytes: from.bytes,
    roots: file.roots,
    shortens: true,
    blocks: wanted.blocks,
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
          if (wanted.content === true) content.push(...lineContent(line.bytes, result.entries));
          if (result.entries.length === 0) kinds.look(line.bytes);
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

const listed = (moved: string): readonly string[] =>
  moved
    .split(",")
    .map((folder) => folder.trim())
    .filter((folder) => isAbsolute(folder));

/** Kinds of lines that were seen, or that public readers know, told or not. */
const KINDS = `user assistant system attachment api-request api-request-blob api-request-shape atis-latch
  cost-state last-prompt tools-used queue-operation mode permission-mode progress file-history-snapshot relocated
  worktree-state summary custom-title agent-name agent-color tag pr-link ai-title content-replacement`;

interface Memo {
  readonly state: LineState;
  readonly fingerprint: string;
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
