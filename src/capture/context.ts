import type { LoadedConfig } from "../config/load.ts";
import type { Places } from "../config/places.ts";
import type { Agent } from "../model/agent.ts";
import type { Protection } from "../privacy/protection.ts";
import type { Database } from "../store/database.ts";

/** What it takes to decide how much of a fact is kept. Drains and imports have all of it. */
export interface CaptureContext extends Protection {
  readonly db: Database;
  readonly places: Places;
  readonly loaded: LoadedConfig;
  readonly agents: readonly Agent[];
  /** This program's version: another one may redact differently. */
  readonly version: string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Writes one line to the log; no content of any payload. */
  readonly log: (line: string) => void;
  /** This run's problems, one line each. Also identifies the run: projects' settings are read once per run. */
  readonly report: { problems: string[] };
}
