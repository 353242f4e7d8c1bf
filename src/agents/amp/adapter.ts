// `amp plugins show-docs` of 0.0.1790142911 (https://ampcode.com/manual/plugin-api), read 2026-11-26; not run

import type { PayloadFacts, Recognition } from "#core/model/agent.ts";
import type { FileWrite } from "#core/model/file-write.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import type { EntryOf, TranscriptEntry } from "#core/model/transcript.ts";
import { type Frame, type FramedMembers, type FramedTable, framedAdapter } from "../shared/payload/framed-adapter.ts";
import { payloadDigest } from "../shared/payload/identity.ts";
import { asArray, asCount, asExitCode, asObject, asString, type Fields } from "../shared/payload/json.ts";

const SOURCE = "amp";

const EVENTS = {
  "agent.start": {
    type: "prompt.submit",
    read: ({ event }) => ({
      promptLength: asString(event["message"])?.length ?? asCount(event["length"]),
      extras: { prompt_id: messageKey(event["id"]) },
    }),
  },
  "agent.end": {
    type: "turn.end",
    or: ["turn.error"],
    read({ event }) {
      const prompt_id = messageKey(event["id"]);
      return event["status"] === "error"
        ? { type: "turn.error", extras: { prompt_id, error_type: "_OTHER" } }
        : { extras: { prompt_id } };
    },
  },
  "tool.result": { type: "tool.end", read: toolEnd },
} as const satisfies FramedTable<Frame & { readonly event: Fields }>;

/** Names of events that give something. */
export type NativeName = keyof typeof EVENTS;

export const adapter = framedAdapter({
  source: SOURCE,
  recognises,
  events: EVENTS,
  notNeeded: "session.start tool.call changes.prompt",
  fields: "event context extension",
  nameOf: (payload, intake) => asString(partsOf(payload).event?.["type"]) ?? intake.event,
  frameOf(payload) {
    const { event, context, extension } = partsOf(payload);
    const native = asString(event?.["type"]);
    const sessionId = event === undefined ? undefined : threadOf(event);
    if (event === undefined || native === undefined || sessionId === undefined) return undefined;
    return {
      event,
      native,
      session: { id: sessionId },
      cwd: asString(context?.["cwd"]),
      timeMs: asCount(extension?.["at"]),
      // The same event from two plugins, in two processes, has one id
      key: payloadDigest({ event }),
      extras: { agent_version: asString(extension?.["version"]) },
    };
  },
});

/** An interruption, which only the end of a turn reports. */
export function toEntries(payload: unknown, intake: IntakeFacts): readonly TranscriptEntry[] {
  const { event, extension } = partsOf(payload);
  if (event?.["type"] !== "agent.end" || event["status"] !== "cancelled" || threadOf(event) === undefined) return [];
  const promptKey = messageKey(event["id"]);
  return [
    {
      kind: "interruption",
      key: `interruption:${promptKey ?? payloadDigest({ event })}`,
      timeMs: asCount(extension?.["at"]) ?? intake.timeMs,
      ...(promptKey !== undefined && { promptKey }),
    } satisfies EntryOf<"interruption">,
  ];
}

/** Message ids are numbers in threads of older versions, texts in others. */
export const messageKey = (id: unknown): string | undefined =>
  typeof id === "number" && Number.isSafeInteger(id) ? String(id) : asString(id);

/** How a tool ended, by Amp's words; `undefined` if it has not ended. */
export function outcomeIn(status: unknown, result: unknown) {
  const exitCode = asExitCode(asObject(result)?.["exitCode"]);
  switch (status) {
    case "done":
      return {
        status: exitCode === undefined || exitCode === 0 ? ("success" as const) : ("error" as const),
        ...(exitCode !== undefined && { exitCode }),
      };
    case "error":
      return { status: "error" as const, ...(exitCode !== undefined && { exitCode }) };
    case "cancelled":
      return { status: "error" as const, errorType: "interrupted" };
    case "rejected-by-user":
      return { status: "denied" as const };
    default:
      return undefined;
  }
}

/** Files that a call changed, as Amp's own helper names them to our plugin. What was changed in them is not reported. */
export function toFileWrites(payload: unknown, { events }: PayloadFacts): readonly FileWrite[] {
  if (events[0]?.type !== "tool.end") return [];
  const files = asArray(asObject(asObject(payload)?.["event"])?.["files"]);
  return [...new Set(files)].flatMap((file) => {
    const path = asString(file);
    return path === undefined ? [] : [{ path }];
  });
}

// --- internal ---

/** Recognises what our plugin writes: Amp's event, and the members of its context that identify the session. */
function recognises(payload: unknown, intake: IntakeFacts): Recognition {
  const { event } = partsOf(payload);
  const type = asString(event?.["type"]);
  if (event === undefined || type === undefined) return "no";
  if (threadOf(event) !== undefined && adapter.known.events.includes(type)) return "certain";
  return intake.source === SOURCE ? "possible" : "no";
}

const partsOf = (payload: unknown) => {
  const p = asObject(payload);
  return { event: asObject(p?.["event"]), context: asObject(p?.["context"]), extension: asObject(p?.["extension"]) };
};

function threadOf(event: Fields): string | undefined {
  const id = asString(asObject(event["thread"])?.["id"]);
  return id?.startsWith("T-") === true ? id : undefined;
}

function toolEnd({ event }: { readonly event: Fields }): FramedMembers | undefined {
  const outcome = outcomeIn(event["status"], event["output"]);
  const callId = asString(event["toolUseID"]);
  if (outcome === undefined || callId === undefined) return undefined;
  const { status } = outcome;
  return {
    tool: { name: asString(event["tool"]), callId, status: status === "denied" ? "error" : status },
    extras: {
      exit_code: "exitCode" in outcome ? outcome.exitCode : undefined,
      error_type: "errorType" in outcome ? outcome.errorType : undefined,
      status_origin: "native",
    },
  };
}
