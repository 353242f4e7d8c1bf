import { setFlagsFromString } from "node:v8";

/**
 * Makes Node 20 compile later than by default, because a drain, an import or a report ends before most of that saves time, and each
 * thread compiles its own code. A function is optimised after six times as much work: saves 30 of the 230 ms of processor time of a
 * report over 1 GB, 20 of the 330 ms of a drain of one turn. A regular expression becomes machine code after a hundred short texts
 * instead of one: 2 of the 130 ms of a list of sessions. Later versions optimise as late by default and would warn about that flag.
 */
export function optimiseLater(): void {
  if (Number.parseInt(process.versions.node, 10) >= 22) return;
  setFlagsFromString(`--interrupt-budget=${BUDGET}`);
  setFlagsFromString(`--regexp-tier-up-ticks=${REGEXP_RUNS}`);
}

// --- internal ---

/** In bytes of bytecode. Default: 67,584. */
const BUDGET = 400_000;
/** Texts of up to 1,000 characters; a longer one counts as enough. Default: 1. */
const REGEXP_RUNS = 100;
