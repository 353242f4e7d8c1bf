import { setFlagsFromString } from "node:v8";

/**
 * Makes Node 20 optimise a function only after four times as much work as by default. Each thread compiles its own code, and an
 * import ends before most of that saves time. Later versions wait as long by default and would warn about the flag.
 */
export function setImportV8Flags(): void {
  if (Number.parseInt(process.versions.node, 10) < 22) setFlagsFromString(`--interrupt-budget=${BUDGET}`);
}

// --- internal ---

/** In bytes of bytecode. Default: 67,584. */
const BUDGET = 300_000;
