import { CALL_KEY } from "../packed/fact-tables.ts";
import { isRandomId } from "./call-ids.ts";

// Some lines and copies of an answer lack the id of its request. An answer id that is random identifies the answer without it.

/**
 * A key that all records of an answer share, in addition to their own keys. No record has it as its own key.
 *
 * @returns `undefined` for other records, and for answers whose id is not random
 */
export function commonKey(globalKey: string): string | undefined {
  const id = idIn(globalKey)?.id;
  return id === undefined ? undefined : `${CALL_KEY}${id}:*`;
}

/** The keys under which another record of the same answer can be known, if one of the two lacks its request. */
export function otherKey(globalKey: string): string | undefined {
  const found = idIn(globalKey);
  if (found === undefined) return undefined;
  return `${CALL_KEY}${found.id}:${found.requestId === "" ? "*" : ""}`;
}

/** Key for content that arrives before the fact it belongs to. */
export const pendingKey = (what: string): string => `${PENDING}${what}`;
export const PENDING = "~";

/** Key for the content of the answer with this id, for agents whose answer records hold token counts only. */
export const responseContentKey = (responseId: string): string => pendingKey(`response:${responseId}`);

/** The part of an answer that calls a tool. The arguments are kept with the tool call. */
export const toolCallPart = (id: string, name: string) => ({ type: "tool_call", id, name });

// --- internal ---

/** The ids in `response:<id>:<request id>`. Imports call this for every record, so the cheap checks come first. */
function idIn(globalKey: string): { readonly id: string; readonly requestId: string } | undefined {
  if (!globalKey.startsWith(CALL_KEY)) return undefined;
  const end = globalKey.indexOf(":", CALL_KEY.length);
  if (end < 0 || globalKey.includes(":", end + 1) || globalKey.includes("*", end)) return undefined;
  const id = globalKey.slice(CALL_KEY.length, end);
  return isRandomId(id) ? { id, requestId: globalKey.slice(end + 1) } : undefined;
}
