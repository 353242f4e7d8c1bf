import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { FAULTS } from "../scripts/planted-faults-list.mjs";
import { ROOT } from "./support/replay.ts";

test.each(FAULTS.map(({ what, file, from }) => [what, file, from] as const))(
  "the fault can be planted: %s",
  (_what, file, from) => {
    expect(readFileSync(join(ROOT, file), "utf8").split(from)).toHaveLength(2);
  },
);
