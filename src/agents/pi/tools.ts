import type { EntryOf, TranscriptEntry } from "#core/model/transcript.ts";
import { isSequenceNumber } from "#core/rules/call-ids.ts";
import { defined } from "#kit/objects.ts";
import { executableOf } from "../shared/names/executables.ts";
import { asArray, asCount, asObject, asString } from "../shared/payload/json.ts";
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
  });
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
  });

/**
 * Calls that a tool made itself. Only how long each took is recorded, so all of them end with the tool.
 *
 * @param callId of that tool's call, see `useEntry` for the others
 */
export function nestedEntries(
  message: Message,
  callId: string,
  endMs: number,
  base: Base,
  within: string,
): readonly TranscriptEntry[] {
  const caller = asString(message["toolCallId"]) ?? "";
  return asArray(asObject(message["nestedCalls"])?.["calls"]).flatMap((one): readonly TranscriptEntry[] => {
    const call = asObject(one);
    const given = asString(call?.["id"]);
    if (call === undefined || given === undefined) return [];
    // Its id begins with the caller's, which may be replaced by a unique one
    const id = given.startsWith(`${caller}/`) ? `${callId}${given.slice(caller.length)}` : given;
    const durationMs = asCount(call["durationMs"]);
    const use = useEntry(call, id, endMs - (durationMs ?? 0), base, within);
    if (call["status"] === "unfinished") return [use];
    const outcome = { isError: call["status"] === "error", content: call["error"] };
    const result = resultEntry({ ...outcome, toolName: call["name"] }, id, endMs, base, within);
    return [use, durationMs === undefined ? result : { ...result, durationMs }];
  });
}
