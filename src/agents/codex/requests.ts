import type { Extras } from "#core/model/event-schema.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import type { EntryOf, TranscriptEntry } from "#core/model/transcript.ts";
import { defined } from "#kit/objects.ts";
import { arrivalKey, payloadDigest } from "../shared/payload/identity.ts";
import { asObject, asString } from "../shared/payload/json.ts";
import { pathOf } from "./expand.ts";
import { usageOf } from "./usage.ts";

/**
 * Token usage of sessions without a file, and failed requests, which no file contains.
 *
 * The usage has no response id. Two requests of a turn never have the same figures, because the second one sends more. So the
 * payload is the key, and the event counts once even if its hook is registered twice.
 */
export function toEntries(payload: unknown, intake: IntakeFacts): readonly TranscriptEntry[] {
  const p = asObject(payload);
  const sessionId = asString(p?.["session_id"]);
  if (p === undefined || sessionId === undefined || p["hook_event_name"] !== "PostModelRequest") return [];
  const agentId = asString(p["agent_id"]);
  const at = (key: string) =>
    defined<Pick<EntryOf<"model_call">, "timeMs" | "promptKey" | "agentId"> & { key: string }>({
      key,
      timeMs: intake.timeMs,
      promptKey: agentId === undefined ? asString(p["turn_id"]) : undefined,
      agentId,
    });
  const failure = failureOf(p);
  if (failure.error_type !== undefined) {
    return [
      defined<EntryOf<"model_error">>({
        kind: "model_error",
        ...at(`error:${arrivalKey(intake)}`),
        errorType: failure.error_type,
        httpStatus: failure.http_status,
        // Whether it was retried is known only from later events
        final: false,
      }),
    ];
  }
  const usage = usageOf(p["token_usage"]);
  if (usage === undefined || pathOf(p["transcript_path"], intake) !== undefined) return [];
  return [
    defined<EntryOf<"model_call">>({
      kind: "model_call",
      ...at(`request:${payloadDigest(p)}`),
      model: asString(p["model"]),
      endMs: intake.timeMs,
      usage,
      complete: true,
    }),
  ];
}

/** Error type of a failed request; the message is not used because it can contain anything. */
export function failureOf(p: Readonly<Record<string, unknown>>): Extras {
  if (p["status"] !== "failed") return {};
  const message = asString(p["error"]) ?? "";
  const httpStatus = Number(/\b(?:last status:|status(?: code)?:?) (\d{3})\b/i.exec(message)?.[1]);
  if (Number.isInteger(httpStatus)) return { error_type: String(httpStatus), http_status: httpStatus };
  return { error_type: /^stream (?:disconnected|closed)/.test(message) ? "stream_disconnected" : "_OTHER" };
}
