import type { Database } from "./database.ts";

/** The CI job that ran a session's agent: resource attributes of its spans. */
export type Pipeline = Readonly<Record<string, string>>;

/** Sets the job for spans that are settled from now on. `undefined`: no CI job, or an unknown one. */
export function setPipeline(db: Database, sessionNumber: number, pipeline: Pipeline | undefined): void {
  const text = pipeline === undefined ? null : JSON.stringify(pipeline);
  db.prepare("UPDATE sessions SET pipeline = ? WHERE id = ? AND pipeline IS NOT ?").run(text, sessionNumber, text);
}

/** Empty if there is none. */
export function pipelineOf(db: Database, sessionNumber: number): Pipeline {
  const text = db.prepare("SELECT pipeline FROM sessions WHERE id = ?").get(sessionNumber)?.["pipeline"];
  return typeof text === "string" ? (JSON.parse(text) as Pipeline) : {};
}
