// Hooks that are killed at a random moment of their few milliseconds, hundreds of times.
import { afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { ensureBuilt, Machine } from "../../support/program.ts";
import { killAtRandom } from "../load-killed.ts";
import { record } from "../record.ts";

beforeAll(ensureBuilt, 120_000);
let machine: Machine;
beforeEach(() => {
  machine = new Machine();
});
afterEach(() => machine.remove());

test.each([
  ["hook.sh", 500],
  ["hook of node", 200],
] as const)("%s killed at a random moment while it writes: no event is lost or stored twice", async (hook, runs) => {
  const { returned, stored, quarantined, printed, left } = await killAtRandom(machine, hook, runs);
  const there = new Set(stored);
  const lost = returned.filter((id) => !there.has(id)).length;
  const duplicates = stored.length - there.size;
  expect({ lost, duplicates, printed, left }).toEqual({ lost: 0, duplicates: 0, printed: "", left: 0 });
  record({
    area: "load",
    fault: `${hook} killed (SIGKILL) at a random moment while it writes`,
    runs,
    eventsIn: returned.length,
    lost,
    duplicates,
    note: "events in: of hooks that completed; of the killed ones, complete payloads are collected, torn ones quarantined",
    figures: { killed: runs - returned.length, takenOfKilled: there.size - returned.length, quarantined },
  });
});
