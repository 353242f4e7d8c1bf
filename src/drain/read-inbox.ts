import { unlink } from "node:fs/promises";
import { basename, join } from "node:path";
import { levelOf } from "../capture/level.ts";
import { applyProjectSettings, foldersOf, loadProjectSettings } from "../capture/project.ts";
import { protectEvent } from "../capture/protect.ts";
import { storeContent } from "../capture/store-content.ts";
import { stripEventNames } from "../capture/strip-names.ts";
import { claim, type InboxFile, type LostEvent, settle } from "../intake/inbox.ts";
import { GONE_MARK } from "../intake/inbox-file.ts";
import { type Decoded, decodeEvent } from "../intake/payload.ts";
import { quarantine } from "../intake/quarantine.ts";
import type { IntakeFacts } from "../model/agent.ts";
import { keepsContent, keepsNames } from "../model/capture.ts";
import { cardOf } from "../model/card-of.ts";
import { messageOf } from "../model/error-message.ts";
import { type Event, extrasOf, timeMsOf } from "../model/event.ts";
import type { Increment } from "../model/telemetry.ts";
import { hasAssignedSessionId } from "../session/processes.ts";
import { checkpoint } from "../store/database.ts";
import { addEvents } from "../store/facts.ts";
import { addToMeta } from "../store/meta.ts";
import { inRoot } from "../store/move-facts.ts";
import { addLostEvents, committedFiles, markCommitted } from "../store/self.ts";
import { ensureSession, rootOf, type StoredSession, setFork, updateSession } from "../store/sessions.ts";
import { recordMovedRoots } from "../transcripts/transcript-roots.ts";
import { type AdaptedPayload, adapt } from "./adapt.ts";
import type { Drain } from "./context.ts";
import { makeSubagent } from "./make-subagent.ts";
import { eventIncrement, payloadIncrement, recordSelf, recordUnknownNames } from "./self-telemetry.ts";
import { noteProcess, withSessionOfProcess } from "./session-by-process.ts";
import { storeEntries } from "./store-entries.ts";

/**
 * Inbox → store. A file goes only after its events are committed; one that nobody recognises goes to quarantine.
 *
 * @returns numbers of the sessions that were told of
 */
export async function readInbox(drain: Drain): Promise<ReadonlySet<number>> {
  const { places, report } = drain;
  await unlink(join(places.stateDir, GONE_MARK)).catch(() => {});
  const touched = new Set<number>();
  let batch: AdaptedFile[] = [];
  // Of what was set aside; the rest is counted with what it told
  let aside: Increment[] = [];
  let lost: LostEvent[] = [];
  let [lostEvents, heldBytes] = [0, 0];
  const stored = committedFiles(drain.db);
  let removed: string[] = [];
  const commit = async (): Promise<void> => {
    if (batch.length + aside.length + lost.length === 0) return;
    for (const number of store(drain, { batch, aside, lost, removed })) touched.add(number);
    const files = [...batch.map(({ file }) => file), ...lost];
    removed = files.map(nameOf);
    lostEvents += lost.length;
    batch = [];
    aside = [];
    lost = [];
    heldBytes = 0;
    if (files.length === 0) return;
    checkpoint(drain.db);
    for (const file of files)
      await settle(file).catch((error: unknown) => reportProblem(drain, problemOf(file, error)));
  };
  const onProblem = (problem: Problem): void => {
    reportProblem(drain, problem);
    if (problem.outcome === "quarantined")
      aside.push(payloadIncrement(drain, "quarantined", undefined, problem.reason));
  };
  const problems = { now: drain.now, onProblem };
  const wanted = { content: keepsContent(drain.loaded.config.capture) };
  for await (const file of claim(places, problems)) {
    if (stored.has(nameOf(file))) {
      // A drain died, or was refused, between the commit and this
      await settle(file).catch((error: unknown) => reportProblem(drain, problemOf(file, error)));
      removed.push(nameOf(file));
      continue;
    }
    if ("lostMs" in file) {
      lost.push(file);
      if (lost.length >= FILES_PER_COMMIT) await commit();
      continue;
    }
    report.files++;
    const decoded = decodeEvent(file.payload, file.facts);
    const told = decoded.ok ? adapt(drain.agents, decoded.value, intakeFactsOf(file, decoded), wanted) : decoded.reason;
    if (typeof told === "string") {
      try {
        await quarantine(places, file, told, drain.now());
      } catch (error) {
        reportProblem(drain, problemOf(file, error));
        continue;
      }
      report.quarantined++;
      aside.push(payloadIncrement(drain, "quarantined", file.facts.source, told));
      drain.log(`set aside a payload of ${file.facts.source ?? "an unnamed agent"}: ${told}`);
      continue;
    }
    for (const remark of told.remarks) drain.log(remark);
    await recordMovedRoots(drain, told.events, file.facts);
    await loadProjectSettings(drain, foldersOf(told.events));
    if (told.events.length === 0) report.ignored++;
    batch.push({ file, ...told });
    if (told.content.length > 0) heldBytes += file.payload.length;
    if (batch.length < FILES_PER_COMMIT && heldBytes < CONTENT_PER_COMMIT) continue;
    await commit();
  }
  await commit();
  if (lostEvents > 0) reportLost(drain, lostEvents);
  return touched;
}

// --- internal ---

/** Few enough that a killed drain repeats little, enough that a commit's fsync is shared. */
const FILES_PER_COMMIT = 200;
/** Of payloads whose content is held until then, in bytes. */
const CONTENT_PER_COMMIT = 16_000_000;

interface AdaptedFile extends AdaptedPayload {
  readonly file: Pick<InboxFile, "path">;
}

/** Unique for ever: a claimed file gets a name of its own. */
const nameOf = ({ path }: AdaptedFile["file"]): string => basename(path);

const problemOf = ({ path }: AdaptedFile["file"], error: unknown): Problem => ({
  path,
  reason: messageOf(error),
  outcome: "left",
});

type Problem = { readonly path: string; readonly reason: string; readonly outcome: "left" | "quarantined" };

const intakeFactsOf = ({ facts }: InboxFile, { notes }: Extract<Decoded, { ok: true }>): IntakeFacts =>
  notes.includes("cut") ? { ...facts, truncated: true } : facts;

interface Commit {
  readonly batch: readonly AdaptedFile[];
  readonly aside: readonly Increment[];
  readonly lost: readonly LostEvent[];
  /** Names of what was taken before and is gone by now. */
  readonly removed: readonly string[];
}

function store(drain: Drain, { batch, aside, lost, removed }: Commit): readonly number[] {
  const { db, report } = drain;
  return db.transaction(() => {
    const touched: number[] = [];
    const before = report.events;
    const keepEvent = (told: Event): AssignedEvent | undefined => {
      const found = assignSession(drain, told);
      const allowed = applyProjectSettings(drain, found.session, found.subagent === undefined ? told.cwd : undefined);
      if (allowed === undefined) return undefined;
      const place = eventAtLevel(drain, { ...found, session: allowed, event: protectEvent(drain, found.event) });
      const { session, event } = place;
      touched.push(session.id);
      if (addEvents(db, session, [event]) === 0) return place;
      report.events++;
      const extras = extrasOf(event);
      // A subagent's own folder and file are not the session's
      if (place.subagent !== undefined) {
        updateSession(db, session.id, { timeMs: timeMsOf(event) });
        return place;
      }
      updateSession(db, session.id, {
        timeMs: timeMsOf(event),
        cwd: session.cwd === undefined ? event.cwd : undefined,
        transcriptPath:
          extras.transcript_path ?? (event.type === "session.end" ? event.data?.transcript_path : undefined),
        agentVersion: extras.agent_version,
      });
      if (extras.continues === "fork") setFork(db, session.id, "waiting");
      return place;
    };
    const steps = [...aside];
    for (const { events, entries, content, source, unknown } of batch) {
      const known = report.events;
      const [place] = events.map(keepEvent);
      steps.push(payloadIncrement(drain, events.length === 0 ? "ignored" : "converted", source));
      steps.push(eventIncrement(source, report.events - known));
      recordUnknownNames(drain, source, unknown, place === undefined ? undefined : extrasOf(place.event).agent_version);
      if (place === undefined) continue;
      const { session, subagent } = place;
      const own = subagent === undefined ? entries : entries.map((e) => ({ ...e, agentId: e.agentId ?? subagent }));
      storeEntries(drain, session, own);
      storeContent(drain, session, content, levelOf(drain, session));
    }
    recordSelf(drain, steps);
    addLostEvents(
      db,
      lost.map(({ lostMs }) => lostMs),
    );
    markCommitted(db, [...batch.map(({ file }) => file), ...lost].map(nameOf), removed);
    // Not those that a drain before had stored when it died
    addToMeta(db, "events", report.events - before);
    return touched;
  }, "commit.inbox");
}

interface AssignedEvent {
  readonly session: StoredSession;
  readonly event: Event;
  /** Set for a subagent with a session of its own. */
  readonly subagent?: string;
}

/** The session whose event it is: for a subagent with a session of its own, the one that it works for. */
function assignSession({ db }: Drain, event: Event): AssignedEvent {
  const timeMs = timeMsOf(event);
  const told = withSessionOfProcess(db, event);
  let own = ensureSession(db, told.source, told.session_id, timeMs);
  if (!hasAssignedSessionId(event)) noteProcess(db, own, event);
  const parentId = extrasOf(event).parent_session_id;
  if (parentId !== undefined && own.parent === undefined) {
    makeSubagent(db, own, parentId, timeMs);
    own = ensureSession(db, told.source, told.session_id, timeMs);
  }
  const root = rootOf(db, own);
  return root.id === own.id
    ? { session: own, event: told }
    : { session: root, event: inRoot(told, own, root), subagent: own.sessionId };
}

/** Where only figures are kept, an event without names. */
function eventAtLevel(drain: Drain, place: AssignedEvent): AssignedEvent {
  if (keepsNames(levelOf(drain, place.session))) return place;
  return { ...place, event: stripEventNames(place.event, cardOf(drain, place.event.source)?.own) };
}

function reportLost({ report, log }: Drain, events: number): void {
  const [what, them] = events === 1 ? ["1 event", "it came, and is"] : [`${events} events`, "they came, and are"];
  const line = `${what} found no room on the disk when ${them} lost`;
  report.problems.push(line);
  log(line);
}

function reportProblem(drain: Drain, problem: Problem): void {
  if (problem.outcome === "quarantined") drain.report.quarantined++;
  else drain.report.left++;
  const line = `${problem.outcome === "quarantined" ? "set aside" : "could not take"} ${JSON.stringify(problem.path)}: ${problem.reason}`;
  drain.report.problems.push(line);
  drain.log(line);
}
