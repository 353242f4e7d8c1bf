import type { Agent } from "#core/model/agent.ts";
import type { CaptureLevel } from "#core/model/capture.ts";
import type { EnvelopeText } from "#core/model/envelope-types.ts";
import type { Event } from "#core/model/event-schema.ts";
import { cardOf } from "#core/rules/cards.ts";
import { assignCallIds } from "#core/session/assign-call-ids.ts";
import type { Database } from "#store/database.ts";
import { toEnvelope } from "../convert/envelope-text.ts";

/** In which form envelopes are handed over. */
export interface HandoverForm {
  readonly agents: readonly Agent[];
  readonly text: EnvelopeText;
  readonly level: CaptureLevel;
}

/** Whether there is an envelope for an event at all. */
export const hasEnvelope = (event: Event, { agents, text, level }: HandoverForm): boolean =>
  toEnvelope(event, { text, level, own: cardOf({ agents }, event.source)?.own }) !== undefined;

/**
 * The line that a command gets for a stored event. A tool call to which its agent gave no id has the id that the program assigns, the
 * same for start and end.
 *
 * @returns `undefined` if there is no envelope for it
 */
export function envelopeLine(
  db: Database,
  { event, session }: { readonly event: Event; readonly session: number },
  { agents, text, level }: HandoverForm,
): string | undefined {
  const own = cardOf({ agents }, event.source)?.own;
  const envelope = toEnvelope(withCallId(db, event, session), { text, level, own });
  return envelope === undefined ? undefined : JSON.stringify(envelope);
}

// --- internal ---

function withCallId(db: Database, event: Event, session: number): Event {
  const isNameless =
    (event.type === "tool.start" || event.type === "tool.end") && event.data?.tool_call_id === undefined;
  if (!isNameless) return event;
  const others = db
    .prepare("SELECT body FROM events INDEXED BY events_open WHERE session = ? AND settled = 0 AND id <> ?")
    .all(session, event.id)
    .map((row) => JSON.parse(String(row["body"])) as Event);
  return assignCallIds([event, ...others])[0] ?? event;
}
