import type { EntryOf, TokenUsage } from "#core/model/transcript.ts";
import { sumOfAll } from "#kit/numbers.ts";
import { defined } from "#kit/objects.ts";
import { asCode, asCount, asObject, asString } from "../shared/payload/json.ts";
import { factBase, type LineContext, lineFactBase } from "./line-context.ts";

// Lines of the agent itself. Facts identified only by their line's id count in the session that the line was copied from.

export function systemLine(context: LineContext): void {
  const { o, originalId, sink } = context;
  if (originalId !== undefined) return;
  switch (o["subtype"]) {
    case "api_error": {
      const httpStatus = asCount(asObject(o["error"])?.["status"]);
      const errorType = httpStatus === undefined ? "_OTHER" : String(httpStatus);
      sink.other({ kind: "model_error", ...lineFactBase(context, "error"), errorType, httpStatus, final: false });
      break;
    }
    case "compact_boundary": {
      const trigger = asCode(asObject(o["compactMetadata"])?.["trigger"]);
      sink.other({ kind: "compaction", ...lineFactBase(context, "compaction"), trigger });
      break;
    }
    case "turn_duration":
      sink.other({ kind: "turn_end", ...lineFactBase(context, "turn_end"), durationMs: asCount(o["durationMs"]) });
      break;
    default:
  }
}

/** With `--json-schema` a turn ends with a tool call, after which the model writes nothing. */
export function attachmentLine(context: LineContext): void {
  const { o, agentId, originalId, sink } = context;
  if (asObject(o["attachment"])?.["type"] !== "structured_output") return;
  if (agentId !== undefined || originalId !== undefined) return;
  sink.other({ kind: "turn_end", ...lineFactBase(context, "turn_end") });
}

/** An answer that is an error message. */
export function modelError(context: LineContext): void {
  const { o, originalId, sink } = context;
  if (o["isApiErrorMessage"] !== true || originalId !== undefined) return;
  sink.other({
    kind: "model_error",
    ...lineFactBase(context, "error"),
    errorType: asCode(o["apiErrorType"]) ?? asCode(o["error"]) ?? "_OTHER",
    httpStatus: asCount(o["apiErrorStatus"]),
    final: true,
  });
}

/** A request that was sent; its answer refers to it. */
export function requestLine({ o, timeMs, state }: LineContext): void {
  const id = asString(o["id"]);
  if (id === undefined) return;
  const kept = Object.entries(state.requests ?? {}).slice(1 - REMEMBERED_REQUESTS);
  state.requests = Object.fromEntries([...kept, [id, timeMs]]);
}

/** The agent's own sums, over all processes of the session and with side requests. They are never added to sums of calls. */
export function costLine(context: LineContext): void {
  const byModel: EntryOf<"reported_usage">["byModel"] = {};
  for (const [model, value] of Object.entries(asObject(context.o["modelUsage"]) ?? {})) {
    const u = asObject(value) ?? {};
    const cacheRead = asCount(u["cacheReadInputTokens"]);
    const cacheWrite = asCount(u["cacheCreationInputTokens"]);
    const costUsd = u["costUSD"];
    byModel[model] = {
      // The agent always writes all figures, so without one of them the sum is unknown
      ...defined<TokenUsage>({
        input: sumOfAll(asCount(u["inputTokens"]), cacheRead, cacheWrite),
        output: asCount(u["outputTokens"]),
        cacheRead,
        cacheWrite,
      }),
      ...(typeof costUsd === "number" && costUsd >= 0 && { costUsd }),
      ...defined({ webSearches: asCount(u["webSearchRequests"]) || undefined }),
    };
  }
  context.sink.other({ kind: "reported_usage", ...factBase(context, "reported_usage"), byModel });
}

// --- internal ---

const REMEMBERED_REQUESTS = 8;
