import { setFlagsFromString } from "node:v8";

/**
 * Makes Node 20 optimise a function only after six times as much work as by default. Each thread compiles its own code, and a
 * drain, an import or a report ends before most of that saves time: 30 of the 230 ms of processor time of a report over 1 GB, 20 of
 * the 330 ms of a drain of one turn. Later versions wait as long by default and would warn about the flag.
 */
export function optimiseLater(): void {
  if (Number.parseInt(process.versions.node, 10) < 22) setFlagsFromString(`--interrupt-budget=${BUDGET}`);
}

// --- internal ---

/** In bytes of bytecode. Default: 67,584. */
const BUDGET = 400_000;
