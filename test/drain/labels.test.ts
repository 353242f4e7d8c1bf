import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openDatabase } from "#store/database.ts";
import { type Receiver, startReceiver } from "../receiver/receiver.ts";
import { type RecordedCall, Replay } from "../support/replay.ts";

const ENVIRONMENT = "deployment.environment.name";

let receiver: Receiver;
let replay: Replay;
beforeEach(async () => {
  receiver = await startReceiver();
  replay = new Replay("claude-code", "parallel-tools");
});
afterEach(async () => {
  replay.remove();
  await receiver.close();
});

/** One more session, drained with these settings. */
async function session(number: number, settings: Readonly<Record<string, string>>): Promise<void> {
  replay.env = { OPENHOOK_OTEL_OTLP_ENDPOINT: receiver.url, ...settings };
  for (const event of ["SessionStart", "SessionEnd"]) {
    const call = replay.calls.find((one) => one.event === event) as RecordedCall;
    replay.put({ ...call, stdin: { ...call.stdin, session_id: `00000000-0000-4000-8000-00000000000${number}` } });
  }
  await replay.drain({ isEager: true });
}

/** Value of each series of a counter, as its backend has it now. */
const series = (name: string, ...labels: readonly string[]): Readonly<Record<string, number>> =>
  Object.fromEntries(
    receiver
      .latestPoints()
      .filter((point) => point.name === name)
      .map(({ attributes, resource, data }) => [
        labels.map((label) => `${attributes[label] ?? "-"}/${resource[label] ?? "-"}`).join(" "),
        data.kind === "histogram" ? data.count : data.value,
      ]),
  );

const environment = (name: string) => ({ OPENHOOK_OTEL_RESOURCE_ATTRIBUTES: `${ENVIRONMENT}=${name}` });

describe("when the settings name another environment or service", () => {
  test("earlier counts stay in their series, even if the settings change back", async () => {
    await session(1, {});
    await session(2, environment("laptops"));
    await session(3, environment("laptops"));
    await session(4, {});
    await session(5, environment("build"));
    await session(6, environment("laptops"));
    expect(series("openhook.session.count", ENVIRONMENT)).toEqual({ "-/-": 2, "laptops/laptops": 3, "build/build": 1 });
  });

  test("earlier counts stay in the series of their service name", async () => {
    await session(1, {});
    await session(2, { OPENHOOK_OTEL_RESOURCE_SERVICE_NAME: "agents" });
    expect(series("openhook.session.count", "service.name", "openhook.source")).toEqual({
      "-/claude-code -/-": 1,
      "agents/agents claude-code/-": 1,
    });
  });

  test("earlier counts of dropped spans, which are not in the table of counters, stay in their series", async () => {
    await session(1, {});
    const db = openDatabase(replay.places.storePath);
    db.prepare("INSERT INTO meta (key, value) VALUES ('outbox.dropped_total', '7')").run();
    db.close();
    await session(2, {});
    await session(3, environment("laptops"));
    expect(series("openhook.collector.dropped.count", ENVIRONMENT)).toEqual({ "-/-": 7 });
    expect(series("openhook.collector.quarantine.files", ENVIRONMENT)).toMatchObject({ "laptops/laptops": 0 });
  });
});
