import type { TokenUsage } from "#core/model/transcript.ts";
import { knownProvider } from "../shared/names/providers.ts";
import { asCode, asCount, asObject, asString, type Fields } from "../shared/payload/json.ts";
import { factBase, type LineContext, placeKey } from "./line-context.ts";

/** `llm.request`: its model is the provider's name; `usage.record` only has the user's name for it. */
export function request({ o, timeMs, state }: LineContext): void {
  const [model, alias, provider] = [asString(o["model"]), asString(o["modelAlias"]), asString(o["provider"])];
  state.request = {
    ms: timeMs,
    ...(model !== undefined && { model }),
    ...(alias !== undefined && { alias }),
    ...(provider !== undefined && { provider }),
  };
}

/**
 * `usage.record`: one answer of a model, written before its tools run. The requests of compactions have the scope `session` and belong
 * to no step.
 */
export function usageRecord(context: LineContext): void {
  const { o, timeMs, state, sink } = context;
  const isStep = o["usageScope"] !== "session" && state.step !== undefined;
  const usage = asObject(o["usage"]) ?? {};
  // A line that was written twice has the same time both times: no model answers twice in one millisecond
  const isRepeated = isStep && state.answer?.endMs === timeMs;
  const answers = (state.answers ?? 0) + (isRepeated ? 0 : 1);
  // A step has one answer; its id is unique in the world. Others are identified by their time and figures
  const key = isStep
    ? `step:${state.step}${answers === 1 ? "" : `:${answers}`}`
    : placeKey(context, "usage", `${timeMs}:${Object.values(usage).join(":")}`);
  const place = factBase(context, key, key);
  const alias = asString(o["model"]);
  const sent = state.request;
  sink.modelCall(place, {
    model: sent?.alias === alias || sent?.model === alias ? (sent?.model ?? alias) : alias,
    provider: providerOf(sent?.provider),
    startMs: sent === undefined ? undefined : Math.min(sent.ms, timeMs),
    endMs: timeMs,
    usage: usageOf(usage),
    complete: true,
    purpose: o["usageScope"] === "session" ? "compaction" : undefined,
  });
  if (!isStep) return;
  state.answers = answers;
  state.answer = { place, endMs: timeMs };
}

/** A tool call of the current answer, so its turn continues. */
export function asksForTools({ state, sink }: LineContext): void {
  if (state.answer === undefined) return;
  const { place, endMs } = state.answer;
  sink.modelCall(place, { endMs, complete: true, asksForTools: true });
}

/** `step.end`: repeats the usage, and adds the provider's id of the answer. A step that was killed has none. */
export function stepEnd({ state, sink }: LineContext, event: Fields): void {
  const { answer } = state;
  [state.answer, state.step, state.answers] = [undefined, undefined, undefined];
  if (answer === undefined) return;
  const finishReason = asCode(event["rawFinishReason"]) ?? asCode(event["finishReason"]);
  sink.modelCall(answer.place, {
    responseId: asString(event["messageId"]),
    endMs: answer.endMs,
    complete: true,
    finishReason,
    asksForTools: event["finishReason"] === "tool_use" ? true : undefined,
  });
}

/** `turn.step.retrying`: a request failed, and the program tries again. */
export function retried(context: LineContext): void {
  const { o, timeMs, sink } = context;
  const status = asCount(o["statusCode"]);
  sink.other({
    kind: "model_error",
    ...factBase(context, placeKey(context, "error", asString(o["stepId"]) ?? timeMs)),
    errorType: asCode(o["errorName"]) ?? "_OTHER",
    httpStatus: status,
    final: false,
  });
}

// --- internal ---

/** `openai` means any server with that interface. */
const providerOf = (provider: string | undefined): string | undefined =>
  provider === undefined || provider.startsWith("openai")
    ? undefined
    : provider === "kimi"
      ? "moonshot_ai"
      : knownProvider(provider);

/** The parts do not overlap. Output includes reasoning, which is not counted separately. All zeros: the provider sent no usage. */
function usageOf(usage: Fields): TokenUsage | undefined {
  const [other, output] = [asCount(usage["inputOther"]), asCount(usage["output"])];
  const [cacheRead, cacheWrite] = [asCount(usage["inputCacheRead"]), asCount(usage["inputCacheCreation"])];
  const input = other === undefined ? undefined : other + (cacheRead ?? 0) + (cacheWrite ?? 0);
  if ((input ?? 0) + (output ?? 0) === 0) return undefined;
  return { input, output, cacheRead, cacheWrite };
}
