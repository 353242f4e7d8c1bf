import type { EntryOf, TranscriptEntry } from "#core/model/transcript.ts";
import { idInAgent } from "#core/rules/call-ids.ts";
import { defined } from "#kit/objects.ts";
import { asObject, asString } from "../shared/payload/json.ts";
import {
  answerEntries,
  answerKeyOf,
  type Base,
  callsIn,
  type Message,
  messagesIn,
  timestampOf,
  toolUsage,
} from "./messages.ts";
import { nestedEntries, resultEntry, useEntry } from "./tools.ts";

/**
 * Helpers: extensions start them as further processes of pi, without a session file. What they did is in the details of the tool's
 * result, message by message.
 *
 * @param callId the call that started them
 * @param base of that call
 */
export function helperEntries(details: unknown, callId: string, base: Base, depth = 0): readonly TranscriptEntry[] {
  if (depth > MAX_DEPTH) return [];
  return messagesIn(asObject(details)?.["results"])
    .slice(0, MAX_HELPERS)
    .flatMap((result) => oneHelper(result, callId, base, depth));
}

/** A helper has no id that its parent knows; its first answer identifies it. */
const helperIdOf = (firstAnswer: Message): string | undefined => answerKeyOf(firstAnswer);

// --- internal ---

const MAX_HELPERS = 200;
/** Helpers of helpers. */
const MAX_DEPTH = 8;

function oneHelper(result: Message, callId: string, parent: Base, depth: number): readonly TranscriptEntry[] {
  const messages = messagesIn(result["messages"]);
  const first = messages.find((message) => message["role"] === "assistant");
  const agentId = first === undefined ? undefined : helperIdOf(first);
  const startMs = messages.map(timestampOf).find((ms) => ms !== undefined);
  if (agentId === undefined || startMs === undefined) return [];
  const base = defined<{ promptKey: string; agentId: string }>({ promptKey: parent.promptKey, agentId });
  const subagent = defined<EntryOf<"subagent">>({
    kind: "subagent",
    key: `subagent:${agentId}`,
    globalKey: `subagent:${agentId}`,
    timeMs: startMs,
    ...base,
    agentType: asString(result["agent"]),
    parentCallId: callId,
    parentAgentId: parent.agentId,
  });
  let failures = 0;
  const entries = messages.flatMap((message, at): readonly TranscriptEntry[] => {
    const timeMs = timestampOf(message);
    if (timeMs === undefined) return [];
    if (message["role"] === "toolResult") {
      const given = asString(message["toolCallId"]);
      if (given === undefined) return [];
      const id = idInAgent(given, agentId);
      const below = helperEntries(message["details"], id, base, depth + 1);
      return [
        resultEntry(message, id, timeMs, base, agentId),
        ...nestedEntries(message, id, timeMs, base, agentId),
        ...below,
        ...toolUsage(message, base, below),
      ];
    }
    if (message["role"] !== "assistant") return [];
    // The answer's end is not recorded; the next message begins with the end of a tool
    const made = answerEntries(message, timeMs, base, failures);
    failures = message["stopReason"] === "error" ? failures + 1 : 0;
    return [
      ...made,
      ...callsIn(message).map((call) =>
        useEntry(call, idInAgent(String(call["id"]), agentId), timeMs, base, `${agentId}:${at}`),
      ),
    ];
  });
  return [subagent, ...entries];
}
