import { UNKNOWN_TIER } from "#core/model/model-call.ts";
import type { TokenUsage } from "#core/model/transcript.ts";
import { isRandomId } from "#core/rules/call-ids.ts";
import { withParts } from "#kit/numbers.ts";
import { asCode, asCount, asString, asTimeMs, type Fields } from "../shared/payload/json.ts";
import { type Answer, factBase, type LineContext } from "./line-context.ts";
import { agentOf, isHiddenAgent, subagentIdOf } from "./names.ts";

/** `qwen-code.api_response`: one answer of a model, of the main agent, a subagent or one that the program hides. */
export function modelCall(context: LineContext, event: Fields): void {
  const { uuid, state, sink } = context;
  const responseId = asString(event["response_id"]);
  const endMs = asTimeMs(event["event.timestamp"]) ?? context.timeMs;
  const key = responseId === undefined ? `answer:${uuid}` : `response:${responseId}:${repetition(responseId, event)}`;
  const place = factBase({ ...context, timeMs: endMs }, key, key, agentOfEvent(event));
  const durationMs = asCount(event["duration_ms"]);
  const authType = asString(event["auth_type"]);
  const usage = usageOf(event, authType);
  sink.modelCall(place, {
    responseId,
    model: asString(event["model"]),
    provider: PROVIDERS.get(authType ?? ""),
    startMs: durationMs === undefined ? undefined : endMs - durationMs,
    endMs,
    usage,
    complete: true,
    purpose: purposeOf(event),
    // Without reads nothing shows that writes are missing
    tier: authType === ANTHROPIC && usage?.cacheRead === undefined ? UNKNOWN_TIER : undefined,
  });
  if (responseId === undefined) return;
  const answer: Answer = { responseId, place, endMs };
  state.answers = [...(state.answers ?? []), answer].slice(-MAX_ANSWERS);
}

/** Notes that an answer called tools, so that its turn continues. */
export function asksForTools({ sink }: LineContext, { place, responseId, endMs }: Answer): void {
  sink.modelCall(place, { responseId, endMs, complete: true, asksForTools: true });
}

/** `qwen-code.api_error`: a request that failed. If the program retries, a later answer shows it. */
export function modelError(context: LineContext, event: Fields): void {
  const status = asCount(event["status_code"]);
  context.sink.other({
    kind: "model_error",
    ...factBase(context, `error:${context.uuid}`, `error:${context.uuid}`, agentOfEvent(event)),
    errorType: asCode(asString(event["error_type"])?.replace(/:.*/, "")) ?? status?.toString() ?? "_OTHER",
    httpStatus: status,
    final: true,
  });
}

// --- internal ---

/** Enough for all answers whose tools can still run. */
const MAX_ANSWERS = 32;
const ANTHROPIC = "anthropic";

/** By the kind of authentication. `openai` means any server with that interface. */
const PROVIDERS: ReadonlyMap<string, string> = new Map([
  [ANTHROPIC, "anthropic"],
  ["gemini", "gcp.gemini"],
  ["vertex-ai", "gcp.vertex_ai"],
]);

/** Some local servers have only a few response ids: then the time belongs to the identity. */
const repetition = (responseId: string, event: Fields): string =>
  isRandomId(responseId) ? "" : (asString(event["event.timestamp"]) ?? "");

function agentOfEvent(event: Fields): string | undefined {
  return isHidden(event) ? undefined : subagentIdOf(event["subagent_id"] ?? agentOf(event["prompt_id"]));
}

const isHidden = (event: Fields): boolean =>
  [event["subagent_id"], event["subagent_name"], agentOf(event["prompt_id"])].some((id) => isHiddenAgent(asString(id)));

/** Requests without a prompt or call: the program compacts the conversation, or runs an internal agent. */
function purposeOf(event: Fields): "compaction" | "memory" | "other" | undefined {
  const promptId = asString(event["prompt_id"]) ?? "";
  if (promptId.startsWith("compress-")) return "compaction";
  if (!isHidden(event)) return undefined;
  return `${promptId} ${asString(event["subagent_name"]) ?? ""}`.includes("memory") ? "memory" : "other";
}

/**
 * Input includes cache reads. Output includes thoughts if the total is input and output. All zeros: the provider reported nothing.
 * From Anthropic, input also includes cache writes, which are written nowhere, and thoughts are not counted separately.
 */
function usageOf(event: Fields, authType: string | undefined): TokenUsage | undefined {
  const [input, output] = [asCount(event["input_token_count"]), asCount(event["output_token_count"])];
  const cacheRead = asCount(event["cached_content_token_count"]);
  const thoughts = asCount(event["thoughts_token_count"]);
  const total = asCount(event["total_token_count"]);
  if ((input ?? 0) + (output ?? 0) + (cacheRead ?? 0) + (total ?? 0) === 0) return undefined;
  const isSeparate =
    input !== undefined && output !== undefined && (thoughts ?? 0) > 0 && total === input + output + (thoughts ?? 0);
  return {
    input,
    output: isSeparate ? withParts(output, thoughts) : output,
    cacheRead,
    reasoning: authType === ANTHROPIC && thoughts === 0 ? undefined : thoughts,
  };
}
