// Files of 0.225.2, recorded 2026-11-25; token rules in README.md beside this file
import { statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Content } from "#core/model/content.ts";
import type { EntryOf, Offset, TokenUsage, TranscriptEntry } from "#core/model/transcript.ts";
import type { ReadOptions, TranscriptBatch, TranscriptFile, TranscriptReader } from "#core/model/transcript-reader.ts";
import { EntrySink } from "#core/rules/entry-sink.ts";
import { defined } from "#kit/objects.ts";
import { readSmallSync } from "#kit/open.ts";
import { contentOf, plainText } from "../shared/payload/content.ts";
import { asArray, asCount, asObject, asString, parsedObject } from "../shared/payload/json.ts";
import { type LineRules, readLines } from "../shared/transcript/read-lines.ts";
import { type FileContext, KINDS, type LineState, readLine } from "./lines.ts";
import { files, headOf, locate, PARENT_OF, roots, SETTINGS_FILE, sessionOf, sumsFileOf } from "./places.ts";

export default { roots, locate, files, read } satisfies TranscriptReader;

async function* read(file: TranscriptFile, from: Offset, options: ReadOptions = {}): AsyncGenerator<TranscriptBatch> {
  if (file.key?.startsWith(PARENT_OF) === true) {
    yield { entries: parentEntry(file), next: { bytes: 0, memo: {} }, unreadable: 0 };
    return;
  }
  const context: FileContext = {
    path: file.path,
    sessionId: sessionOf(file.path, file.roots),
    agentId: file.agentId,
    roots: file.roots,
  };
  let { state } = from.memo as { readonly state?: LineState };
  let next = from;
  for await (const batch of readLines(file, from, options, rulesOf(context))) {
    next = batch.next;
    ({ state } = next.memo as { readonly state?: LineState });
    yield batch;
  }
  // The file with the sum is rewritten after every call, also when no line is new
  const own = new EntrySink();
  if (state !== undefined) putSum(context, state, options.sink ?? own);
  const entries = own.take();
  if (entries.length > 0) yield { entries, next, unreadable: 0 };
}

// --- internal ---

const rulesOf = (context: FileContext): LineRules<LineState> => ({
  kinds: KINDS,
  state: (timeMs, stored) => ({ timeMs, ...stored }),
  read: (line, state, sink) => readLine(line, context, state, sink),
  content: lineContent,
});

/** The session's token sum. It replaces the sum of an earlier reading; without an answer there is none. */
function putSum(
  { path, sessionId, agentId, roots }: FileContext,
  state: LineState,
  sink: EntrySink | ReadOptions["sink"],
) {
  const { first, models = [] } = state;
  if (first === undefined) return;
  const usage = sumOf(path, roots);
  const key = `sum:${sessionId}`;
  sink?.modelCall(
    {
      key,
      timeMs: first.startMs,
      globalKey: key,
      promptKey: agentId === undefined ? first.key : undefined,
      agentId,
    },
    {
      // The sum of several models cannot be split
      model: models.length === 0 ? undefined : models.map((id) => modelName(id, path, roots)).join("+"),
      startMs: first.startMs,
      endMs: first.endMs,
      usage,
      complete: usage !== undefined,
      covers: "session",
    },
  );
}

/** A subagent's own session belongs to the session that started it. */
function parentEntry({ path, roots }: TranscriptFile): readonly EntryOf<"session">[] {
  const parentSessionId = headOf(path, roots)?.callerId;
  if (parentSessionId === undefined) return [];
  const key = `session:${sessionOf(path, roots)}`;
  return [{ kind: "session", key, timeMs: statSync(path).mtimeMs, parentSessionId }];
}

const OWN_MODEL = "custom:";
const MAX_BYTES = 4 << 20;

/**
 * A session's token sum so far, from the file beside its transcript. Droid's input excludes the cache. Its `thinkingTokens` are not
 * used: an estimate, or 0 where the provider reports none.
 *
 * @returns `undefined` if nothing is known: no file, or only zeros
 */
function sumOf(path: string, roots: readonly string[] | undefined): TokenUsage | undefined {
  const bytes = readSmallSync(sumsFileOf(path), MAX_BYTES, roots);
  const usage = asObject((bytes && parsedObject(bytes))?.["tokenUsage"]);
  const [input, output] = [asCount(usage?.["inputTokens"]), asCount(usage?.["outputTokens"])];
  const [cacheRead, cacheWrite] = [asCount(usage?.["cacheReadTokens"]), asCount(usage?.["cacheCreationTokens"])];
  const figures = [input, output, cacheRead, cacheWrite];
  if (figures.every((tokens) => (tokens ?? 0) === 0)) return undefined;
  const isWhole = input !== undefined && cacheRead !== undefined && cacheWrite !== undefined;
  return defined<TokenUsage>({
    input: isWhole ? input + cacheRead + cacheWrite : undefined,
    output,
    cacheRead,
    cacheWrite,
  });
}

/** The provider's name of a model. The user's own models have other ids, which only the settings resolve. */
function modelName(id: string, path: string, roots: readonly string[] | undefined): string {
  if (!id.startsWith(OWN_MODEL)) return id;
  const bytes = readSmallSync(join(dirname(dirname(dirname(path))), SETTINGS_FILE), MAX_BYTES, roots);
  const own = asArray((bytes && parsedObject(bytes))?.["customModels"]).map(asObject);
  return asString(own.find((model) => model?.["id"] === id)?.["model"]) ?? id;
}

/** The content of a line, for the facts that were read from it. A session has no record of each answer: the last one is its turn's. */
function lineContent(line: Buffer, entries: readonly TranscriptEntry[], { promptKey }: LineState): readonly Content[] {
  const isAnswer = promptKey !== undefined && line.includes('"assistant"');
  if (!isAnswer && !entries.some(({ kind }) => KINDS_WITH_CONTENT.has(kind))) return [];
  const m = asObject(parsedObject(line)?.["message"]);
  const blocks = asArray(m?.["content"]).map(asObject);
  const ofEntries = entries.flatMap((entry): readonly Content[] => {
    switch (entry.kind) {
      case "prompt":
        return contentOf(entry.key, "prompt", plainText(blocks));
      case "tool_use":
        return contentOf(entry.key, "arguments", blocks.find((block) => block?.["id"] === entry.callId)?.["input"]);
      case "tool_result": {
        const content = blocks.find((block) => block?.["tool_use_id"] === entry.callId)?.["content"];
        return contentOf(entry.key, "result", plainText(content) ?? content);
      }
      default:
        return [];
    }
  });
  if (!isAnswer || m?.["role"] !== "assistant" || m["visibility"] !== undefined) return ofEntries;
  const said = blocks.filter((block) => block?.["type"] === "text");
  return [...ofEntries, ...contentOf(`prompt:${promptKey}`, "answer", plainText(said))];
}

const KINDS_WITH_CONTENT: ReadonlySet<string> = new Set(["prompt", "tool_use", "tool_result"]);
