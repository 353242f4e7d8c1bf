// Line shapes as recorded from 2.0.77, 2.1.29, 2.1.197 and 2.1.329, read 2026-11-21; token rule in README.md beside this file
import { isAbsolute, join } from "node:path";
import type { ReadOptions, TranscriptBatch, TranscriptFile, TranscriptReader } from "../../model/agent.ts";
import type { ContentUpdate } from "../../model/content.ts";
import type { Offset, TranscriptEntry } from "../../model/transcript.ts";
import { asString } from "../shared/payload/json.ts";
import { openJsonl } from "../shared/transcript/jsonl.ts";
import { Kinds } from "../shared/transcript/kinds.ts";
import { readSmall } from "../shared/transcript/open.ts";
import { lineContent } from "./content.ts";
import { KINDS } from "./line-kinds.ts";
import { type LineState, type Memo, readLine } from "./lines.ts";
import { files, locate } from "./places.ts";
import { scanSession } from "./scan/scan.ts";
import { MAX_META_BYTES, metaPath, subagentEntry } from "./subagent.ts";

export default { roots, locate, files, read, scan: scanSession } satisfies TranscriptReader;

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
      const content: ContentUpdate[] = [];
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
        const meta = await readSmall(metaPath(file.path), MAX_META_BYTES, file.roots);
        entries.unshift(subagentEntry(file.agentId, meta?.bytes, entries[0]?.timeMs ?? state.timeMs));
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
