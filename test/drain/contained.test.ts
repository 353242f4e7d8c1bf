// Each step of a drain fails for one of three sessions: the other two are delivered by the same drain, and the third by a later
// one, each exactly once.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { allAgents } from "#agents/registry.ts";
import { storeFindings } from "#check/health/checks/store.ts";
import { collectStatus } from "#check/health/examine.ts";
import { examinedOf } from "#check/health/facts/examined.ts";
import { quarantinedIn } from "#check/health/facts/inbox.ts";
import { checkStore } from "#check/health/facts/tried.ts";
import type { Agent } from "#core/model/agent.ts";
import type { TranscriptReader } from "#core/model/transcript-reader.ts";
import { openDatabase } from "#store/database.ts";
import { sessionFailures } from "#store/failures.ts";
import { importInto } from "../import/run.ts";
import { type Receiver, startReceiver } from "../receiver/receiver.ts";
import { contextAt } from "../support/context.ts";
import { Replay } from "../support/replay.ts";
import { firstOf } from "../support/whole.ts";

const SESSIONS = ["a", "b", "c"].map((letter) => letter.repeat(8).concat("-0000-4000-8000-000000000000"));
const BAD = SESSIONS[1] as string;

/** The step that fails, and how to recognise its work for the bad session. */
const failing = vi.hoisted(() => ({
  step: undefined as string | undefined,
  isBad: (_: readonly unknown[]): boolean => false,
}));

/** Replaces exported functions of a module by ones that can fail. */
const breakable = vi.hoisted(() => <T extends object>(module: T, step: string, ...names: readonly (keyof T)[]): T => {
  const replaced = names.map((name) => {
    const whole = module[name] as (...values: unknown[]) => unknown;
    return [
      name,
      (...values: unknown[]): unknown => {
        const given = values.filter((value) => !(typeof value === "object" && value !== null && "db" in value));
        if (failing.step === step && failing.isBad(given)) throw new TypeError(`${step} failed on purpose`);
        return whole(...values);
      },
    ];
  });
  return { ...module, ...Object.fromEntries(replaced) };
});
vi.mock("#core/rules/merge.ts", async (original) => breakable(await original(), "merge", "mergeEntries" as never));
vi.mock("#core/session/build.ts", async (original) => breakable(await original(), "build", "buildSession" as never));
vi.mock("#core/telemetry/rates.ts", async (original) => breakable(await original(), "price", "tableList" as never));
vi.mock("#core/telemetry/spans.ts", async (original) => breakable(await original(), "spans", "turnSpans" as never));
vi.mock("#core/telemetry/metrics.ts", async (original) =>
  breakable(await original(), "counts", "eachRunCount" as never),
);
vi.mock("#store/capture/protect.ts", async (original) => {
  const whole = breakable(await original<object>(), "redact an event", "protectEvent" as never);
  return breakable(whole, "redact a span", "protectSpan" as never);
});
vi.mock("#send/otlp/encode.ts", async (original) => breakable(await original(), "encode", "encodeSpans" as never));

let receiver: Receiver;
let replay: Replay;
beforeEach(async () => {
  receiver = await startReceiver();
  replay = new Replay("claude-code", "basic", { withTranscripts: false });
  replay.env = { OPENHOOK_OTEL_OTLP_ENDPOINT: receiver.url };
  failing.isBad = (values) => hasText(values, BAD) || hasText(values, "claude-opus-4-5");
});
afterEach(async () => {
  failing.step = undefined;
  replay.remove();
  await receiver.close();
});

const at = (second: number): string => new Date(Date.UTC(2026, 10, 21, 10, 0, second)).toISOString();
const pathOf = (session: string): string =>
  join(replay.home, ".claude", "projects", "-home-dev-shop", `${session}.jsonl`);

/** Three sessions of one turn with one answer, as files; the bad one has another model. */
function writeTranscripts(): void {
  for (const session of SESSIONS) {
    const line = (second: number, more: object): string =>
      `${JSON.stringify({ sessionId: session, version: "2.1.329", isSidechain: false, timestamp: at(second), ...more })}\n`;
    const model = session === BAD ? "claude-opus-4-5" : "claude-sonnet-4-5";
    const answer = (output: number, stop: string | null) => ({
      type: "assistant",
      requestId: `req_${session}`,
      message: {
        ...{ id: `msg_${session}`, role: "assistant", model, content: [{ type: "text", text: "ok" }] },
        ...{ stop_reason: stop, usage: { input_tokens: 100, output_tokens: output } },
      },
    });
    mkdirSync(dirname(pathOf(session)), { recursive: true });
    writeFileSync(
      pathOf(session),
      line(2, { type: "user", uuid: "u1", promptId: "p", message: { role: "user", content: "go on" } }) +
        line(3, { uuid: "u2", ...answer(1, null) }) +
        line(4, { uuid: "u3", ...answer(10, "end_turn") }),
    );
  }
}

/** Their hooks. */
function putHooks(): void {
  for (const session of SESSIONS) {
    const shared = { session_id: session, transcript_path: pathOf(session), cwd: "/home/dev/shop" };
    for (const [second, event, more] of [
      [1, "SessionStart", { source: "startup" }],
      [2, "UserPromptSubmit", { prompt_id: "p", prompt: "go on" }],
      [5, "Stop", { prompt_id: "p" }],
      [6, "SessionEnd", { reason: "other" }],
    ] as const) {
      replay.put({ received_at: at(second), event, stdin: { ...shared, hook_event_name: event, ...more } });
    }
  }
}

/** Claude Code with an adapter and a reader that can fail. */
async function agents(): Promise<readonly Agent[]> {
  const fail = (step: string, value: unknown): void => {
    if (failing.step === step && hasText([value], BAD)) throw new TypeError(`${step} failed on purpose`);
  };
  return (await allAgents()).map((card) => {
    if (card.source !== "claude-code") return card;
    const load = card.transcript as NonNullable<Agent["transcript"]>;
    const transcript = async (): Promise<{ default: TranscriptReader }> => {
      const { default: reader } = await load();
      const read: TranscriptReader["read"] = (file, ...rest) => {
        fail("read", file.path);
        return reader.read(file, ...rest);
      };
      return { default: { ...reader, read } };
    };
    const toEvents: Agent["toEvents"] = (payload, facts) => {
      fail("adapt", payload);
      return card.toEvents(payload, facts);
    };
    return { ...card, transcript, toEvents };
  });
}

/** In `npm test`, the first five. */
const STEPS = [
  "adapt",
  "read",
  "build",
  "counts",
  "encode",
  "redact an event",
  "merge",
  "price",
  "spans",
  "redact a span",
];
/** Steps whose failure concerns a session in the store. */
const STORED: ReadonlySet<string> = new Set([
  "read",
  "merge",
  "build",
  "price",
  "spans",
  "counts",
  "redact a span",
  "encode",
]);
const clock = { now: () => Date.parse(at(30)), sleep: async () => {} };

describe.each(firstOf(STEPS, 5))("%s fails for one of three sessions", (step) => {
  test("the others are delivered immediately, the failing one as soon as the step succeeds, each once", async () => {
    writeTranscripts();
    putHooks();
    failing.step = step;
    const report = await replay.drain({ isEager: true }, { ...clock, agents: await agents() });

    expect(deliveredSessions()).toEqual(expect.arrayContaining(SESSIONS.filter((one) => one !== BAD)));
    expect(await problemsOf(report)).toContain(step === "price" ? "" : "failed on purpose");
    // Shown, with the file
    const { failed, inbox, remarks } = await statusOf();
    const isQuarantined = step === "adapt" || step === "redact an event";
    if (isQuarantined) expect(inbox.quarantined).toBeGreaterThan(0);
    else if (STORED.has(step)) expect(failed).toMatchObject([{ session_id: BAD, path: pathOf(BAD) }]);
    if (STORED.has(step)) {
      expect(remarks.join("\n")).toContain(BAD);
      expect(await doctorTexts()).toContain(pathOf(BAD));
    }
    const { quarantined } = inbox;

    // An update that does not help changes nothing
    await replay.drain({ isEager: true }, { ...clock, version: "1.1.0", agents: await agents() });
    if (isQuarantined) {
      const later = await statusOf();
      expect(later.inbox.quarantined).toBe(quarantined);
      expect(later.self.payloads["quarantined"]).toBe(quarantined);
    }

    // One that does
    failing.step = undefined;
    await replay.drain({ isEager: true }, { ...clock, version: "1.2.0", agents: await agents() });
    expect((await statusOf()).inbox.quarantined).toBe(0);
    expect(deliveredSessions()).toEqual(SESSIONS);
    expect(inputByModel()).toEqual({ "claude-sonnet-4-5": 200, "claude-opus-4-5": 100 });
    expect(failures()).toEqual([]);
  });
});

test.each(["redact a span", "encode"])("%s fails while sending, after the session was settled", async (step) => {
  writeTranscripts();
  putHooks();
  const { env } = replay;
  replay.env = {};
  await replay.drain({}, { ...clock, agents: await agents() });
  replay.env = env;
  failing.step = step;
  await replay.drain({ isEager: true }, { ...clock, agents: await agents() });
  await replay.drain({ isEager: true }, { ...clock, agents: await agents() });
  expect(deliveredSessions()).toEqual(SESSIONS.filter((one) => one !== BAD));
  const name = step === "encode" ? "encode" : "redact";
  const reason = `${step} failed on purpose`;
  expect(failures()).toMatchObject([{ step: name, sessionId: BAD, path: pathOf(BAD), reason }]);
  expect((await statusOf()).remarks.join("\n")).toContain(`could not ${name} a span of the session ${BAD}`);

  failing.step = undefined;
  await replay.drain({ isEager: true }, { ...clock, agents: await agents() });
  expect(deliveredSessions()).toEqual(SESSIONS);
  expect(failures()).toEqual([]);
});

describe.each(["merge", "price", "build"])("%s fails for one of three imported sessions", (step) => {
  test("the others are imported, and the failing one by a later import", async () => {
    writeTranscripts();
    failing.step = step;
    await importInto(replay, "claude-code");
    expect(importedSessions()).toEqual(expect.arrayContaining(SESSIONS.filter((one) => one !== BAD)));
    if (step === "price") {
      expect(failures()).toMatchObject([
        { step, sessionId: BAD, path: pathOf(BAD), reason: "price failed on purpose" },
      ]);
    }
    failing.step = undefined;
    await importInto(replay, "claude-code");
    expect(importedSessions()).toEqual(SESSIONS);
  });
});

test("status names the session, its file, the step and the reason, until it succeeds", async () => {
  writeTranscripts();
  putHooks();
  failing.step = "build";
  await replay.drain({}, { ...clock, agents: await agents() });
  await replay.drain({}, { ...clock, agents: await agents() });
  expect(failures()).toMatchObject([
    { sessionId: BAD, step: "build", reason: "build failed on purpose", path: pathOf(BAD), attempts: 2 },
  ]);
});

/** Whether a text occurs in a value of any depth, cycles included. */
function hasText(values: readonly unknown[], text: string): boolean {
  const seen = new Set<unknown>();
  const has = (value: unknown): boolean => {
    if (typeof value === "string") return value.includes(text);
    if (typeof value !== "object" || value === null || seen.has(value)) return false;
    seen.add(value);
    return Object.values(value).some(has);
  };
  return values.some(has);
}

/** Sessions whose root span arrived, sorted; one that arrived twice is there twice. */
const deliveredSessions = (): readonly string[] =>
  receiver.spans
    .filter(
      ({ parentSpanId, attributes }) =>
        (parentSpanId ?? "") === "" && attributes["openhook.session.input_tokens"] !== undefined,
    )
    .map(({ attributes }) => String(attributes["gen_ai.conversation.id"]))
    .sort();

/** Input tokens as the backend has them now, by model. */
function inputByModel(): Readonly<Record<string, number>> {
  const sums: Record<string, number> = {};
  for (const { name, attributes, data } of receiver.latestPoints()) {
    if (name !== "gen_ai.client.inference.usage.input_tokens" || data.kind === "histogram") continue;
    const model = String(attributes["gen_ai.request.model"] ?? attributes["gen_ai.response.model"]);
    // Each version of the program has a series, and the sum only grows
    sums[model] = Math.max(sums[model] ?? 0, Number(data.value));
  }
  return sums;
}

/** What the drain and the quarantine say about failures. */
async function problemsOf(report: { readonly problems: readonly string[] }): Promise<string> {
  const quarantined = await quarantinedIn(replay.places.quarantineDir);
  return [...report.problems, ...quarantined.map(({ reason }) => String(reason))].join("\n");
}

/** Everything that `doctor` reports about the store. */
async function doctorTexts(): Promise<string> {
  const examined = await examinedOf(contextAt(replay.places, { env: replay.env }).context);
  const findings = [...storeFindings({ ...examined, checked: await checkStore(examined.facts) })];
  return findings.map(({ text }) => text).join("\n");
}

const statusOf = () => collectStatus(contextAt(replay.places, { env: replay.env }).context);

function failures() {
  const db = openDatabase(replay.places.storePath);
  try {
    return sessionFailures(db);
  } finally {
    db.close();
  }
}

function importedSessions(): readonly string[] {
  const db = openDatabase(replay.places.storePath);
  try {
    return db
      .prepare("SELECT s.session_id FROM packed p JOIN sessions s ON s.id = p.session ORDER BY 1")
      .all()
      .map((row) => String(row["session_id"]));
  } finally {
    db.close();
  }
}
