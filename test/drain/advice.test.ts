import { afterEach, expect, test } from "vitest";
import { type Receiver, startReceiver } from "../receiver/receiver.ts";
import { Replay } from "../support/replay.ts";

let receiver: Receiver | undefined;
let replay: Replay | undefined;
afterEach(async () => {
  await receiver?.close();
  replay?.remove();
});

test("a backend that accepts only traces: the drain says how to turn metrics off", async () => {
  receiver = await startReceiver({
    behaviour: ({ path }) => (path.endsWith("/v1/metrics") ? { status: 404 } : undefined),
  });
  replay = new Replay("claude-code", "basic");
  replay.env = { OPENHOOK_OTEL_OTLP_ENDPOINT: receiver.url };
  for (const call of replay.calls) replay.put(call);
  const { problems } = await replay.drain({ endIdle: true, isEager: true });
  expect(problems).toEqual([
    expect.stringMatching(/^metrics: .* answered 404.*if it accepts no metrics, set otlp\.metrics\.enabled to false$/),
  ]);
  expect(receiver.spans.length).toBeGreaterThan(0);
});
