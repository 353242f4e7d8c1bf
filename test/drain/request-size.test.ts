import { afterEach, expect, test } from "vitest";
import { type Receiver, startReceiver } from "../receiver/receiver.ts";
import { Replay } from "../support/replay.ts";
import { firstOf } from "../support/whole.ts";

let receiver: Receiver | undefined;
let replay: Replay | undefined;
afterEach(async () => {
  await receiver?.close();
  replay?.remove();
});

const SESSION = "a79b3a9f-1c1f-4101-b0e2-6f245ecf26b3";
const OTHER = "b79b3a9f-1c1f-4101-b0e2-6f245ecf26b3";

async function start(status: number, isRefused: (bytes: number) => boolean) {
  receiver = await startReceiver({
    behaviour: ({ headers }) => (isRefused(Number(headers["content-length"])) ? { status, body: "<html>" } : undefined),
  });
  const one = new Replay("claude-code", "nested-subagents");
  replay = one;
  one.env = {
    OPENHOOK_OTEL_OTLP_ENDPOINT: receiver.url,
    OPENHOOK_OTEL_OTLP_COMPRESSION: "none",
    OPENHOOK_OTEL_OTLP_PROTOCOL: "http/json",
  };
  for (const call of one.calls) one.put(call);
  return { one, to: receiver };
}

test.each(firstOf([403, 500, 502], 1))(
  "a limit of size that a gateway reports with %i: the second drain finds it, and later ones remember it",
  async (status) => {
    const { one, to } = await start(status, (bytes) => bytes > 12_000);
    const first = await one.drain({ endIdle: true, isEager: true });
    expect(first).toMatchObject({ sent: 0 });
    expect(first.problems.join()).toMatch(
      /^traces: .* answered \d+.*; a gateway may refuse large requests in this way/,
    );
    const second = await one.drain({ isEager: true });
    expect(second).toMatchObject({ waiting: 0, problems: [] });
    expect(to.spansById().size).toBe(to.spans.length);
    expect(to.metricPoints.length).toBeGreaterThan(0);

    // The size is still known: nothing is refused any more
    to.clear();
    for (const call of one.calls) {
      one.put({ ...call, stdin: JSON.parse(JSON.stringify(call.stdin).replaceAll(SESSION, OTHER)) });
    }
    expect(await one.drain({ endIdle: true, isEager: true })).toMatchObject({ waiting: 0, problems: [] });
    expect(to.requests.every(({ accepted }) => accepted)).toBe(true);
  },
);

test("real 403s: two requests per signal and drain, and advice about credentials", async () => {
  const { one, to } = await start(403, () => true);
  await one.drain({ endIdle: true, isEager: true });
  for (let drains = 0; drains < 3; drains++) {
    to.clear();
    const { problems } = await one.drain({ isEager: true });
    expect(problems).toHaveLength(2);
    for (const problem of problems)
      expect(problem).toMatch(/403; check otlp\.headers\.authorization: these credentials may not write$/);
    for (const signal of ["traces", "metrics"]) {
      expect(to.requests.filter(({ path }) => path.endsWith(signal)).length).toBeLessThanOrEqual(2);
    }
  }
});
