// Slow: only `npm run test:all` runs it. A drain killed among many sessions, with the built program; drain/replays.slow.test.ts has
// two sessions.
//
// The long form is long/load-killed.faults.ts.
import { afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { ensureBuilt, Machine } from "../support/program.ts";
import { HOOKS, killAtRandom } from "./load-killed.ts";

beforeAll(ensureBuilt);
let machine: Machine;
beforeEach(() => {
  machine = new Machine();
});
afterEach(() => machine.remove());

test.each([
  ["hook.sh", 40],
  ["hook of node", 16],
] as const)(
  "%s killed while it writes: events with exit code 0 are stored, incomplete ones are not",
  async (hook, runs) => {
    expect(Object.keys(HOOKS)).toContain(hook);
    const killed = await killAtRandom(machine, hook, runs);
    expect(killed.returned.length).toBeLessThan(runs);
    expect(killed).toMatchObject({ printed: "", left: 0 });
    const stored = new Set(killed.stored);
    expect(killed.returned.filter((id) => !stored.has(id))).toEqual([]);
    expect(killed.stored).toHaveLength(stored.size);
    expect(killed.stored.length + killed.quarantined).toBeLessThanOrEqual(runs);
  },
);
