import { isSequenceNumber } from "../../model/call-ids.ts";
import { defined } from "../../model/defined.ts";
import type { EntryOf } from "../../model/transcript.ts";
import { executableOf } from "../shared/names/executables.ts";
import { asObject, asString } from "../shared/payload/json.ts";
import { writesOfCall } from "../shared/payload/tool-writes.ts";
import { EDITORS, editedLines } from "./file-writes.ts";
import { type Base, type Message, toolOutcome } from "./messages.ts";

/** A call in an answer. @param within identifies the answer in all sessions, so that a fork's copy is found */
export function useEntry(
  call: Message,
  callId: string,
  timeMs: number,
  base: Base,
  within: string,
): EntryOf<"tool_use"> {
  const given = String(call["id"]);
  return defined<EntryOf<"tool_use">>({
    kind: "tool_use",
    key: `use:${callId}`,
    globalKey: `use:${within}:${callId}`,
    timeMs,
    ...base,
    callId,
    givenId: isSequenceNumber(given) ? given : undefined,
    name: asString(call["name"]) ?? "",
    executable: executableOf(asObject(call["arguments"])?.["command"]),
    files: writesOfCall(EDITORS, asString(call["name"]), call["arguments"]),
  } as EntryOf<"tool_use">);
}

/** The result of a call. @param within as for `useEntry` */
export const resultEntry = (
  message: Message,
  callId: string,
  timeMs: number,
  base: Base,
  within: string,
): EntryOf<"tool_result"> =>
  defined<EntryOf<"tool_result">>({
    kind: "tool_result",
    key: `result:${callId}`,
    globalKey: `result:${within}:${callId}`,
    timeMs,
    ...base,
    callId,
    ...toolOutcome(message["isError"], message["content"]),
    ...(message["toolName"] === "edit" && message["isError"] !== true && editedLines(message["details"])),
  } as EntryOf<"tool_result">);
