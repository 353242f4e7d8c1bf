import type { LoadedConfig } from "#config/load.ts";
import type { Places } from "#config/places.ts";
import type { Agent } from "#core/model/agent.ts";
import type { Protection } from "#core/privacy/protection.ts";
import type { Database } from "../database.ts";

/** What is needed to decide how much of a fact is stored. Part of the context of drains and imports. */
export interface CaptureContext extends Protection {
  readonly db: Database;
  readonly places: Places;
  readonly loaded: LoadedConfig;
  readonly agents: readonly Agent[];
  /** This program's version: another version may redact differently. */
  readonly version: string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Writes one line to the log. The line must not contain content of a payload. */
  readonly log: (line: string) => void;
  /** This run's problems, one line each. The object also identifies the run: projects' settings are read once per run. */
  readonly report: { problems: string[] };
}

/** The problems of this run, and the log. */
interface Reporter {
  readonly report: { readonly problems: string[] };
  readonly log: (line: string) => void;
}

/** Adds a problem to this run's report and to the log. @param line must not contain content of a payload */
export function reportProblem({ report, log }: Reporter, line: string): void {
  report.problems.push(line);
  log(line);
}

/** `reportProblem`, unless this run has already reported the same line. */
export function reportProblemOnce(reporter: Reporter, line: string): void {
  if (!reporter.report.problems.includes(line)) reportProblem(reporter, line);
}
