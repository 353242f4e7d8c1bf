import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { asObject, asString, asTimeMs, type Fields, parsedJson } from "../shared/payload/json.ts";
import { ownName } from "./names.ts";

/** The hook events that are used, under Copilot's names. */
const NATIVE_EVENTS = [
  "sessionStart",
  "sessionEnd",
  "userPromptSubmitted",
  "preToolUse",
  "postToolUse",
  "postToolUseFailure",
  "errorOccurred",
  "agentStop",
  "subagentStart",
  "subagentStop",
  "preCompact",
] as const;
export type NativeEvent = (typeof NATIVE_EVENTS)[number];

/** Names of VS Code for some of them. */
export const OTHER_SPELLINGS = {
  userPromptSubmit: "userPromptSubmitted",
  stop: "agentStop",
} as const satisfies Readonly<Record<string, NativeEvent>>;

/** A hook payload in either form. */
export interface Payload {
  readonly event: NativeEvent;
  /** @param name in camelCase, for both forms */
  field(name: string): unknown;
  readonly cwd: string | undefined;
  readonly timeMs: number | undefined;
  /** The name in the session file. */
  readonly toolName: string | undefined;
  readonly toolInput: unknown;
}

/**
 * Reads a payload in either form: camelCase, without an event name, or snake_case, for hooks registered under PascalCase names,
 * with an event name and Claude Code's tool names.
 *
 * @returns `undefined` if it is no object or its event is not used
 */
export function readPayload(payload: unknown, intake: IntakeFacts): Payload | undefined {
  const p = asObject(payload);
  const event = p === undefined ? undefined : eventOf(p, intake);
  if (p === undefined || event === undefined) return undefined;
  const field = (name: string): unknown => p[name] ?? p[snakeCase(name)];
  const toolInput = parsedJson(field("toolArgs") ?? field("toolInput"));
  const toolName = asString(p["toolName"]) ?? ownName(asString(p["tool_name"]), toolInput, asString(p["cwd"]));
  return { event, field, cwd: asString(p["cwd"]), timeMs: timeMsOf(p["timestamp"]), toolName, toolInput };
}

/** The event for a name on the command line or in the payload, in either spelling. */
export const nativeEventOf = (name: string | undefined): NativeEvent | undefined =>
  name === undefined ? undefined : BY_NAME.get(name.toLowerCase());

// --- internal ---

const BY_NAME: ReadonlyMap<string, NativeEvent> = new Map([
  ...NATIVE_EVENTS.map((event) => [event.toLowerCase(), event] as const),
  ...Object.entries(OTHER_SPELLINGS).map(([name, event]) => [name.toLowerCase(), event] as const),
]);

/** Events that are not used. Without this list, their payloads could be mistaken for those of other events. */
const UNUSED_EVENTS = new Set(["notification", "permissionrequest", "premcptoolcall", "userprompttransformed"]);

const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The payload's event name, otherwise the one on the command line, otherwise the only event with this shape. */
function eventOf(p: Fields, intake: IntakeFacts): NativeEvent | undefined {
  const named = asString(p["hook_event_name"]) ?? asString(p["hookName"]);
  if (named !== undefined) return nativeEventOf(named);
  if (intake.event !== undefined && UNUSED_EVENTS.has(intake.event.toLowerCase())) return undefined;
  return nativeEventOf(intake.event) ?? eventByShape(p);
}

function eventByShape(p: Fields): NativeEvent | undefined {
  const has = (name: string): boolean => p[name] !== undefined && p[name] !== null;
  if (has("toolName")) {
    if (has("toolResult")) return "postToolUse";
    if (has("error")) return "postToolUseFailure";
    return has("toolArgs") ? "preToolUse" : undefined;
  }
  if (has("errorContext")) return "errorOccurred";
  if (has("stopReason")) return has("agentName") ? "subagentStop" : "agentStop";
  if (has("agentName")) return "subagentStart";
  if (has("trigger")) return "preCompact";
  if (has("prompt")) return "userPromptSubmitted";
  if (has("initialPrompt") || has("source")) return "sessionStart";
  return has("reason") ? "sessionEnd" : undefined;
}

// The latest time of a Date
const MAX_TIME_MS = 8.64e15;

/** Epoch milliseconds, or ISO 8601 in the snake_case form. */
function timeMsOf(value: unknown): number | undefined {
  if (typeof value !== "number") return asTimeMs(value);
  return value > 0 && value <= MAX_TIME_MS ? Math.round(value) : undefined;
}
