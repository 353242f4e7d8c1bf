import { setFlagsFromString } from "node:v8";

/**
 * From now on Node 20's engine makes fast code of a function when it has run four times as much as it would ask for. Each
 * thread compiles for itself, and an import is over before most of that pays. Later engines wait as long by themselves, and
 * do not know the flag: they would tell the user so.
 */
export function setImportV8Flags(): void {
  if (Number.parseInt(process.versions.node, 10) < 22) setFlagsFromString(`--interrupt-budget=${BUDGET}`);
}

// --- internal ---

/** In bytes of bytecode. The engine's own: 67,584. */
const BUDGET = 300_000;
