// Replaces src/kit/fault-points.ts in the fault build: the same names, but a step fails if the environment says so.
import { appendFileSync } from "node:fs";
import type { FaultPoint } from "#kit/fault-points.ts";
import type { Fault } from "./fault.ts";

export { FAULT_POINTS, type FaultPoint } from "#kit/fault-points.ts";

/** Like the product's, but fails as `OPENHOOK_FAULT` says, and writes the steps it passes to the file `OPENHOOK_FAULT_TRACE`. */
export function step<T>(point: FaultPoint, work: () => T): T {
  const n = (passed.get(point) ?? 0) + 1;
  passed.set(point, n);
  trace(point);
  const here = fault?.step === point && fault.occurrence === n ? fault : undefined;
  if (here === undefined) return work();
  if (here.when === "before") fail(here);
  const result = whole(work);
  if (result instanceof Promise) {
    // For a promise, both T and the result are promises
    return result.then(() => fail(here)) as T;
  }
  return fail(here);
}

// --- internal ---

const fault: Fault | undefined =
  process.env["OPENHOOK_FAULT"] === undefined ? undefined : JSON.parse(process.env["OPENHOOK_FAULT"]);
const tracePath = process.env["OPENHOOK_FAULT_TRACE"];
const passed = new Map<FaultPoint, number>();

function whole<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    trace(FAILED_BY_ITSELF);
    throw error;
  }
}

function trace(line: string): void {
  if (tracePath !== undefined) appendFileSync(tracePath, `${line}\n`);
}

function fail({ step, when, kind }: Fault): never {
  // The harness must know that the fault was reached
  trace(FAILED);
  if (kind === "kill") {
    process.kill(process.pid, "SIGKILL");
    // The signal may be delivered later; nothing may happen until then
    for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000);
  }
  if (kind === "throw") throw new Error(`injected ${when} ${step}`);
  const isStore = /^(store|commit|lock\.take$|lock\.release)/.test(step);
  const code = isStore ? SQLITE_CODES[kind] : kind;
  throw Object.assign(new Error(`${code}: injected ${when} ${step}`), { code });
}

const [FAILED, FAILED_BY_ITSELF] = ["!", "~"] as const;

/** The database library's code for the file system's code. */
const SQLITE_CODES = { ENOSPC: "SQLITE_FULL", EIO: "SQLITE_IOERR", EACCES: "SQLITE_CANTOPEN" } as const;
