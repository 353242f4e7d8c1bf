import { claim, type InboxFile, quarantine, settle } from "../intake/inbox.ts";
import { type Decoded, decodeEvent } from "../intake/payload.ts";
import type { IntakeFacts } from "../model/agent.ts";
import { type Event, extrasOf, timeMsOf } from "../model/event.ts";
import { isMinted } from "../session/processes.ts";
import { addEvents, inRoot } from "../store/facts.ts";
import { addToMeta } from "../store/meta.ts";
import { learn, rootOf, type StoredSession, sessionOf, setFork } from "../store/sessions.ts";
import { adapt, type Told } from "./adapt.ts";
import { adopt } from "./adopt.ts";
import type { Drain } from "./deps.ts";
import { keepEntries } from "./keep.ts";
import { inProcess, learnProcess } from "./process.ts";

/**
 * Inbox → store. A file goes only after its events are committed; one that nobody recognises goes to quarantine.
 *
 * @returns numbers of the sessions that were told of
 */
export async function takeInbox(drain: Drain): Promise<ReadonlySet<number>> {
  const { places, report } = drain;
  const touched = new Set<number>();
  let batch: Taken[] = [];
  const commit = async (): Promise<void> => {
    for (const number of store(drain, batch)) touched.add(number);
    for (const { file } of batch) await settle(file);
    batch = [];
  };
  const problems = { now: drain.now, onProblem: (p: Problem) => tell(drain, p) };
  for await (const file of claim(places, problems)) {
    report.files++;
    const decoded = decodeEvent(file.payload, file.facts);
    const told = decoded.ok ? adapt(drain.agents, decoded.value, factsOf(file, decoded)) : decoded.reason;
    if (typeof told === "string") {
      report.quarantined++;
      await quarantine(places, file, told, drain.now());
      drain.log(`set aside a payload of ${file.facts.source ?? "an unnamed agent"}: ${told}`);
      continue;
    }
    for (const remark of told.remarks) drain.log(remark);
    if (told.events.length === 0) report.ignored++;
    batch.push({ file, ...told });
    if (batch.length >= FILES_PER_COMMIT) await commit();
  }
  await commit();
  return touched;
}

// --- internal ---

/** Few enough that a killed drain repeats little, enough that a commit's fsync is shared. */
const FILES_PER_COMMIT = 200;

interface Taken extends Told {
  readonly file: Pick<InboxFile, "path">;
}

type Problem = { readonly path: string; readonly reason: string; readonly outcome: "left" | "quarantined" };

const factsOf = ({ facts }: InboxFile, { notes }: Extract<Decoded, { ok: true }>): IntakeFacts =>
  notes.includes("cut") ? { ...facts, truncated: true } : facts;

function store(drain: Drain, batch: readonly Taken[]): readonly number[] {
  if (batch.length === 0) return [];
  const { db, report } = drain;
  return db.transaction(() => {
    const touched: number[] = [];
    const keepEvent = (told: Event): Place => {
      const place = placeOf(drain, told);
      const { session, event } = place;
      touched.push(session.id);
      if (addEvents(db, session, [event]) === 0) return place;
      report.events++;
      const extras = extrasOf(event);
      // A subagent's own folder and file are not the session's
      if (place.subagent !== undefined) {
        learn(db, session.id, { timeMs: timeMsOf(event) });
        return place;
      }
      learn(db, session.id, {
        timeMs: timeMsOf(event),
        cwd: session.cwd === undefined ? event.cwd : undefined,
        transcriptPath:
          extras.transcript_path ?? (event.type === "session.end" ? event.data?.transcript_path : undefined),
        agentVersion: extras.agent_version,
      });
      if (extras.continues === "fork") setFork(db, session.id, "waiting");
      return place;
    };
    for (const { events, entries } of batch) {
      const [place] = events.map(keepEvent);
      if (place === undefined) continue;
      const { session, subagent } = place;
      const own = subagent === undefined ? entries : entries.map((e) => ({ ...e, agentId: e.agentId ?? subagent }));
      keepEntries(drain, session, own);
    }
    addToMeta(
      db,
      "events",
      batch.reduce((n, { events }) => n + events.length, 0),
    );
    return touched;
  });
}

interface Place {
  readonly session: StoredSession;
  readonly event: Event;
  /** Set for a subagent with a session of its own. */
  readonly subagent?: string;
}

/** The session whose event it is: for a subagent with a session of its own, the one that it works for. */
function placeOf({ db }: Drain, event: Event): Place {
  const timeMs = timeMsOf(event);
  const told = inProcess(db, event);
  let own = sessionOf(db, told.source, told.session_id, timeMs);
  if (!isMinted(event)) learnProcess(db, own, event);
  const parentId = extrasOf(event).parent_session_id;
  if (parentId !== undefined && own.parent === undefined) {
    adopt(db, own, parentId, timeMs);
    own = sessionOf(db, told.source, told.session_id, timeMs);
  }
  const root = rootOf(db, own);
  return root.id === own.id
    ? { session: own, event: told }
    : { session: root, event: inRoot(told, own, root), subagent: own.sessionId };
}

function tell(drain: Drain, problem: Problem): void {
  if (problem.outcome === "quarantined") drain.report.quarantined++;
  else drain.report.left++;
  const line = `${problem.outcome === "quarantined" ? "set aside" : "could not take"} ${JSON.stringify(problem.path)}: ${problem.reason}`;
  drain.report.problems.push(line);
  drain.log(line);
}
