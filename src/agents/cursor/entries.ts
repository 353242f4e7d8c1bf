import type { IntakeFacts } from "#core/model/intake-facts.ts";
import type { EntryOf, TokenUsage, TranscriptEntry } from "#core/model/transcript.ts";
import { sumKnown, withParts } from "#kit/numbers.ts";
import { defined } from "#kit/objects.ts";
import { payloadDigest } from "../shared/payload/identity.ts";
import { asCount, asObject, asString } from "../shared/payload/json.ts";
import { subagentIdOf } from "./adapter.ts";
import { modelOf, type Payload, payloadOf } from "./payload.ts";

/**
 * Facts that only hooks report: a turn's tokens, interruptions, and the call that started a subagent. Transcripts have no ids,
 * times or tokens.
 */
export function toEntries(payload: unknown, intake: IntakeFacts): readonly TranscriptEntry[] {
  const read = payloadOf(payload, intake);
  if (read === undefined || !read.isNative) return [];
  switch (read.native) {
    case "stop": {
      const usage = [turnUsage(read, intake) ?? unknownUsage(read, payload, intake)];
      const cut = read.p["status"] === "aborted" ? [interruption(read, payload, intake)] : [];
      return [...usage, ...cut];
    }
    case "beforeSubmitPrompt":
      return turnModel(read, intake);
    case "afterAgentResponse":
      // Without a generation id it cannot be assigned to a turn
      if (read.promptId === undefined) return [];
      return [turnUsage(read, intake)].filter((sum) => sum !== undefined);
    case "subagentStart":
      return subagent(read, intake);
    default:
      return [];
  }
}

/** One line if the counters contradict their documentation. */
export function remarks(payload: unknown): readonly string[] {
  const p = asObject(payload);
  if (p === undefined || p["hook_event_name"] !== "stop" || !isExclusive(p)) return [];
  return ["the cache counters of a turn are larger than its input: input is read as uncached input"];
}

// --- internal ---

const at = (key: string, { promptId }: Payload, { timeMs }: IntakeFacts) =>
  defined<{ key: string; timeMs: number; promptKey: string }>({ key, timeMs, promptKey: promptId });

/**
 * Sums over all model calls of a turn. The response and the turn's end report them under one key, and the larger ones count.
 * Without a turn id the counters are the key: two turns of a conversation never have the same.
 */
function turnUsage(read: Payload, intake: IntakeFacts): EntryOf<"model_call"> | undefined {
  const usage = usageOf(read.p);
  return usage && { ...sumOf(read, read.promptId ?? payloadDigest(usage), intake), usage };
}

/** A turn that ended without usage, e.g. a cancelled one: its usage is unknown. */
const unknownUsage = (read: Payload, payload: unknown, intake: IntakeFacts): EntryOf<"model_call"> =>
  sumOf(read, read.promptId ?? payloadDigest(payload), intake);

/** The model of a turn, from its prompt, under the key of its sum: the turn's end may have no model. */
function turnModel(read: Payload, intake: IntakeFacts): readonly EntryOf<"model_call">[] {
  if (read.promptId === undefined || modelOf(read.p) === undefined) return [];
  return [{ ...sumOf(read, read.promptId, intake), complete: false }];
}

const sumOf = (read: Payload, turn: string, intake: IntakeFacts): EntryOf<"model_call"> => ({
  kind: "model_call",
  ...at(`usage:${read.session.id}:${turn}`, read, intake),
  endMs: intake.timeMs,
  complete: true,
  covers: "turn",
  ...defined<{ model: string }>({ model: modelOf(read.p) }),
});

/** Input includes cache reads and writes. */
function usageOf(p: Payload["p"]): TokenUsage | undefined {
  const input = asCount(p["input_tokens"]);
  const cacheRead = asCount(p["cache_read_tokens"]);
  const cacheWrite = asCount(p["cache_write_tokens"]);
  const counts = defined<TokenUsage>({
    input: isExclusive(p) ? withParts(input, cacheRead, cacheWrite) : input,
    output: asCount(p["output_tokens"]),
    cacheRead,
    cacheWrite,
  });
  return Object.keys(counts).length === 0 ? undefined : counts;
}

function isExclusive(p: Payload["p"]): boolean {
  const input = asCount(p["input_tokens"]);
  const cached = sumKnown([asCount(p["cache_read_tokens"]), asCount(p["cache_write_tokens"])]);
  return input !== undefined && cached !== undefined && cached > input;
}

const interruption = (read: Payload, payload: unknown, intake: IntakeFacts): EntryOf<"interruption"> => ({
  kind: "interruption",
  ...at(`interruption:${read.promptId ?? payloadDigest(payload)}`, read, intake),
});

/** The call that started a subagent. */
function subagent({ p }: Payload, { timeMs }: IntakeFacts): readonly EntryOf<"subagent">[] {
  const agentId = subagentIdOf(p);
  if (agentId === undefined) return [];
  return [
    {
      kind: "subagent",
      key: `subagent:${agentId}`,
      timeMs,
      agentId,
      ...defined<{ agentType: string; parentCallId: string }>({
        agentType: asString(p["subagent_type"]),
        parentCallId: asString(p["tool_call_id"]),
      }),
    },
  ];
}
