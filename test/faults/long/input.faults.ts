import { test } from "vitest";
import { tryOddValues } from "../input-run.ts";
import { record } from "../record.ts";

test("odd values in every kind of payload of every agent are converted or quarantined", async () => {
  const { inputs, families, quarantined, spans } = await tryOddValues("all");
  record({
    area: "input",
    fault: "odd values in every member of every agent's payloads",
    runs: inputs,
    eventsIn: inputs,
    lost: 0,
    note: "converted within limits, or quarantined with a reason; every later session complete, every span accepted",
    figures: { families, quarantined, spans },
  });
});
