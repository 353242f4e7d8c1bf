// Files of 1.0.41, recorded 2026-11-25; token rules in README.md beside this file
import { statSync } from "node:fs";
import { basename, dirname } from "node:path";
import type { ReadOptions, TranscriptBatch, TranscriptFile, TranscriptReader } from "../../model/agent.ts";
import { defined } from "../../model/defined.ts";
import { type FactSink, putEntry } from "../../model/fact-sink.ts";
import type { EntryOf, Offset } from "../../model/transcript.ts";
import { asObject, asString, asTimeMs } from "../shared/payload/json.ts";
import { type LineRules, readLines } from "../shared/transcript/read-lines.ts";
import { lineContent } from "./content.ts";
import type { FileContext, LineState } from "./line-context.ts";
import { KINDS, readLine } from "./lines.ts";
import { files, locate, PARENT_OF, parentOf, rootOfFile, roots, summaryIn } from "./places.ts";

export default { roots, locate, files, read } satisfies TranscriptReader;

async function* read(file: TranscriptFile, from: Offset, options: ReadOptions = {}): AsyncGenerator<TranscriptBatch> {
  if (file.key?.startsWith(PARENT_OF) === true) {
    yield { entries: parentEntry(file), next: { bytes: 0, memo: {} }, unreadable: 0 };
    return;
  }
  for await (const { state: _, isFirst: __, isFresh: ___, ...batch } of readLines(file, from, options, rulesOf(file)))
    yield batch;
}

// --- internal ---

function rulesOf(file: TranscriptFile): LineRules<LineState> {
  const folder = dirname(file.path);
  const context: FileContext = {
    sessionId: basename(folder),
    folder,
    agentId: file.agentId,
    searched: [rootOfFile(file.path)],
    roots: file.roots,
  };
  return {
    kinds: KINDS,
    state: (timeMs, stored) => ({ timeMs, ...stored }),
    read(line, state, sink) {
      const kind = readLine(line, context, state, sink);
      if (state.isTold === undefined && file.agentId === undefined) putSession(context, state, sink);
      return kind;
    },
    content: lineContent,
  };
}

/** The session's folder and branch, which only its summary has. */
function putSession({ folder, sessionId, roots }: FileContext, state: LineState, sink: FactSink): void {
  const summary = summaryIn(folder, roots);
  if (summary === undefined) return;
  state.isTold = true;
  const cwd = asString(asObject(summary["info"])?.["cwd"]);
  const gitBranch = asString(summary["head_branch"]);
  putEntry(
    sink,
    defined<EntryOf<"session">>({
      kind: "session",
      key: `session:${sessionId}`,
      timeMs: asTimeMs(summary["created_at"]) ?? state.timeMs,
      cwd,
      gitBranch,
      branches: "once",
    } as EntryOf<"session">),
  );
}

/** A subagent's own session belongs to the session that started it. */
function parentEntry({ path, roots }: TranscriptFile): readonly EntryOf<"session">[] {
  const childId = basename(dirname(path));
  const timeMs = asTimeMs(summaryIn(dirname(path), roots)?.["created_at"]) ?? statSync(path).mtimeMs;
  const parentSessionId = parentOf([rootOfFile(path)], childId);
  if (parentSessionId === undefined) return [];
  return [{ kind: "session", key: `session:${childId}`, timeMs, parentSessionId }];
}
