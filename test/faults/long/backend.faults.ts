// Every backend fault against the built program: all spans arrive once by id, and the counters are right.
import { beforeAll, describe, test } from "vitest";
import { ensureBuilt } from "../../support/program.ts";
import { FAULTS } from "../backend-faults.ts";
import { undergo } from "../backend-run.ts";
import { record } from "../record.ts";

beforeAll(ensureBuilt, 120_000);

describe.concurrent("a backend that", { timeout: 120_000 }, () => {
  test.each(FAULTS)("$name", async (fault) => {
    const result = await undergo(fault);
    if (result === undefined) console.warn(`SKIPPED, this machine cannot do it: ${fault.name}`);
    else record(result);
  });
});
