import type { Recognition } from "#core/model/agent.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { asObject, asString, type Fields } from "./json.ts";

/** Signs by which an agent's payloads are recognised for certain, whatever registered the hook. One is enough. */
export interface Marks {
  /** Members that only this agent sends; in a list, all of them together. A null value counts. */
  readonly members?: readonly (string | readonly string[])[];
  /** The folder of its session files. */
  readonly folder?: RegExp;
  /**
   * A variable with the session's id that the agent sets for its hooks. Other agents in its terminal inherit it, but their payloads
   * have another session id.
   */
  readonly sessionVariable?: string;
  /** Any other sign, such as a value. */
  readonly isOwn?: (p: Fields, intake: IntakeFacts) => boolean;
}

/**
 * `certain` if the payload has one of the marks. Other members never count against it: a new version can add any, and a card from
 * documentation does not know them all. Without a mark `possible` if the payload names an event.
 */
export function recogniseByMarks(marks: Marks, payload: unknown, intake: IntakeFacts): Recognition {
  const p = asObject(payload);
  if (p === undefined) return "no";
  if (hasMark(marks, p, intake)) return "certain";
  return EVENT_MEMBERS.some((name) => asString(p[name]) !== undefined) ? "possible" : "no";
}

// --- internal ---

function hasMark({ members = [], folder, sessionVariable, isOwn }: Marks, p: Fields, intake: IntakeFacts): boolean {
  if (members.some((names) => [names].flat().every((name) => p[name] !== undefined))) return true;
  if (folder !== undefined && PATH_MEMBERS.some((name) => folder.test(asString(p[name]) ?? ""))) return true;
  if (sessionVariable !== undefined) {
    const session = asString(p["session_id"]) ?? asString(p["sessionId"]);
    if (session !== undefined && session === intake.env[sessionVariable]) return true;
  }
  return isOwn?.(p, intake) === true;
}

const EVENT_MEMBERS = ["hook_event_name", "hookEventName", "event", "event_type"];
const PATH_MEMBERS = ["transcript_path", "transcriptPath"];
