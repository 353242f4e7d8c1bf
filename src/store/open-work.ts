import type { ModelCall } from "#core/model/model-call.ts";
import type { SettledWork } from "#core/model/session.ts";
import type { Database } from "./database.ts";

// The settled work of runs that are still open. Only runs with thousands of calls have any, so these are few rows

/** The settled work of a session's open runs, by `runKeyOf`. */
export const openWorkOf = (db: Database, sessionNumber: number): ReadonlyMap<string, SettledWork> =>
  new Map(
    db
      .prepare("SELECT run, body FROM open_work WHERE session = ?")
      .all(sessionNumber)
      .map((row) => [String(row["run"]), JSON.parse(String(row["body"])) as SettledWork]),
  );

/** Stores what is settled of an open run now, in place of what was stored before. */
export function putOpenWork(db: Database, sessionNumber: number, run: string, work: SettledWork): void {
  db.prepare(
    `INSERT INTO open_work (session, run, body) VALUES (?, ?, ?)
     ON CONFLICT (session, run) DO UPDATE SET body = excluded.body`,
  ).run(sessionNumber, run, JSON.stringify(work));
}

/** Changes the settled work of the open run that a settled model call belongs to; does nothing if that run has closed. */
export function changeOpenWork(
  db: Database,
  sessionNumber: number,
  { agentId, endMs }: ModelCall,
  change: (work: SettledWork) => SettledWork,
): void {
  for (const [run, work] of openWorkOf(db, sessionNumber)) {
    const isItsRun =
      agentId === undefined
        ? run.startsWith("turn:") && work.startMs <= endMs && endMs <= work.endMs
        : run.replace(/~\d+$/, "") === `subagent:${agentId}`;
    if (isItsRun) putOpenWork(db, sessionNumber, run, change(work));
  }
}

/** Removes the settled work of a run that has closed: it is in the run's own span now. */
export function removeOpenWork(db: Database, sessionNumber: number, run: string): void {
  db.prepare("DELETE FROM open_work WHERE session = ? AND run = ?").run(sessionNumber, run);
}
