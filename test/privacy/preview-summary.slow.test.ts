// Slow: only `npm run test:all` runs it. The summary of a preview; privacy/preview.test.ts compares it with a delivery.
import { expect, test } from "vitest";
import { preview } from "#commands/preview.ts";
import { importInto } from "../import/run.ts";
import { contextAt, SGR } from "../support/context.ts";
import { Replay } from "../support/replay.ts";

const nowMs = Date.now();

test("a preview begins with a summary", async () => {
  const own = new Replay("claude-code", "subagent");
  const endpoint = {
    OPENHOOK_OTEL_OTLP_ENDPOINT: "http://collector.test:4318",
    OPENHOOK_OTEL_SELF_TELEMETRY: "false",
  };
  const summary = async (env: Record<string, string>): Promise<string> => {
    const { context, out } = contextAt(own.places, { env, now: () => nowMs, columns: 100 });
    await preview(undefined, { json: false }, context);
    const lines = out().replaceAll(SGR, "").trimEnd().split("\n");
    return lines.slice(0, lines.indexOf("")).join("\n");
  };
  try {
    expect(await summary(endpoint)).toBe(
      [
        "The next drain would send nothing",
        "traces        nothing, to http://collector.test:4318/v1/traces",
        "metrics       nothing, to http://collector.test:4318/v1/metrics",
        "capture       metadata: ids, times, figures and names; no prompts, answers, arguments or results",
      ].join("\n"),
    );
    for (const call of own.calls) own.put(call);
    expect(
      (await summary({ ...endpoint, OPENHOOK_OTEL_CAPTURE: "redacted" })).replaceAll(/\d{4,5}|\d{1,3},\d{3}/g, "N"),
    ).toBe(
      [
        "The next drain would send 11 spans of 1 session and 106 metric points",
        "spans         1 session, 1 turn, 5 model calls, 3 tool calls, 1 subagent",
        "traces        1 request, N bytes of JSON, to http://collector.test:N/v1/traces",
        "metrics       1 request, N bytes of JSON, to http://collector.test:N/v1/metrics",
        "capture       redacted: also prompts, answers, arguments and results, without secrets",
        "content       gen_ai.input.messages, gen_ai.output.messages, gen_ai.tool.call.arguments,",
        "              gen_ai.tool.call.result",
        "names         gen_ai.agent.name, gen_ai.tool.name, openhook.session.native_end_reason,",
        "              openhook.session.start_origin, process.executable.name",
        "who you are   none",
        "other         host.arch, os.type, service.instance.id, service.namespace, telemetry.distro.name,",
        "              telemetry.distro.version",
      ].join("\n"),
    );
    const off = await summary({ ...endpoint, OPENHOOK_OTEL_OTLP_TRACES_ENABLED: "false" });
    expect(off).toContain("The next drain would send 106 metric points, but not 11 spans of 1 session\n");
    expect(off).toContain("traces        not sent: export is switched off (otlp.traces.enabled)\n");
    expect(off).toContain("content       none\n");
    expect(await summary({ ...endpoint, OPENHOOK_OTEL_CAPTURE: "none" })).toMatch(/\ncontent {7}none\nnames {9}none\n/);
    expect(await summary({})).toMatch(/^Export is off: the next drain would send nothing; queued: 11 spans of /);
  } finally {
    own.remove();
  }
});

test("a preview of an imported session says how it is sent", async () => {
  const own = new Replay("claude-code", "basic");
  try {
    await importInto(own, "claude-code");
    const { context, out } = contextAt(own.places, { now: () => nowMs, columns: 200 });
    await preview(own.calls[0]?.stdin?.["session_id"] as string, { json: false }, context);
    expect(out().replaceAll(SGR, "")).toMatch(
      /^nothing of this session is queued: .*; openhook-otel import --export sends imported sessions$/m,
    );
  } finally {
    own.remove();
  }
});
