// base_state.json as written by 1.16.0 (openhands/sdk/llm/utils/metrics.py and telemetry.py), read 2026-11-26
import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import type { TokenUsage } from "#core/model/transcript.ts";
import { defined } from "#kit/objects.ts";
import { readSmallSync } from "#kit/open.ts";
import { knownProvider } from "../shared/names/providers.ts";
import { asArray, asCount, asObject, asString, type Fields, parsedObject } from "../shared/payload/json.ts";
import { STATE_FILE, SUBAGENTS_FOLDER } from "./places.ts";

/** What is needed of a conversation's state. */
export interface State {
  readonly cwd: string | undefined;
  readonly model: Model;
  /** The calls of each use of a model, oldest first: the agent's, the condenser's, and repeats of subagents' (`task:…`). */
  readonly uses: ReadonlyMap<string, readonly RecordedCall[]>;
}

export interface Model {
  readonly model: string | undefined;
  readonly provider: string | undefined;
}

/** One answer of a model. The lists grow; a run adds its calls when it ends. */
export interface RecordedCall extends Model {
  readonly responseId: string;
  /** Absent if the provider sent none. */
  readonly usage: TokenUsage | undefined;
  /** From the request to the answer. */
  readonly latencyMs: number | undefined;
}

/** @returns `undefined` if the file does not exist, or is just being written */
export function readState(path: string, roots: readonly string[] | undefined): State | undefined {
  const bytes = readSmallSync(path, MAX_BYTES, roots);
  const o = bytes && parsedObject(bytes);
  if (o === undefined) return undefined;
  const llm = asObject(asObject(o["agent"])?.["llm"]);
  const metrics = Object.entries(asObject(asObject(o["stats"])?.["usage_to_metrics"]) ?? {});
  return {
    cwd: asString(asObject(o["workspace"])?.["working_dir"]),
    model: modelOf(llm?.["model"], llm),
    uses: new Map(metrics.map(([use, one]) => [use, callsIn(asObject(one) ?? {}, llm)])),
  };
}

/** Whether these calls are a subagent's, which its own files have too. */
export const isRepeat = (use: string): boolean => use.startsWith("task:");

/** Response ids in the state files of all subagents below a conversation. */
export function subagentsResponses(path: string, roots: readonly string[] | undefined): ReadonlySet<string> {
  const folder = join(dirname(path), SUBAGENTS_FOLDER);
  const found = new Set<string>();
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    for (const calls of readState(join(folder, name, STATE_FILE), roots)?.uses.values() ?? [])
      for (const { responseId } of calls) found.add(responseId);
  }
  return found;
}

// --- internal ---

/** A call has 400 bytes. */
const MAX_BYTES = 64 << 20;

function callsIn(metrics: Fields, llm: Fields | undefined): readonly RecordedCall[] {
  const usages = byResponse(metrics["token_usages"]);
  const latencies = byResponse(metrics["response_latencies"]);
  return [...new Set([...latencies.keys(), ...usages.keys()])].map((responseId): RecordedCall => {
    const [usage, timed] = [usages.get(responseId), latencies.get(responseId)];
    const seconds = timed?.["latency"];
    return {
      responseId,
      ...modelOf(usage?.["model"] ?? timed?.["model"], llm),
      usage: usage && usageOf(usage),
      latencyMs: typeof seconds === "number" && seconds > 0 ? Math.round(seconds * 1000) : undefined,
    };
  });
}

function byResponse(list: unknown): ReadonlyMap<string, Fields> {
  const found = new Map<string, Fields>();
  for (const one of asArray(list).map(asObject)) {
    const id = asString(one?.["response_id"]);
    if (one !== undefined && id !== undefined) found.set(id, one);
  }
  return found;
}

/** Input includes the cache, output includes reasoning. All zeros: the provider sent no usage. */
function usageOf(usage: Fields): TokenUsage | undefined {
  const [input, output] = [asCount(usage["prompt_tokens"]), asCount(usage["completion_tokens"])];
  if ((input ?? 0) + (output ?? 0) === 0) return undefined;
  return defined<TokenUsage>({
    input,
    output,
    cacheRead: asCount(usage["cache_read_tokens"]),
    cacheWrite: asCount(usage["cache_write_tokens"]),
    reasoning: asCount(usage["reasoning_tokens"]),
  });
}

/** LiteLLM's names begin with the provider, if it is not evident from the model. With an address, it can be any server. */
function modelOf(value: unknown, llm: Fields | undefined): Model {
  const name = asString(value);
  const [, prefix, rest] = /^([A-Za-z0-9_.-]{1,64})\/(.+)$/.exec(name ?? "") ?? [];
  if (prefix === undefined || rest === undefined) return { model: name, provider: undefined };
  const isOwnServer = asString(llm?.["base_url"]) !== undefined;
  const provider = API_PROVIDERS.has(prefix)
    ? isOwnServer
      ? undefined
      : prefix
    : knownProvider(ALIASES.get(prefix) ?? prefix);
  return { model: rest, provider };
}

/** Their interfaces are those of other servers too. */
const API_PROVIDERS: ReadonlySet<string> = new Set(["anthropic", "openai"]);

/** LiteLLM's names of providers that have another one elsewhere. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ["fireworks_ai", "fireworks"],
  ["together_ai", "together"],
  ["vertex_ai", "vertex"],
]);
