// Slow: only `npm run test:all` runs it. Each kind of payload that is not understood; agents/contract.test.ts has
// what every adapter does with it.
// Every payload ends as events, as an event that its card names as not needed, or in quarantine.
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { RECORDED_VARIABLES } from "#agents/intake.const.ts";
import { allAgents } from "#agents/registry.ts";
import { formatEnd, formatHead } from "#collect/intake/inbox-file.ts";
import { adapt } from "#collect/payload/adapt.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { type RecordedPayload, recordedPayloads } from "../session/recorded.ts";
import { linesOf } from "../support/documented.ts";
import { InboxFixture } from "../support/inbox-fixture.ts";
import { CASES } from "../support/replay.ts";

const agents = await allAgents();
const payloads: readonly RecordedPayload[] = [
  ...recordedPayloads(),
  ...linesOf<RecordedPayload>(join(CASES, "detection", "recorded.jsonl")),
].filter(({ payload }) => typeof payload === "object");
const own = payloads.filter(({ source }) => agents.some((agent) => agent.source === source));

const factsOf = ({ event, env }: RecordedPayload, source: string): IntakeFacts => ({
  source,
  event,
  timeMs: Date.UTC(2026, 9, 5, 12),
  env: Object.fromEntries(Object.entries(env).filter(([name]) => RECORDED_VARIABLES.includes(name))),
  payloadBytes: 2,
  truncated: false,
});

let inbox: InboxFixture | undefined;
afterEach(() => inbox?.remove());

test("of an agent's recorded payloads none is quarantined: each is converted, or named as not needed", () => {
  const refused = own.flatMap((one) => {
    const adapted = adapt(agents, one.payload, factsOf(one, one.source));
    return adapted.outcome === "refused" ? [`${one.source} ${one.event}: ${adapted.reason}`] : [];
  });
  expect([...new Set(refused)]).toEqual([]);
});

test("under any registration a payload has events, or the name of its event, or a reason", () => {
  const distinct = [...new Map(payloads.map((one) => [`${one.source} ${one.event}`, one])).values()];
  for (const one of distinct) {
    for (const { source } of agents) {
      const adapted = adapt(agents, one.payload, factsOf(one, source));
      if (adapted.outcome === "refused") expect(adapted.reason).not.toBe("");
      else if (adapted.outcome === "converted") expect(adapted.events.length).toBeGreaterThan(0);
      else expect(agents.flatMap(({ known }) => known?.events ?? [])).toContain(adapted.event);
    }
  }
});

test.each(agents.map(({ source, known }) => [source, known] as const))(
  "%s: names only events that the card knows as not needed",
  (_, known) => {
    expect(known).toBeDefined();
    for (const name of known?.notNeeded ?? []) expect(known?.events).toContain(name);
  },
);

describe("a drain", () => {
  const put = (fixture: InboxFixture, one: RecordedPayload, source: string, number: number): void => {
    mkdirSync(fixture.places.inboxDir, { recursive: true, mode: 0o700 });
    const head = formatHead({ source, event: one.event, ppid: 1, pid: number, cwd: "/home/dev", env: one.env });
    const path = join(fixture.places.inboxDir, `1-${number}-0.evt`);
    writeFileSync(path, `${head}${JSON.stringify(one.payload)}${formatEnd("whole")}`);
  };

  test("converts, counts or quarantines every payload that an inbox holds, and keeps the quarantined ones", async () => {
    const fixture = new InboxFixture();
    inbox = fixture;
    const distinct = [...new Map(payloads.map((one) => [`${one.source} ${one.event}`, one])).values()];
    const sent = distinct.flatMap((one) => ["hook-contract", one.source].map((source) => [one, source] as const));
    for (const [index, [one, source]] of sent.entries()) put(fixture, one, source, index + 1);
    const converted = sent.filter(
      ([one, source]) => adapt(agents, one.payload, factsOf(one, source)).outcome === "converted",
    );
    const report = await fixture.drain({}, agents);
    expect(report.files).toBe(sent.length);
    expect(converted.length + report.ignored + report.quarantined).toBe(sent.length);
    const kept = readdirSync(fixture.places.quarantineDir).filter((name) => name.endsWith(".evt"));
    expect(kept).toHaveLength(report.quarantined);
  });

  test("quarantines payloads of an agent without a card, no matter who registered the hook", async () => {
    const fixture = new InboxFixture();
    inbox = fixture;
    const payload = { hook_event_name: "pre_step", session_id: "s", parent_session_id: null, cwd: "/home/dev" };
    const names = ["hook-contract", "claude-code", "gemini-cli", "kiro", "droid", "copilot"];
    for (const [index, source] of names.entries()) {
      put(fixture, { source: "unknown", event: "pre_step", env: {}, payload }, source, index + 1);
    }
    const report = await fixture.drain({}, agents);
    expect(report).toMatchObject({ files: names.length, events: 0, ignored: 0, quarantined: names.length });
  });
});
