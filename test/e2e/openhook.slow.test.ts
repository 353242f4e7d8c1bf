// Slow: only `npm run test:all` runs it. OpenHook senders and drains that hooks start, with the built program; e2e/full-
// way.test.ts delivers once.
//
// The Node version of the hook, as `.openhook.json` and Windows start it: native payloads with --source and --event, and
// OpenHook envelopes, which need neither.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import * as semconv from "#core/telemetry/semconv.ts";
import { startReceiver } from "../receiver/receiver.ts";
import { ensureBuilt, Machine, PROGRAM, RECORDINGS, RecordedAgent } from "../support/program.ts";
import type { Expected } from "../support/summary.ts";

const TWIN = `'${process.execPath}' '${PROGRAM}' hook`;

beforeAll(ensureBuilt);

test("native payloads: the Node hook starts drains, and the totals match the recording", async () => {
  const [machine, receiver] = [new Machine(), await startReceiver()];
  try {
    await machine.ok(["config", "set", "otlp.endpoint", receiver.url]);
    const agent = new RecordedAgent(machine, "basic");
    await agent.work({ get: (event) => [`${TWIN} --source claude-code --event ${event}`] });
    await machine.quiet();
    const { sessions }: Expected = JSON.parse(readFileSync(join(RECORDINGS, "basic", "expected.json"), "utf8"));
    const calls = receiver.spans.filter((span) => span.attributes[semconv.OPENHOOK_SPAN_KIND] === "model_call");
    const sum = (name: string): number => calls.reduce((n, call) => n + Number(call.attributes[name]), 0);
    expect(sum(semconv.GEN_AI_USAGE_INPUT_TOKENS)).toBe(sessions[0]?.totals["input"]);
    expect(sum(semconv.GEN_AI_USAGE_OUTPUT_TOKENS)).toBe(sessions[0]?.totals["output"]);
    const roots = receiver.spans.filter((span) => span.parentSpanId === undefined);
    expect(roots.map((span) => span.attributes[semconv.OPENHOOK_END_REASON])).toEqual(["completed"]);
  } finally {
    await machine.remove();
    await receiver.close();
  }
});

/** The specification's example session with one envelope duplicated, from a tool without a card. */
const envelope = (n: number, type: string, data: object): Readonly<Record<string, unknown>> => ({
  openhook: "0.1",
  id: `550e8400-e29b-41d4-a716-44665544000${n}`,
  source: "acme-agent",
  type,
  time: `2026-09-14T09:00:0${n}.000Z`,
  session_id: "sess_abc123",
  cwd: "/home/dev/acme-shop",
  data,
});
const ENVELOPES = [
  envelope(0, "session.start", { model: "claude-sonnet-4-20250514" }),
  envelope(1, "prompt.submit", { prompt_length: 12 }),
  envelope(2, "tool.start", { tool_name: "Bash", tool_call_id: "call_1" }),
  envelope(3, "tool.end", { tool_name: "Bash", tool_call_id: "call_1", status: "success", duration_ms: 950 }),
  envelope(4, "session.end", { reason: "completed", duration_ms: 4000, input_tokens: 1200, output_tokens: 300 }),
];

test("OpenHook envelopes are stored unchanged, deduplicated, and become a trace", async () => {
  const [machine, receiver] = [new Machine(), await startReceiver()];
  try {
    await machine.ok(["config", "set", "otlp.endpoint", receiver.url]);
    for (const one of [...ENVELOPES, ENVELOPES[3]]) {
      const { code, stdout, stderr } = await machine.run(["hook"], { input: JSON.stringify(one) });
      expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: "", stderr: "" });
    }
    await machine.quiet();
    await machine.drain();

    const [root, turn, tool] = ["session", "turn", "tool_call"].map((kind) => {
      const spans = receiver.spans.filter((span) => span.attributes[semconv.OPENHOOK_SPAN_KIND] === kind);
      expect(spans, kind).toHaveLength(1);
      return spans[0];
    });
    expect(receiver.spans).toHaveLength(3);
    expect(turn?.parentSpanId).toBe(root?.spanId);
    expect(tool?.parentSpanId).toBe(turn?.spanId);
    expect(root?.resource["service.name"]).toBe("acme-agent");
    expect([root?.startNs, root?.endNs].map((ns) => new Date(Number((ns ?? 0n) / 1_000_000n)).toISOString())).toEqual([
      ENVELOPES[0]?.["time"],
      ENVELOPES[4]?.["time"],
    ]);
    expect(tool?.attributes).toMatchObject({
      [semconv.GEN_AI_TOOL_NAME]: "Bash",
      [semconv.GEN_AI_TOOL_CALL_ID]: "call_1",
      [semconv.OPENHOOK_TOOL_STATUS]: "success",
    });

    const sessions: unknown = JSON.parse(await machine.ok(["sessions", "--json"]));
    expect(sessions).toMatchObject([
      { source: "acme-agent", session_id: "sess_abc123", reason: "completed", turns: 1, tool_calls: { success: 1 } },
    ]);
    const shown = await machine.ok(["show", "sess_abc123", "--envelopes"]);
    const lines = shown
      .trim()
      .split("\n")
      .map((line): unknown => JSON.parse(line));
    expect(lines).toEqual(ENVELOPES);
  } finally {
    await machine.remove();
    await receiver.close();
  }
});
