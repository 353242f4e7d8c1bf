import type { IntakeFacts } from "../../model/agent.ts";
import { asArray, asObject, asString } from "../shared/payload/json.ts";
import { type PayloadSession, sessionOf } from "../shared/payload/payload-event.ts";

export const SOURCE = "cursor";

/** The stdout that Cursor expects. Decides nothing, for any event. */
export const REPLY = "{}";

/** What all of Cursor's payloads have. */
export interface Payload {
  readonly p: Readonly<Record<string, unknown>>;
  readonly native: string;
  readonly session: PayloadSession;
  /** The user message this belongs to; absent if the payload repeats the conversation's id instead. */
  readonly promptId: string | undefined;
  /** A payload of the real program, not of a contract that shares its event names. */
  readonly isNative: boolean;
  readonly cwd: string | undefined;
}

/** @returns `undefined` without an event name in the payload or on the command line */
export function payloadOf(payload: unknown, intake: IntakeFacts): Payload | undefined {
  const p = asObject(payload);
  const isNative = asString(p?.["cursor_version"]) !== undefined || isShaped(p);
  const native = asString(p?.["hook_event_name"]) ?? intake.event ?? (isShell(p) ? "beforeShellExecution" : undefined);
  if (p === undefined || native === undefined) return undefined;
  const cwd = asString(p["cwd"]) ?? folderOf(asArray(p["workspace_roots"])[0]);
  const conversation = asString(p["conversation_id"]) ?? asString(p["session_id"]);
  // Cursor opened without a conversation, so there is no session
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

/** The three fields that every payload had before it contained the version. */
export const isShaped = (p: Readonly<Record<string, unknown>> | undefined): boolean =>
  asString(p?.["conversation_id"]) !== undefined &&
  typeof p?.["generation_id"] === "string" &&
  Array.isArray(p["workspace_roots"]);

/** A shell command and its folder, and nothing else. */
export const isShell = (p: Readonly<Record<string, unknown>> | undefined): boolean =>
  p !== undefined &&
  Object.keys(p).sort().join() === "command,cwd" &&
  typeof p["command"] === "string" &&
  typeof p["cwd"] === "string";

/** The model that answered; names for automatic choices do not count. */
export function modelOf(p: Readonly<Record<string, unknown>>): string | undefined {
  const names = [asString(p["model_id"]), asString(p["model"])];
  return names.find((name) => name !== undefined && name !== "default");
}

// --- internal ---

/** For thoughts, a number and four characters follow the id. */
function promptIdOf(generation: unknown, conversation: string | undefined): string | undefined {
  const id = asString(generation)?.replace(/-\d+-[0-9a-z]{4}$/i, "");
  return id === conversation ? undefined : id;
}

/** On Windows, roots are written `/c:/Users/…`. */
const folderOf = (root: unknown): string | undefined => asString(root)?.replace(/^\/(?=[A-Za-z]:)/, "");
