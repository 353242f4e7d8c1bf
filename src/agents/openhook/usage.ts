// Usage as APIs and libraries document it, read 2026-11-28; rules in docs/openhook.md
import type { TokenUsage } from "../../model/transcript.ts";
import { asObject, asString } from "../shared/payload/json.ts";

/** What a usage object looks like. Stored with the session and shown by `show`. */
export type Shape =
  | "anthropic-messages"
  | "openai-chat"
  | "openai-responses"
  | "gemini"
  | "vercel-ai-sdk"
  | "gen-ai-attributes";

export type Fields = Readonly<Record<string, unknown>>;

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
  const figures = figuresOf(o, anthropic);
  if (figures === undefined) return undefined;
  const { shape, cache, total: _, ...own } = figures;
  const output = wholeOutput(figures);
  const usage = known({ ...own, input: wholeInput(figures, output, cache), output });
  const isReported = (usage.input ?? 0) + (usage.output ?? 0) > 0;
  return { shape, ...(isReported && { usage }) };
}

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

/** Counts as written: `NaN` for one that is present and no whole number, so that every sum with it is unknown too. */
interface Figures {
  readonly shape: Shape;
  readonly input?: number | undefined;
  readonly output?: number | undefined;
  readonly cacheRead?: number | undefined;
  readonly cacheWrite?: number | undefined;
  readonly cacheWrite5m?: number | undefined;
  readonly cacheWrite1h?: number | undefined;
  readonly reasoning?: number | undefined;
  readonly total?: number | undefined;
  /** Whether the input includes the cache, if the record shows it. */
  readonly cache: "inside" | "outside" | "unproven";
}

function figuresOf(o: Fields, anthropic: Fields | undefined): Figures | undefined {
  const total = first(o, "total_tokens", "totalTokens", "totalTokenCount", "total_token_count");
  if (has(o, "promptTokenCount", "candidatesTokenCount", "prompt_token_count", "candidates_token_count"))
    return gemini(o, total);
  if (has(o, "prompt_tokens", "completion_tokens")) {
    const input = asObject(o["prompt_tokens_details"]) ?? {};
    return {
      shape: "openai-chat",
      input: tokens(o["prompt_tokens"]),
      output: tokens(o["completion_tokens"]),
      cacheRead: first(input, "cached_tokens") ?? first(o, "prompt_cache_hit_tokens", "cache_read_input_tokens"),
      cacheWrite: first(input, "cache_write_tokens") ?? first(o, "cache_creation_input_tokens"),
      reasoning: first(asObject(o["completion_tokens_details"]) ?? {}, "reasoning_tokens"),
      total,
      cache: "inside",
    };
  }
  if (has(o, "input_tokens", "output_tokens")) return inputTokens(o, total);
  if (has(o, "promptTokens", "completionTokens", "inputTokens", "outputTokens")) return aiSdk(o, total, anthropic);
  if (has(o, ...IN_ATTRIBUTES, ...OUT_ATTRIBUTES)) {
    return {
      shape: "gen-ai-attributes",
      input: first(o, ...IN_ATTRIBUTES),
      output: first(o, ...OUT_ATTRIBUTES),
      cacheRead: first(o, "gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_read_input_tokens"),
      cacheWrite: first(
        o,
        "gen_ai.usage.cache_creation.input_tokens",
        "gen_ai.usage.cache_write.input_tokens",
        "gen_ai.usage.cache_creation_input_tokens",
      ),
      reasoning: first(o, "gen_ai.usage.reasoning.output_tokens", "gen_ai.usage.reasoning_tokens"),
      cache: "inside",
    };
  }
  return undefined;
}

const IN_ATTRIBUTES = ["gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"];
const OUT_ATTRIBUTES = ["gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"];

/** Thoughts are beside the candidates, unless the total shows that they are among them. */
function gemini(o: Fields, total: number | undefined): Figures {
  const prompt = first(o, "promptTokenCount", "prompt_token_count");
  const toolUse = first(o, "toolUsePromptTokenCount", "tool_use_prompt_token_count");
  const input = prompt === undefined ? undefined : prompt + (toolUse ?? 0);
  const thoughts = first(o, "thoughtsTokenCount", "thoughts_token_count");
  // Left out if it is 0
  const isAllThoughts = thoughts !== undefined && total === (input ?? 0) + thoughts;
  const candidates = first(o, "candidatesTokenCount", "candidates_token_count") ?? (isAllThoughts ? 0 : undefined);
  const isAmong = (thoughts ?? 0) > 0 && candidates !== 0 && total === (input ?? 0) + (candidates ?? 0);
  return {
    shape: "gemini",
    input,
    output: candidates === undefined || isAmong ? candidates : candidates + (thoughts ?? 0),
    cacheRead: first(o, "cachedContentTokenCount", "cached_content_token_count"),
    reasoning: thoughts,
    cache: "inside",
  };
}

/** `input_tokens`: with details it is OpenAI's and includes the cache; with the names of the Messages API it excludes the cache. */
function inputTokens(o: Fields, total: number | undefined): Figures {
  const own = { input: tokens(o["input_tokens"]), output: tokens(o["output_tokens"]), total };
  const input = asObject(o["input_tokens_details"]) ?? asObject(o["input_token_details"]);
  const output = asObject(o["output_tokens_details"]) ?? asObject(o["output_token_details"]);
  const reasoning = first(output ?? {}, "reasoning_tokens", "reasoning") ?? first(o, "reasoning_output_tokens");
  if (input !== undefined) {
    const cacheRead = first(input, "cached_tokens", "cache_read");
    const cacheWrite = first(input, "cache_write_tokens", "cache_creation");
    return { shape: "openai-responses", ...own, cacheRead, cacheWrite, reasoning, cache: "inside" };
  }
  const lifetimes = asObject(o["cache_creation"]) ?? {};
  const cacheWrite5m = first(lifetimes, "ephemeral_5m_input_tokens");
  const cacheWrite1h = first(lifetimes, "ephemeral_1h_input_tokens");
  const written =
    cacheWrite5m === undefined && cacheWrite1h === undefined ? [] : [cacheWrite5m ?? 0, cacheWrite1h ?? 0];
  const isAnthropic = has(o, "cache_read_input_tokens", "cache_creation_input_tokens", "cache_creation");
  if (isAnthropic || (total === undefined && output === undefined && !has(o, ...CACHE_READ))) {
    const cacheRead = tokens(o["cache_read_input_tokens"]);
    const sum = written.length > 0 ? written.reduce((a, b) => a + b) : undefined;
    const cacheWrite = tokens(o["cache_creation_input_tokens"]) ?? sum;
    return {
      shape: "anthropic-messages",
      ...own,
      cacheRead,
      cacheWrite,
      cacheWrite5m,
      cacheWrite1h,
      reasoning,
      cache: "outside",
    };
  }
  const cacheWrite = first(o, "cache_write_tokens", "cache_creation_tokens");
  return {
    shape: "openai-responses",
    ...own,
    cacheRead: first(o, ...CACHE_READ),
    cacheWrite,
    reasoning,
    cache: "unproven",
  };
}
const CACHE_READ = ["cached_input_tokens", "cached_tokens", "cache_read_tokens"];

/** Version 4, version 5, version 6 with details, and models of version 6 with nested counts. */
function aiSdk(o: Fields, total: number | undefined, anthropic: Fields | undefined): Figures {
  const [input, output] = [asObject(o["inputTokens"]), asObject(o["outputTokens"])];
  const details = asObject(o["inputTokenDetails"]) ?? {};
  const isWhole = input !== undefined || o["inputTokenDetails"] !== undefined;
  // With these names it is not the SDK but an API that counts the cache separately
  const isBeside = has(o, "cacheReadInputTokens", "cacheWriteInputTokens", "cacheReadTokens", "cacheCreationTokens");
  return {
    shape: "vercel-ai-sdk",
    input: input === undefined ? first(o, "inputTokens", "promptTokens") : first(input, "total"),
    output: output === undefined ? first(o, "outputTokens", "completionTokens") : first(output, "total"),
    cacheRead:
      first(input ?? details, "cacheRead", "cacheReadTokens") ??
      first(o, "cachedInputTokens", "cacheReadInputTokens", "cacheReadTokens") ??
      first(anthropic ?? {}, "cacheReadInputTokens"),
    cacheWrite:
      first(input ?? details, "cacheWrite", "cacheWriteTokens") ??
      first(o, "cacheWriteInputTokens", "cacheCreationTokens") ??
      first(anthropic ?? {}, "cacheCreationInputTokens"),
    reasoning:
      first(output ?? asObject(o["outputTokenDetails"]) ?? {}, "reasoning", "reasoningTokens") ??
      first(o, "reasoningTokens"),
    total,
    cache: isWhole || anthropic === undefined ? (isBeside ? "unproven" : "inside") : "outside",
  };
}

/** Input with the cache; `NaN` if nothing shows whether the given count includes it. More cache than input cannot be inside it. */
function wholeInput(
  { input, cacheRead, cacheWrite, total }: Figures,
  output: number | undefined,
  cache: Figures["cache"],
): number | undefined {
  if (input === undefined) return undefined;
  const beside = (cacheRead ?? 0) + (cacheWrite ?? 0);
  if (cache === "outside" || beside > input) return input + beside;
  if (cache === "inside" || beside === 0) return input;
  if (total === input + beside + (output ?? 0)) return input + beside;
  return total === input + (output ?? 0) ? input : Number.NaN;
}

/** Output with its reasoning, which some servers count separately: then the total shows it, or there is more of it than output. */
function wholeOutput({ input, output, reasoning, total, shape }: Figures): number | undefined {
  if (output === undefined || reasoning === undefined || shape === "gemini") return output;
  const isSeparate = reasoning > output || (reasoning > 0 && total === (input ?? 0) + output + reasoning);
  return isSeparate ? output + reasoning : output;
}

const known = (usage: { readonly [K in keyof TokenUsage]: number | undefined }): TokenUsage =>
  Object.fromEntries(Object.entries(usage).filter(([, n]) => n !== undefined && !Number.isNaN(n))) as TokenUsage;

const has = (o: Fields, ...names: readonly string[]): boolean =>
  names.some((name) => o[name] !== undefined && o[name] !== null);

/** The first of these members that is present. */
const first = (o: Fields, ...names: readonly string[]): number | undefined =>
  tokens(o[names.find((name) => has(o, name)) ?? ""]);

/** Some senders write numbers as text. */
function tokens(value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined;
  const count = typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : value;
  return typeof count === "number" && Number.isSafeInteger(count) && count >= 0 ? count : Number.NaN;
}
