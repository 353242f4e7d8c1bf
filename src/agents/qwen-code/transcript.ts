// Layout as written by 0.24.4, recorded 2026-11-25; token rule in README.md beside this file

import type { EntryOf, Offset } from "#core/model/transcript.ts";
import type { ReadOptions, TranscriptBatch, TranscriptFile, TranscriptReader } from "#core/model/transcript-reader.ts";
import { isSequenceNumber } from "#core/rules/call-ids.ts";
import { defined } from "#kit/objects.ts";
import { readSmall } from "#kit/open.ts";
import { asString, asTimeMs, parsedObject } from "../shared/payload/json.ts";
import { type LineRules, readLines } from "../shared/transcript/read-lines.ts";
import { lineContent } from "./content.ts";
import { type ChatState, chatState } from "./line-context.ts";
import { KINDS, readLine } from "./lines.ts";
import { subagentIdOf } from "./names.ts";
import { files, locate, roots } from "./places.ts";

export default { roots, locate, files, read } satisfies TranscriptReader;

function read(file: TranscriptFile, from: Offset, options: ReadOptions = {}): AsyncGenerator<TranscriptBatch> {
  const rules: LineRules<ChatState> = {
    kinds: KINDS,
    state: chatState,
    read: (line, state, sink) => readLine(line, state, sink, file.agentId),
    content: lineContent,
    begin: async ({ timeMs }, isFresh) =>
      isFresh && file.agentId !== undefined ? [await subagentOf(file, file.agentId, timeMs)] : [],
  };
  return readLines(file, from, options, rules);
}

// --- internal ---

const MAX_META_BYTES = 1 << 20;

/** What started a subagent, from the file beside its own. */
async function subagentOf(file: TranscriptFile, agentId: string, readMs: number): Promise<EntryOf<"subagent">> {
  const meta = await readSmall(file.path.replace(/\.jsonl$/, ".meta.json"), MAX_META_BYTES, file.roots);
  const about = parsedObject(meta?.bytes ?? "{}") ?? {};
  const started = asString(about["toolUseId"]);
  const isCounted = started !== undefined && isSequenceNumber(started);
  return defined<EntryOf<"subagent">>({
    kind: "subagent",
    key: `subagent:${agentId}`,
    timeMs: asTimeMs(about["createdAt"]) ?? readMs,
    agentId,
    agentType: asString(about["agentType"]),
    parentCallId: isCounted ? undefined : started,
    parentGivenId: isCounted ? started : undefined,
    parentAgentId: subagentIdOf(about["parentAgentId"]),
  });
}
