import { detect } from "../agents/detect.ts";
import { claim, type InboxFile, quarantine, settle } from "../intake/inbox.ts";
import { decodePayload } from "../intake/payload.ts";
import { type Event, extrasOf, timeMsOf } from "../model/event.ts";
import { addEvents } from "../store/facts.ts";
import { addToMeta } from "../store/meta.ts";
import { learn, sessionOf, setFork } from "../store/sessions.ts";
import { type Drain, messageOf } from "./deps.ts";

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
    const events = adapt(drain, file);
    if (typeof events === "string") {
      report.quarantined++;
      await quarantine(places, file, events, drain.now());
      drain.log(`set aside a payload of ${file.facts.source ?? "an unnamed agent"}: ${events}`);
      continue;
    }
    if (events.length === 0) report.ignored++;
    batch.push({ file, events });
    if (batch.length >= FILES_PER_COMMIT) await commit();
  }
  await commit();
  return touched;
}

// --- internal ---

/** Few enough that a killed drain repeats little, enough that a commit's fsync is shared. */
const FILES_PER_COMMIT = 200;

interface Taken {
  readonly file: Pick<InboxFile, "path">;
  readonly events: readonly Event[];
}

type Problem = { readonly path: string; readonly reason: string; readonly outcome: "left" | "quarantined" };

/** One file → its events, or the reason why it cannot be understood. */
function adapt(drain: Drain, file: InboxFile): readonly Event[] | string {
  const decoded = decodePayload(file.payload);
  if (!decoded.ok) return decoded.reason;
  const cut = decoded.notes.includes("cut");
  const facts = cut ? { ...file.facts, truncated: true } : file.facts;
  const agent = detect(drain.agents, decoded.value, facts);
  if (agent === undefined) return "no agent recognises it";
  try {
    const events = agent.toEvents(decoded.value, facts);
    JSON.stringify(events);
    return events;
  } catch (error) {
    // A payload that nobody can store must not stop the ones behind it
    return `it cannot be converted: ${messageOf(error)}`;
  }
}

function store(drain: Drain, batch: readonly Taken[]): readonly number[] {
  if (batch.length === 0) return [];
  const { db, report } = drain;
  return db.transaction(() => {
    const touched: number[] = [];
    for (const event of batch.flatMap(({ events }) => events)) {
      const session = sessionOf(db, event.source, event.session_id, timeMsOf(event));
      touched.push(session.id);
      if (addEvents(db, session, [event]) === 0) continue;
      report.events++;
      const extras = extrasOf(event);
      learn(db, session.id, {
        timeMs: timeMsOf(event),
        cwd: session.cwd === undefined ? event.cwd : undefined,
        transcriptPath:
          extras.transcript_path ?? (event.type === "session.end" ? event.data?.transcript_path : undefined),
        agentVersion: extras.agent_version,
      });
      if (extras.continues === "fork") setFork(db, session.id, "waiting");
    }
    addToMeta(
      db,
      "events",
      batch.reduce((n, { events }) => n + events.length, 0),
    );
    return touched;
  });
}

function tell(drain: Drain, problem: Problem): void {
  if (problem.outcome === "quarantined") drain.report.quarantined++;
  else drain.report.left++;
  const line = `${problem.outcome === "quarantined" ? "set aside" : "could not take"} ${JSON.stringify(problem.path)}: ${problem.reason}`;
  drain.report.problems.push(line);
  drain.log(line);
}
