// Slow: only `npm run test:all` runs it. A backend that hangs or refuses; otlp/deliver.test.ts has the rules.
//
// What a backend can do to a drain, one fault of each kind; all of them are in test/faults/long.
import { beforeAll, describe, test } from "vitest";
import { ensureBuilt } from "../support/program.ts";
import { COMMON_FAULTS } from "./backend-faults.ts";
import { undergo } from "./backend-run.ts";

beforeAll(ensureBuilt);

describe.concurrent("a backend that", () => {
  test.for(COMMON_FAULTS)("$name: everything arrives once", async (fault, { expect }) => {
    expect(await undergo(fault)).toMatchObject({ lost: 0, duplicates: 0 });
  });
});
