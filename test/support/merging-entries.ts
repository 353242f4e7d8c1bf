import type { TranscriptEntry } from "#core/model/transcript.ts";
import fc from "./properties.ts";

const count = fc.nat(3);
const maybe = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: undefined, freq: 2 });
/** Few values, so that ties and contradictions are common. */
const word = fc.constantFrom("alder", "birch", "cedar");
const timeMs = fc.integer({ min: 1_000, max: 1_003 });

const usage = record({
  input: count,
  output: count,
  cacheRead: maybe(count),
  cacheWrite: maybe(count),
  cacheWrite1h: maybe(count),
  reasoning: maybe(count),
});
/** The usage in records of one request: its input with the cache, an output that grows, or both. */
const parts = fc
  .record({ output: maybe(fc.integer({ min: 1, max: 3 })), knowsInput: fc.boolean() })
  .filter(({ output, knowsInput }) => output !== undefined || knowsInput)
  .map(({ output, knowsInput }) => ({
    ...(knowsInput && { input: 3, cacheRead: 2 }),
    ...(output !== undefined && { output, reasoning: output - 1 }),
  }));
/** Records with usage always name its model. */
const withModel = <T extends { readonly usage?: unknown; readonly model?: string }>(call: T): T =>
  call.usage === undefined || call.model !== undefined ? call : { ...call, model: "dogwood" };
const at = { timeMs, globalKey: maybe(word), promptKey: maybe(word), agentId: maybe(word) };

/** Entries with the same key; every other member may differ. */
const files = fc.array(
  fc.oneof(
    fc.record({ path: word, operation: fc.constant("update" as const) }),
    fc.record({ path: word, added: fc.constantFrom(0, 1), removed: fc.constant(2), startLine: fc.constant(3) }),
  ),
  { minLength: 1, maxLength: 2 },
);

export const ENTRIES: Readonly<Record<string, fc.Arbitrary<TranscriptEntry>>> = {
  model_call: record({
    kind: fc.constant("model_call" as const),
    key: fc.constant("response:1"),
    ...at,
    responseId: maybe(word),
    requestId: maybe(word),
    model: maybe(word),
    requestedModel: maybe(word),
    startMs: maybe(timeMs),
    endMs: timeMs,
    usage: maybe(usage),
    complete: fc.boolean(),
    finishReason: maybe(fc.constantFrom("end_turn", "tool_use")),
    purpose: maybe(fc.constantFrom("compaction", "memory")),
    tier: maybe(fc.constantFrom("priority", "unknown")),
    webSearches: maybe(fc.nat(9)),
    nanoCredits: maybe(fc.nat(9)),
  }).map(withModel),
  "model_call with parts of one usage": record({
    kind: fc.constant("model_call" as const),
    key: fc.constant("response:1"),
    ...at,
    model: fc.constant("dogwood"),
    endMs: timeMs,
    usage: maybe(parts),
    complete: fc.boolean(),
  }),
  tool_use: record({
    kind: fc.constant("tool_use" as const),
    key: fc.constant("use:1"),
    ...at,
    callId: fc.constant("1"),
    name: word,
    executable: maybe(word),
    files: maybe(files),
  }),
  tool_result: record({
    kind: fc.constant("tool_result" as const),
    key: fc.constant("result:1"),
    ...at,
    callId: fc.constant("1"),
    status: fc.constantFrom("success" as const, "error" as const, "denied" as const),
    errorType: maybe(word),
    exitCode: maybe(count),
    linesAdded: maybe(count),
    spawnedAgentId: maybe(word),
    files: maybe(files),
  }),
  prompt: record({
    kind: fc.constant("prompt" as const),
    key: fc.constant("prompt:1"),
    ...at,
    origin: fc.constantFrom("human" as const, "machine" as const, "command" as const),
    length: maybe(count),
  }),
  subagent: record({
    kind: fc.constant("subagent" as const),
    key: fc.constant("subagent:1"),
    ...at,
    agentType: maybe(word),
    parentCallId: maybe(word),
  }),
  reported_usage: record({
    kind: fc.constant("reported_usage" as const),
    key: fc.constant("reported_usage"),
    ...at,
    byModel: fc.dictionary(word, usage, { maxKeys: 2 }),
  }),
};

// --- internal ---

/** Drops members that are `undefined`, as JSON does. */
function record<T extends object>(shape: { [K in keyof T]: fc.Arbitrary<T[K]> }) {
  return fc.record(shape).map(
    (value) =>
      Object.fromEntries(Object.entries(value).filter(([, v]) => v !== undefined)) as {
        [K in keyof T as undefined extends T[K] ? never : K]: T[K];
      } & { [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined> },
  );
}
