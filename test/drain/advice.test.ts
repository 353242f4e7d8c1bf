import { afterEach, expect, test } from "vitest";
import { type Receiver, startReceiver } from "../receiver/receiver.ts";
import { Replay } from "../support/replay.ts";

let receiver: Receiver | undefined;
let replay: Replay | undefined;
afterEach(async () => {
  await receiver?.close();
  replay?.remove();
});

test("a backend that accepts only traces: the drain reports how to turn metrics off", async () => {
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

test("a backend that cannot read gzip: the drain names the setting, and with it everything is sent", async () => {
  receiver = await startReceiver({
    behaviour: ({ headers }) => (headers["content-encoding"] === undefined ? undefined : { status: 415 }),
  });
  replay = new Replay("claude-code", "basic");
  replay.env = { OPENHOOK_OTEL_OTLP_ENDPOINT: receiver.url };
  for (const call of replay.calls) replay.put(call);
  const { problems, waiting } = await replay.drain({ endIdle: true, isEager: true });
  expect(problems).toContainEqual(expect.stringMatching(/^traces: .* answered 415.*otlp\.compression to none/));
  replay.env = { ...replay.env, OPENHOOK_OTEL_OTLP_COMPRESSION: "none" };
  expect(await replay.drain({ isEager: true })).toMatchObject({ sent: waiting, waiting: 0 });
});

test("a redirect: the drain names the setting that uses an address unchanged", async () => {
  receiver = await startReceiver({ behaviour: () => ({ status: 308, headers: { location: "/otlp/v1/traces" } }) });
  replay = new Replay("claude-code", "basic");
  replay.env = { OPENHOOK_OTEL_OTLP_ENDPOINT: receiver.url };
  for (const call of replay.calls) replay.put(call);
  const { problems } = await replay.drain({ endIdle: true, isEager: true });
  expect(problems[0]).toMatch(
    /^traces: .* redirects to http:.*\/otlp\/v1\/traces \(308\).*; set otlp\.traces\.endpoint/,
  );
});
