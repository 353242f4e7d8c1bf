// Line shapes of 1.0.102, recorded and by the schema that the program ships, read 2026-11-21; token rule in README.md beside this file
import { readdir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { TranscriptBatch, TranscriptFile, TranscriptQuery, TranscriptReader } from "../../model/agent.ts";
import type { Offset, TranscriptEntry } from "../../model/transcript.ts";
import { openJsonl } from "../shared/jsonl.ts";
import { isFolderName } from "./adapter.ts";
import type { LineState } from "./here.ts";
import { readLine } from "./lines.ts";

export default { locate, files, read } satisfies TranscriptReader;

/** Session files below `~/.copilot/session-state`, one folder each. Another home is not looked for. */
async function* locate(home: string): AsyncGenerator<TranscriptQuery & { readonly path: string }> {
  const state = stateBelow(home);
  const names = await readdir(state).catch(() => []);
  for (const sessionId of names.sort()) {
    const path = join(state, sessionId, FILE);
    if (isFolderName(sessionId) && (await isFile(path))) yield { sessionId, path, home };
  }
}

/** One file holds a session and all its subagents. A path that names another session's file is that of the parent. */
async function files({ sessionId, path, home }: TranscriptQuery): Promise<readonly TranscriptFile[]> {
  if (!isFolderName(sessionId)) return [];
  const told = path !== undefined && basename(dirname(path)) === sessionId ? [path] : [];
  const beside = path === undefined ? [] : [join(dirname(dirname(path)), sessionId, FILE)];
  for (const place of [...told, ...beside, join(stateBelow(home), sessionId, FILE)]) {
    if (await isFile(place)) return [{ path: place }];
  }
  return [];
}

async function* read(file: TranscriptFile, from: Offset): AsyncGenerator<TranscriptBatch> {
  const memo = from.memo as Partial<Memo>;
  const jsonl = await openJsonl(file.path, {
    fromBytes: from.bytes,
    ...(memo.fingerprint !== undefined && { fingerprint: memo.fingerprint }),
  });
  try {
    const fresh = jsonl.fromBytes === 0;
    let state: LineState = fresh || memo.state === undefined ? { timeMs: jsonl.modifiedMs } : memo.state;
    for await (const batch of jsonl.batches) {
      const entries: TranscriptEntry[] = [];
      let unreadable = batch.tooLong;
      for (const line of batch.lines) {
        const result = readLine(line, state);
        if (result === undefined) unreadable++;
        else {
          state = result.state;
          entries.push(...result.entries);
        }
      }
      const memoNow: Memo = { state, fingerprint: await jsonl.fingerprint(batch.endBytes) };
      yield { entries, next: { bytes: batch.endBytes, memo: { ...memoNow } }, unreadable };
    }
  } finally {
    await jsonl.close();
  }
}

// --- internal ---

const FILE = "events.jsonl";

interface Memo {
  readonly state: LineState;
  readonly fingerprint: string;
}

const stateBelow = (home: string): string => join(home, ".copilot", "session-state");

const isFile = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
