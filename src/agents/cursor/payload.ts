import type { IntakeFacts } from "../../model/agent.ts";
import { asArray, asObject, asString } from "../shared/payload/json.ts";
import { type PayloadSession, sessionOf } from "../shared/payload/payload-event.ts";

export const SOURCE = "cursor";

/** What Cursor waits for on stdout. Decides nothing, on any event. */
export const REPLY = "{}";

/** What all of Cursor's payloads have, read once. */
export interface Payload {
  readonly p: Readonly<Record<string, unknown>>;
  readonly native: string;
  readonly session: PayloadSession;
  /** The user message this belongs to; absent where the payload repeats the conversation's id in its place. */
  readonly promptId: string | undefined;
  /** A payload of the real program, not of a contract that only has its event names. */
  readonly isNative: boolean;
  readonly cwd: string | undefined;
}

/** @returns `undefined` for what has no event name, in itself or on the command line */
export function payloadOf(payload: unknown, intake: IntakeFacts): Payload | undefined {
  const p = asObject(payload);
  const isNative = asString(p?.["cursor_version"]) !== undefined || isShaped(p);
  const native = asString(p?.["hook_event_name"]) ?? intake.event ?? (isShell(p) ? "beforeShellExecution" : undefined);
  if (p === undefined || native === undefined) return undefined;
  const cwd = asString(p["cwd"]) ?? folderOf(asArray(p["workspace_roots"])[0]);
  const conversation = asString(p["conversation_id"]) ?? asString(p["session_id"]);
  // Opened without any conversation: nothing that a session could be made of
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

/** The three fields that every payload had before its version was in it. */
export const isShaped = (p: Readonly<Record<string, unknown>> | undefined): boolean =>
  asString(p?.["conversation_id"]) !== undefined &&
  typeof p?.["generation_id"] === "string" &&
  Array.isArray(p["workspace_roots"]);

/** A shell command and its folder, and nothing else at all. */
export const isShell = (p: Readonly<Record<string, unknown>> | undefined): boolean =>
  p !== undefined &&
  Object.keys(p).sort().join() === "command,cwd" &&
  typeof p["command"] === "string" &&
  typeof p["cwd"] === "string";

/** The model that answered; the names of choices that leave it to the program are none. */
export function modelOf(p: Readonly<Record<string, unknown>>): string | undefined {
  const names = [asString(p["model_id"]), asString(p["model"])];
  return names.find((name) => name !== undefined && name !== "default");
}

// --- internal ---

/** Thoughts have a number and four characters behind the id. */
function promptIdOf(generation: unknown, conversation: string | undefined): string | undefined {
  const id = asString(generation)?.replace(/-\d+-[0-9a-z]{4}$/i, "");
  return id === conversation ? undefined : id;
}

/** On Windows roots are written `/c:/Users/…`. */
const folderOf = (root: unknown): string | undefined => asString(root)?.replace(/^\/(?=[A-Za-z]:)/, "");
