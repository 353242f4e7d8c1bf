import type { IntakeFacts } from "../../model/agent.ts";
import { asObject, asString, asTimeMs, parsedJson } from "../shared/payload/json.ts";
import { ownName } from "./names.ts";

/** The hook events that tell us something, by the names that Copilot gives them. */
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

/** A hook payload, whichever of its two forms it came in. */
export interface Payload {
  readonly event: NativeEvent;
  /** A field by its camelCase name. */
  field(name: string): unknown;
  readonly cwd: string | undefined;
  readonly timeMs: number | undefined;
  /** By the name that the session file has. */
  readonly toolName: string | undefined;
  readonly toolInput: unknown;
}

/**
 * Reads a payload: camelCase, which does not name its event, or the snake_case form of hooks registered under PascalCase
 * names, which does, and calls tools by Claude Code's names.
 *
 * @returns `undefined` for no object, and for events that tell us nothing
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

/** What the name on the command line, or in the payload, stands for; both ways of writing it. */
export const nativeEventOf = (name: string | undefined): NativeEvent | undefined =>
  name === undefined ? undefined : BY_NAME.get(name.toLowerCase());

// --- internal ---

type Fields = Readonly<Record<string, unknown>>;

const BY_NAME: ReadonlyMap<string, NativeEvent> = new Map([
  ...NATIVE_EVENTS.map((event) => [event.toLowerCase(), event] as const),
  ["userpromptsubmit", "userPromptSubmitted"],
  ["stop", "agentStop"],
]);

/** Events that say nothing a span would; their payloads must not be taken for others by their shape. */
const SILENT = new Set(["notification", "permissionrequest", "premcptoolcall", "userprompttransformed"]);

const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** What the payload says of itself, else the command line, else its shape where there is only one event that has it. */
function eventOf(p: Fields, intake: IntakeFacts): NativeEvent | undefined {
  const named = asString(p["hook_event_name"]) ?? asString(p["hookName"]);
  if (named !== undefined) return nativeEventOf(named);
  if (intake.event !== undefined && SILENT.has(intake.event.toLowerCase())) return undefined;
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

// What a Date can hold
const MAX_TIME_MS = 8.64e15;

/** Epoch milliseconds, or ISO 8601 in the snake_case form. */
function timeMsOf(value: unknown): number | undefined {
  if (typeof value !== "number") return asTimeMs(value);
  return value > 0 && value <= MAX_TIME_MS ? Math.round(value) : undefined;
}
