// Usage as APIs and libraries document it, read 2026-11-28; rules in docs/openhook.md

import { TOKEN_KINDS } from "#core/model/token-kinds.ts";
import type { TokenUsage } from "#core/model/transcript.ts";
import { sumKnown, withParts } from "#kit/numbers.ts";
import { asObject, asString, type Fields } from "../shared/payload/json.ts";

/** What a usage object looks like. Stored with the session and shown by `show`. */
export type Shape =
  | "anthropic-messages"
  | "openai-chat"
  | "openai-responses"
  | "gemini"
  | "vercel-ai-sdk"
  | "gen-ai-attributes";

export interface ReadUsage {
  readonly shape: Shape;
  /** Absent: its figures are no whole numbers, or all 0, which means that nothing was reported. */
  readonly usage?: TokenUsage;
}

/**
 * Reads an object that has token counts as one of the shapes.
 *
 * @param anthropic what the Vercel AI SDK adds about a call of Anthropic's API, whose input its versions 4 and 5 give without the cache
 * @returns `undefined` if it has none
 */
export function usageOf(o: Fields, anthropic?: Fields): ReadUsage | undefined {
  const names = SHAPES.find(({ input, output, is }) => has(o, [...input, ...output]) && is?.(o) !== false);
  if (names === undefined) return undefined;
  const given = anthropic === undefined ? o : { ...o, anthropic };
  const read: TokenUsage = Object.fromEntries(TOKEN_KINDS.map((kind) => [kind, first(given, names[kind])]));
  const counts: Counts = {
    ...read,
    input: withParts(read.input, first(o, names.besideInput)),
    total: first(o, TOTAL),
  };
  const output = wholeOutput(counts, names.shape);
  const lifetimes = sumKnown([counts.cacheWrite5m, counts.cacheWrite1h]);
  // LangChain gives 0 beside the lifetimes
  const isSplit = counts.cacheWrite === 0 && has(o, INPUT_DETAILS);
  const cacheWrite = isSplit ? (lifetimes ?? 0) : (counts.cacheWrite ?? lifetimes);
  const input = wholeInput({ ...counts, cacheWrite, output }, names.cache?.(given) ?? "inside");
  const usage = known({ ...counts, input, output, cacheWrite });
  const isReported = (usage.input ?? 0) + (usage.output ?? 0) > 0;
  return { shape: names.shape, ...(isReported && { usage }) };
}

/** Whether two sums are of the same tokens. */
export const isSame = (a: TokenUsage | undefined, b: TokenUsage | undefined): boolean =>
  a !== undefined && b !== undefined && a.input === b.input && a.output === b.output;

/** Attributes of a span, also as OTLP writes them: a list of keys and values. */
export function attributesOf(value: unknown): Fields | undefined {
  if (!Array.isArray(value)) return asObject(value);
  return Object.fromEntries(
    value.slice(0, MAX_ATTRIBUTES).flatMap((one) => {
      const [key, given] = [asString(asObject(one)?.["key"]), asObject(asObject(one)?.["value"])];
      return key === undefined || given === undefined ? [] : [[key, Object.values(given)[0]]];
    }),
  );
}

// --- internal ---

const MAX_ATTRIBUTES = 256;

/** Whether the input includes the cache, if the record shows it. */
type Cache = "inside" | "outside" | "unproven";

/** Where a shape has its counts: `a/b` is the member `b` of the member `a`. The first one that is present counts. */
interface Names extends Readonly<Partial<Record<keyof TokenUsage, readonly string[]>>> {
  readonly shape: Shape;
  readonly input: readonly string[];
  readonly output: readonly string[];
  /** Input that `input` does not include. */
  readonly besideInput?: readonly string[];
  /** Tells it from other shapes with the same names. */
  readonly is?: (o: Fields) => boolean;
  /** @default always inside */
  readonly cache?: (o: Fields) => Cache;
}

const words = (text: string): readonly string[] => text.split(/\s+/);

const TOTAL = words("total_tokens totalTokens totalTokenCount total_token_count");
const INPUT_DETAILS = words("input_tokens_details input_token_details");
const OUTPUT_DETAILS = words("output_tokens_details output_token_details");
const OF_MESSAGES = words("cache_read_input_tokens cache_creation_input_tokens cache_creation");
const OTHER_CACHE_READ = words("cached_input_tokens cached_tokens cache_read_tokens");
/** With these names it is not the Vercel AI SDK but an API that counts the cache separately. */
const OF_OTHER_API = words("cacheReadInputTokens cacheWriteInputTokens cacheReadTokens cacheCreationTokens");

/** The first one that fits. */
const SHAPES: readonly Names[] = [
  {
    shape: "gemini",
    input: words("promptTokenCount prompt_token_count"),
    besideInput: words("toolUsePromptTokenCount tool_use_prompt_token_count"),
    output: words("candidatesTokenCount candidates_token_count responseTokenCount response_token_count"),
    cacheRead: words("cachedContentTokenCount cached_content_token_count"),
    reasoning: words("thoughtsTokenCount thoughts_token_count"),
  },
  {
    shape: "openai-chat",
    input: ["prompt_tokens"],
    output: ["completion_tokens"],
    cacheRead: words(
      "prompt_tokens_details/cached_tokens prompt_cache_hit_tokens cache_read_input_tokens cached_tokens",
    ),
    cacheWrite: words("prompt_tokens_details/cache_write_tokens cache_creation_input_tokens"),
    reasoning: ["completion_tokens_details/reasoning_tokens"],
  },
  {
    shape: "anthropic-messages",
    is: (o) =>
      !has(o, INPUT_DETAILS) && (has(o, OF_MESSAGES) || !has(o, [...TOTAL, ...OUTPUT_DETAILS, ...OTHER_CACHE_READ])),
    input: ["input_tokens"],
    output: ["output_tokens"],
    cacheRead: ["cache_read_input_tokens"],
    cacheWrite: ["cache_creation_input_tokens"],
    cacheWrite5m: ["cache_creation/ephemeral_5m_input_tokens"],
    cacheWrite1h: ["cache_creation/ephemeral_1h_input_tokens"],
    reasoning: ["output_tokens_details/reasoning_tokens", "reasoning_output_tokens"],
    cache: () => "outside",
  },
  {
    // The realtime API and LangChain write `input_token_details`
    shape: "openai-responses",
    input: ["input_tokens"],
    output: ["output_tokens"],
    cacheRead: [
      ...words("input_tokens_details/cached_tokens input_token_details/cached_tokens input_token_details/cache_read"),
      ...OTHER_CACHE_READ,
    ],
    cacheWrite: words(`input_tokens_details/cache_write_tokens input_token_details/cache_creation cache_write_tokens
      cache_creation_tokens`),
    cacheWrite5m: ["input_token_details/ephemeral_5m_input_tokens"],
    cacheWrite1h: ["input_token_details/ephemeral_1h_input_tokens"],
    reasoning: words("output_tokens_details/reasoning_tokens output_token_details/reasoning reasoning_output_tokens"),
    cache: (o) => (has(o, INPUT_DETAILS) ? "inside" : "unproven"),
  },
  {
    // Versions 4, 5, 6 with details, and models of version 6, whose counts are objects
    shape: "vercel-ai-sdk",
    input: words("inputTokens/total inputTokens promptTokens"),
    output: words("outputTokens/total outputTokens completionTokens"),
    cacheRead: words(`inputTokens/cacheRead inputTokenDetails/cacheReadTokens cachedInputTokens cacheReadInputTokens
      cacheReadTokens anthropic/cacheReadInputTokens`),
    cacheWrite: words(`inputTokens/cacheWrite inputTokenDetails/cacheWriteTokens cacheWriteInputTokens
      cacheCreationTokens anthropic/cacheCreationInputTokens`),
    reasoning: words("outputTokens/reasoning outputTokenDetails/reasoningTokens reasoningTokens"),
    cache: (o) => {
      if (has(o, ["anthropic"]) && !has(o, ["inputTokens/total", "inputTokenDetails"])) return "outside";
      return has(o, OF_OTHER_API) ? "unproven" : "inside";
    },
  },
  {
    shape: "gen-ai-attributes",
    input: words("gen_ai.usage.input_tokens gen_ai.usage.prompt_tokens"),
    output: words("gen_ai.usage.output_tokens gen_ai.usage.completion_tokens"),
    cacheRead: words("gen_ai.usage.cache_read.input_tokens gen_ai.usage.cache_read_input_tokens"),
    cacheWrite: words(`gen_ai.usage.cache_creation.input_tokens gen_ai.usage.cache_write.input_tokens
      gen_ai.usage.cache_creation_input_tokens`),
    reasoning: words("gen_ai.usage.reasoning.output_tokens gen_ai.usage.reasoning_tokens"),
  },
];

/** Counts as written: `NaN` for one that is present and no whole number, so that every sum with it is unknown too. */
interface Counts extends TokenUsage {
  readonly total: number | undefined;
}

/** Input with the cache; `NaN` if nothing shows whether the given count includes it. More cache than input cannot be inside it. */
function wholeInput({ input, output, cacheRead, cacheWrite, total }: Counts, cache: Cache): number | undefined {
  if (input === undefined) return undefined;
  const beside = (cacheRead ?? 0) + (cacheWrite ?? 0);
  if (cache === "outside" || beside > input) return input + beside;
  if (cache === "inside" || beside === 0) return input;
  if (total === input + beside + (output ?? 0)) return input + beside;
  return total === input + (output ?? 0) ? input : Number.NaN;
}

/**
 * Output with its reasoning. Gemini counts it separately, unless the total shows that it is included. Some servers of other APIs do so
 * too: then the total shows it, or there is more of it than output.
 */
function wholeOutput({ input = 0, output, reasoning, total }: Counts, shape: Shape): number | undefined {
  if (reasoning === undefined) return output;
  if (shape === "gemini") {
    // It leaves out 0
    const candidates = output ?? (total === input + reasoning ? 0 : undefined);
    const isIncluded = candidates !== 0 && total === input + (candidates ?? 0);
    return isIncluded ? candidates : withParts(candidates, reasoning);
  }
  const isSeparate = reasoning > (output ?? 0) || total === input + (output ?? 0) + reasoning;
  return isSeparate ? withParts(output, reasoning) : output;
}

const known = (counts: Counts): TokenUsage =>
  Object.fromEntries(
    TOKEN_KINDS.map((kind) => [kind, counts[kind]] as const).filter(([, n]) => n !== undefined && !Number.isNaN(n)),
  );

/** The member at a path; `null` is the same as none. */
const at = (o: Fields, path: string): unknown =>
  path.split("/").reduce<unknown>((value, name) => asObject(value)?.[name], o) ?? undefined;

const has = (o: Fields, paths: readonly string[]): boolean => paths.some((path) => at(o, path) !== undefined);

/** The first of these members that is present. Some senders write numbers as text. */
function first(o: Fields, paths: readonly string[] = []): number | undefined {
  const value = paths.map((path) => at(o, path)).find((one) => one !== undefined);
  if (value === undefined) return undefined;
  const count = typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : value;
  return typeof count === "number" && Number.isSafeInteger(count) && count >= 0 ? count : Number.NaN;
}
