import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { asArray, asObject, asString } from "../shared/payload/json.ts";
import { type PayloadSession, sessionOf } from "../shared/payload/payload-event.ts";

export const SOURCE = "cursor";

/** The stdout that Cursor expects. It contains no decision, for any event. */
export const REPLY = "{}";

/** The common members of Cursor's payloads. */
export interface Payload {
  readonly p: Readonly<Record<string, unknown>>;
  readonly native: string;
  readonly session: PayloadSession;
  /** The user message to which the payload belongs; absent if the payload repeats the conversation's id instead. */
  readonly promptId: string | undefined;
  /** Sent by Cursor, not by another program with the same event names. */
  readonly isNative: boolean;
  readonly cwd: string | undefined;
}

/** @returns `undefined` without an event name in the payload or on the command line */
export function payloadOf(payload: unknown, intake: IntakeFacts): Payload | undefined {
  const p = asObject(payload);
  const isNative = asString(p?.["cursor_version"]) !== undefined || hasCursorShape(p);
  const native = asString(p?.["hook_event_name"]) ?? intake.event ?? (isShell(p) ? "beforeShellExecution" : undefined);
  if (p === undefined || native === undefined) return undefined;
  const cwd = asString(p["cwd"]) ?? folderOf(asArray(p["workspace_roots"])[0]);
  const conversation = asString(p["conversation_id"]) ?? asString(p["session_id"]);
  // Cursor is open without a conversation
  if (isNative && conversation === undefined) return undefined;
  return {
    p,
    native,
    session: sessionOf(SOURCE, intake, { payload: conversation, cwd }),
    promptId: promptIdOf(p["generation_id"], conversation),
    isNative,
    cwd,
  };
}

/** The three fields that all payloads had before Cursor added the version. */
export const hasCursorShape = (p: Readonly<Record<string, unknown>> | undefined): boolean =>
  asString(p?.["conversation_id"]) !== undefined &&
  typeof p?.["generation_id"] === "string" &&
  Array.isArray(p["workspace_roots"]);

/** True for a payload with only a shell command and its folder. */
export const isShell = (p: Readonly<Record<string, unknown>> | undefined): boolean =>
  p !== undefined &&
  Object.keys(p).sort().join() === "command,cwd" &&
  typeof p["command"] === "string" &&
  typeof p["cwd"] === "string";

/** The model that answered; `default` means an automatic choice. */
export function modelOf(p: Readonly<Record<string, unknown>>): string | undefined {
  const names = [asString(p["model_id"]), asString(p["model"])];
  return names.find((name) => name !== undefined && name !== "default");
}

// --- internal ---

/** For thoughts, Cursor appends a number and four characters to the id. */
function promptIdOf(generation: unknown, conversation: string | undefined): string | undefined {
  const id = asString(generation)?.replace(/-\d+-[0-9a-z]{4}$/i, "");
  return id === conversation ? undefined : id;
}

/** On Windows, roots are written `/c:/Users/…`. */
const folderOf = (root: unknown): string | undefined => asString(root)?.replace(/^\/(?=[A-Za-z]:)/, "");
