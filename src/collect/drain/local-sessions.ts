import { eventId } from "#agents/shared/payload/identity.ts";
import type { Agent } from "#core/model/agent.ts";
import type { Event } from "#core/model/event-schema.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import type { SessionOrigin, TranscriptReader } from "#core/model/transcript-reader.ts";
import { cardOf } from "#core/rules/cards.ts";
import { hasAssignedSessionId, timeMsOf } from "#core/rules/event.ts";
import { extrasOf } from "#core/rules/extras.lazy.ts";
import { messageOf } from "#kit/errors.ts";
import { reportProblemOnce } from "#store/capture/context.ts";
import { localSession } from "#store/local-sessions.ts";
import { ensureSession, type StoredSession } from "#store/sessions.ts";
import type { AdaptedPayload } from "../payload/adapt.ts";
import { rootsOf } from "../transcripts/transcript-roots.ts";
import type { Drain } from "./context.ts";

// Agents with local session ids: adapters and readers use the agent's ids, the store uses its own

/** The sessions that have an id in the agent's databases, by id. */
export type Origins = ReadonlyMap<string, readonly SessionOrigin[]>;

/** Looks up the local ids of a payload's events in the agent's databases. */
export async function originsIn(drain: Drain, events: readonly Event[], facts: IntakeFacts): Promise<Origins> {
  const origins = new Map<string, readonly SessionOrigin[]>();
  for (const event of events) {
    const card = cardOf(drain, event.source);
    if (!hasLocalIds(card) || hasAssignedSessionId(event)) continue;
    for (const id of idsIn(event)) if (!origins.has(id)) origins.set(id, await originsOf(drain, card, id, facts));
  }
  return origins;
}

/** The payload with its events under the ids of their sessions in this store. Call it inside a transaction. */
export function inOwnSessions(
  drain: Drain,
  { events, content, origins }: Pick<AdaptedPayload, "events" | "content"> & { readonly origins?: Origins },
): Pick<AdaptedPayload, "events" | "content"> {
  if (!events.some((event) => hasLocalIds(cardOf(drain, event.source)))) return { events, content };
  const renamed = new Map<string, string>();
  const own = events.map((event) => {
    const placed = inOwnSession(drain, event, origins ?? new Map());
    renamed.set(event.id, placed.id);
    return placed;
  });
  return {
    events: own.map((event) => {
      const { tool_event: about } = extrasOf(event);
      const extensions = { ...event.extensions, tool_event: renamed.get(about ?? "") ?? about };
      return about === undefined ? event : ({ ...event, extensions } as Event);
    }),
    content: content.map((piece) => ({ ...piece, fact: renamed.get(piece.fact) ?? piece.fact })),
  };
}

/** The session that an agent's record names by its id; it is created if needed. Call it inside a transaction. */
export const sessionNamed = (drain: Drain, source: string, id: string, timeMs: number): StoredSession =>
  hasLocalIds(cardOf(drain, source))
    ? localSession(drain.db, drain.places, { source, nativeId: id, timeMs, origins: [] })
    : ensureSession(drain.db, source, id, timeMs);

/** A session whose database could not be read before, with its origin if it can be read now. */
export async function withOrigin(drain: Drain, session: StoredSession): Promise<StoredSession> {
  const { source, sessionId, local, firstMs } = session;
  const card = cardOf(drain, source);
  const nativeId = local?.nativeId ?? sessionId;
  if (!hasLocalIds(card) || local?.origin !== undefined) return session;
  const origins = await originsOf(drain, card, nativeId, undefined);
  if (origins.length === 0) return session;
  return drain.db.transaction(() => {
    // Only if the origin is this session's, and not another's
    const found = localSession(drain.db, drain.places, { source, nativeId, timeMs: firstMs, origins });
    return found.id === session.id ? found : session;
  });
}

// --- internal ---

const hasLocalIds = (card: Agent | undefined): card is Agent => card?.capabilities.sessionIds === "local";

const idsIn = (event: Event): readonly string[] => {
  const parent = extrasOf(event).parent_session_id;
  return parent === undefined ? [event.session_id] : [event.session_id, parent];
};

function inOwnSession(drain: Drain, event: Event, origins: Origins): Event {
  const { source } = event;
  if (!hasLocalIds(cardOf(drain, source)) || hasAssignedSessionId(event)) return event;
  const { parent_session_id: parent, agent_id: agentId, continues } = extrasOf(event);
  const named = (nativeId: string, begins = false): string => {
    const found = { source, nativeId, timeMs: timeMsOf(event), origins: origins.get(nativeId) ?? [], begins };
    return localSession(drain.db, drain.places, found).sessionId;
  };
  const begins = event.type === "session.start" && agentId === undefined && continues === undefined;
  const sessionId = named(event.session_id, begins);
  const isRenamed = sessionId !== event.session_id;
  return {
    ...event,
    session_id: sessionId,
    // Two sessions with one id can have equal payloads
    ...(isRenamed && { id: eventId("local", sessionId, event.id) }),
    ...(parent !== undefined && { extensions: { ...event.extensions, parent_session_id: named(parent) } }),
  } as Event;
}

/** @param facts of the hook: only the databases that its environment names are looked at. @default all */
async function originsOf(
  drain: Drain,
  card: Agent,
  sessionId: string,
  facts: IntakeFacts | undefined,
): Promise<readonly SessionOrigin[]> {
  const reader = (await card.transcript?.())?.default;
  if (reader?.originsOf === undefined) return [];
  const { home } = drain.places;
  const allowed = rootsOf(drain, reader, card.source);
  try {
    return await reader.originsOf({ sessionId, home, roots: ownRoots(reader, allowed, home, facts) });
  } catch (error) {
    reportProblemOnce(drain, `could not look up the session ${sessionId} of ${card.title}: ${messageOf(error)}`);
    return [];
  }
}

function ownRoots(
  reader: TranscriptReader,
  allowed: readonly string[],
  home: string,
  facts: IntakeFacts | undefined,
): readonly string[] {
  if (facts === undefined) return allowed;
  const own = reader.roots(facts.env["HOME"] ?? home, facts.env).filter((root) => allowed.includes(root));
  return own.length > 0 ? own : allowed;
}
