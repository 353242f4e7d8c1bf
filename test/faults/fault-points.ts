// Takes the place of src/model/fault-points.ts in the fault build: the same names, but a step fails where the environment says so.
import { appendFileSync } from "node:fs";
import type { FaultPoint } from "../../src/model/fault-points.ts";
import type { Fault } from "./fault.ts";

export { FAULT_POINTS, type FaultPoint } from "../../src/model/fault-points.ts";

/** As the product's, and fails as `OPENHOOK_FAULT` says; writes what it passes to the file `OPENHOOK_FAULT_TRACE`. */
export function step<T>(point: FaultPoint, work: () => T): T {
  const n = (passed.get(point) ?? 0) + 1;
  passed.set(point, n);
  trace(point);
  const here = fault?.step === point && fault.occurrence === n ? fault : undefined;
  if (here === undefined) return work();
  if (here.when === "before") fail(here);
  const result = whole(work);
  if (result instanceof Promise) {
    // A promise for a promise: the type of both is T
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
  // The harness must know that it came to this
  trace(FAILED);
  if (kind === "kill") {
    process.kill(process.pid, "SIGKILL");
    // The signal comes when it comes; nothing may be done until then
    for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000);
  }
  if (kind === "throw") throw new Error(`injected ${when} ${step}`);
  const isStore = /^(store|commit|lock\.take$|lock\.release)/.test(step);
  const code = isStore ? SQLITE_CODES[kind] : kind;
  throw Object.assign(new Error(`${code}: injected ${when} ${step}`), { code });
}

const [FAILED, FAILED_BY_ITSELF] = ["!", "~"] as const;

/** What the database library says where the file system says the other. */
const SQLITE_CODES = { ENOSPC: "SQLITE_FULL", EIO: "SQLITE_IOERR", EACCES: "SQLITE_CANTOPEN" } as const;
