import { asObject, asString } from "#agents/shared/payload/json.ts";
import type { Event } from "#core/model/event-schema.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import type { Increment } from "#core/model/telemetry.ts";
import { keepsNames } from "#core/rules/capture.ts";
import { cardOf } from "#core/rules/cards.ts";
import { hasAssignedSessionId, timeMsOf } from "#core/rules/event.ts";
import { extrasOf } from "#core/rules/extras.lazy.ts";
import { launchingAgents } from "#core/rules/launch.ts";
import { openAt } from "#core/session/processes.ts";
import { noteBeginning } from "#store/ancestors.ts";
import { storeContent } from "#store/capture/content.ts";
import { levelOf } from "#store/capture/level.ts";
import { stripEventNames } from "#store/capture/names.ts";
import { applyProjectSettings } from "#store/capture/project.ts";
import { protectEvent } from "#store/capture/protect.ts";
import type { Database } from "#store/database.ts";
import { addEvents } from "#store/facts.ts";
import { noteLaunch } from "#store/launches.ts";
import { addToMeta } from "#store/meta.ts";
import { inRoot, moveEvent, unplacedEvents } from "#store/move-facts.ts";
import { addLostEvents, markCommitted } from "#store/self.ts";
import { noteAgentProcess, type ProcessKey } from "#store/session-processes.ts";
import {
  ensureSession,
  type Pipeline,
  rootOf,
  type StoredSession,
  sessionsOfProcess,
  setFork,
  setPipeline,
  setProcess,
  updateSession,
} from "#store/sessions.ts";
import type { AdaptedPayload, RefusedPayload } from "../payload/adapt.ts";
import { nativePath } from "../transcripts/native-path.ts";
import type { AgentProcess } from "./agent-processes.ts";
import type { Drain } from "./context.ts";
import { inOwnSessions, type Origins } from "./local-sessions.ts";
import { makeSubagent } from "./make-subagent.ts";
import { eventIncrement, payloadIncrement, recordSelf, recordUnknownNames } from "./self.ts";
import { storeEntries } from "./store-entries.ts";

/** An adapted payload. */
export type StorablePayload = AdaptedPayload & {
  /** Whether its new events are also queued for the bridge's commands. */
  readonly isBridged: boolean;
  /** The sessions that have the events' local ids in the agent's databases, by id. @default none */
  readonly origins?: Origins;
  /** The agent's process that ran the hook, if the card says that this is known. */
  readonly process?: AgentProcess;
  /** The process in which the hook ran, if it is known; see `processOf`. */
  readonly ranIn?: ProcessKey;
  /** The CI job that ran the agent, if it is certain. */
  readonly pipeline?: Pipeline | undefined;
  /** The variables that the hook recorded. @default none */
  readonly env?: IntakeFacts["env"];
};

/** A quarantined payload, as it is counted. */
export interface CountedRefusal extends Partial<Pick<RefusedPayload, "source" | "unknown">> {
  readonly step: Increment;
}

/** What one commit stores. */
export interface PayloadBatch {
  readonly payloads: readonly StorablePayload[];
  readonly quarantined: readonly CountedRefusal[];
  /** Times of lost events, in milliseconds since the epoch. */
  readonly lostMs: readonly number[];
  /** Names of the claimed files of these payloads and lost events. */
  readonly files: readonly string[];
  /** Names of files of earlier commits that are removed by now. */
  readonly removed: readonly string[];
}

/** Adapted payloads → store, in one commit. @returns numbers of the sessions they belong to, some more than once */
export function storePayloads(drain: Drain, batch: PayloadBatch): readonly number[] {
  const { db, report } = drain;
  const { payloads, quarantined, lostMs, files, removed } = batch;
  return db.transaction(() => {
    const before = report.events;
    const touched: number[] = [];
    const steps = quarantined.map(({ step }) => step);
    for (const { source, unknown } of quarantined) {
      if (source !== undefined && unknown !== undefined) recordUnknownNames(drain, source, unknown);
    }
    for (const payload of payloads) {
      const { entries, source, unknown } = payload;
      const { events, content } = inOwnSessions(drain, payload);
      const known = report.events;
      const [assigned] = events.map((event) => storeEvent(drain, event, touched, payload));
      steps.push(payloadIncrement(drain, payload.outcome, source, "event" in payload ? payload.event : undefined));
      steps.push(eventIncrement(source, report.events - known));
      const version = assigned === undefined ? undefined : extrasOf(assigned.event).agent_version;
      recordUnknownNames(drain, source, unknown, version);
      if (assigned === undefined) continue;
      const { session, subagent } = assigned;
      const own = subagent === undefined ? entries : entries.map((e) => ({ ...e, agentId: e.agentId ?? subagent }));
      storeEntries(drain, session, own, subagent === undefined ? events[0]?.cwd : undefined);
      drain.audit?.noteInputs(session, content);
      storeContent(drain, session, content, levelOf(drain, session));
    }
    recordSelf(drain, steps);
    addLostEvents(db, lostMs);
    markCommitted(db, files, removed);
    // Only new events: a killed drain may have stored some of these
    addToMeta(db, "events", report.events - before);
    return touched;
  }, "commit.inbox");
}

// --- internal ---

// Payloads without a session id belong to the session that is open in the same agent process

/** Gives an event without a session id that of its process, if that has exactly one open session. Otherwise it is unchanged. */
function withSessionOfProcess(db: Database, event: Event): Event {
  const { process } = extrasOf(event);
  if (process === undefined || !hasAssignedSessionId(event)) return event;
  const session = openAt(sessionsOfProcess(db, event.source, process), timeMsOf(event));
  return session === undefined ? event : { ...event, session_id: session.sessionId };
}

/** Stores which process reported a session's id, and moves the process's earlier events without an id into the session. */
function noteProcess(db: Database, session: StoredSession, event: Event): void {
  const { process } = extrasOf(event);
  if (process === undefined) return;
  const isNew = setProcess(db, session.id, process);
  const isEarlier = timeMsOf(event) < session.firstMs;
  if (isEarlier) updateSession(db, session.id, { timeMs: timeMsOf(event) });
  if (!isNew && !isEarlier) return;
  for (const { event: unplaced, session: number } of unplacedEvents(db, event.source, process)) {
    const open = openAt(sessionsOfProcess(db, event.source, process), timeMsOf(unplaced));
    if (open?.id === session.id && number !== session.id) moveEvent(db, unplaced, session);
  }
}

interface AssignedEvent {
  readonly session: StoredSession;
  readonly event: Event;
  /** Set for a subagent with its own session id. */
  readonly subagent?: string;
}

/** Stores one event and what it reports about its session. @returns `undefined` if its project lets nothing be kept */
function storeEvent(
  drain: Drain,
  payloadEvent: Event,
  touched: number[],
  { isBridged, process, ranIn, pipeline, env = {}, source }: StorablePayload,
): AssignedEvent | undefined {
  const { db, report } = drain;
  const found = assignSession(drain, payloadEvent);
  // A wrapped program's hook runs in a command of the agent, not in the agent
  const isAgents = payloadEvent.source === source || cardOf(drain, payloadEvent.source) === undefined;
  // Also of a session that is not kept: its process then works on two
  if (isAgents && ranIn !== undefined && beginsIn(found.session, payloadEvent))
    noteBeginning(db, found.session.id, ranIn, timeMsOf(payloadEvent));
  const allowed = applyProjectSettings(
    drain,
    found.session,
    found.subagent === undefined ? payloadEvent.cwd : undefined,
  );
  if (allowed === undefined) return undefined;
  const assigned = eventAtLevel(drain, { ...found, session: allowed, event: protectEvent(drain, found.event) });
  if (assigned === undefined) return undefined;
  const { session, event } = assigned;
  touched.push(session.id);
  if (addEvents(db, session, [event]) === 0) return assigned;
  report.events++;
  // At capture level none the store knows no folder
  if (isBridged) drain.bridge.queue(session.cwd ?? payloadEvent.cwd, event, levelOf(drain, session));
  const extras = extrasOf(event);
  const transcriptPath = extras.transcript_path ?? namedTranscript(event);
  // A subagent's own folder and file are not the session's
  if (assigned.subagent !== undefined) {
    updateSession(db, session.id, { timeMs: timeMsOf(event) });
    return assigned;
  }
  setPipeline(db, session.id, keepsNames(levelOf(drain, session)) ? pipeline : undefined);
  if (process !== undefined && extras.agent_id === undefined) noteAgentProcess(db, session.id, process, event);
  if (isAgents) {
    const own = { source: event.source, sessionId: session.local?.nativeId ?? session.sessionId };
    noteLaunch(db, session, timeMsOf(event), () => launchingAgents(drain.agents, env, own));
  }
  updateSession(db, session.id, {
    timeMs: timeMsOf(event),
    cwd: session.cwd === undefined ? event.cwd : undefined,
    transcriptPath: transcriptPath === undefined ? undefined : nativePath(transcriptPath, drain.platform),
    agentVersion: extras.agent_version,
  });
  if (extras.continues === "fork") setFork(db, session.id, "waiting");
  return assigned;
}

/** Whether an event can be a session's first one in a process. */
const beginsIn = ({ launchedMs }: StoredSession, event: Event): boolean =>
  event.type === "session.start" || launchedMs === undefined || timeMsOf(event) < launchedMs;

/** The transcript that a sender of OpenHook names; the specification has a field for it only at a session's end. */
function namedTranscript(event: Event): string | undefined {
  if (event.type === "session.end" && event.data?.transcript_path !== undefined) return event.data.transcript_path;
  const sent = asObject(
    asObject((event.extensions as Readonly<Record<string, unknown>> | undefined)?.["sender"])?.["data"],
  );
  return asString(sent?.["transcript_path"]);
}

/** Finds the session of an event: for a subagent with its own session id, the session that it works for. */
function assignSession({ db }: Drain, event: Event): AssignedEvent {
  const timeMs = timeMsOf(event);
  const placed = withSessionOfProcess(db, event);
  let own = ensureSession(db, placed.source, placed.session_id, timeMs);
  if (!hasAssignedSessionId(event)) noteProcess(db, own, event);
  const parentId = extrasOf(event).parent_session_id;
  if (parentId !== undefined && own.parent === undefined) {
    makeSubagent(db, own, parentId, timeMs);
    own = ensureSession(db, placed.source, placed.session_id, timeMs);
  }
  const root = rootOf(db, own);
  return root.id === own.id
    ? { session: own, event: placed }
    : { session: root, event: inRoot(placed, own, root), subagent: own.sessionId };
}

/** The event without names, if the session's capture level keeps none. @returns `undefined` if nothing is left of it */
function eventAtLevel(drain: Drain, assigned: AssignedEvent): AssignedEvent | undefined {
  if (keepsNames(levelOf(drain, assigned.session))) return assigned;
  const event = stripEventNames(assigned.event, cardOf(drain, assigned.event.source)?.own);
  return event && { ...assigned, event };
}
