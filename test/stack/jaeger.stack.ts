// What Jaeger does with a span that is sent twice, as a sender does that got no response, and what its pages get of a
// session. The module that Jaeger is built from has no pages, so rows are made here by the rules of their source code
import { describe, expect, test } from "vitest";
import { type JaegerSpan, jaegerTrace } from "./ask.ts";
import { until } from "./gateway.ts";
import { programs } from "./programs.ts";
import { startJaeger } from "./servers.ts";
import { Team } from "./sessions.ts";

const { jaeger } = await programs();
const TRACE_ID = "5b8efff798038103d269b633813fc60c";
const SPAN_ID = "eee19b7ec3c1b174";

describe.skipIf(jaeger === undefined)("a span that was sent twice", () => {
  test("is stored once on disk, where its ids and its start form the key", async () => {
    expect(await afterTwo("disk")).toEqual({ shown: [SPAN_ID], stored: [SPAN_ID] });
  });

  // When it returns a trace, Jaeger leaves out spans that are equal in every byte, as repeated ones of ours are
  test("is stored twice in memory, and shown once", async () => {
    expect(await afterTwo("memory")).toEqual({ shown: [SPAN_ID], stored: [SPAN_ID, SPAN_ID] });
  });
});

describe.skipIf(jaeger === undefined)("the pages of Jaeger get", () => {
  test("a session in order, with readable names, failures marked, and tokens of its model calls", async () => {
    const server = await startJaeger(jaeger ?? "", "memory");
    const team = await Team.at([{ source: "claude-code", name: "parallel-tools" }]);
    try {
      await team.drain({ OPENHOOK_OTEL_OTLP_ENDPOINT: server.otlpHttp });
      const { spans } = team.truth();
      const [{ traceId } = { traceId: "" }] = spans;
      await until("the trace is stored", async () => (await jaegerTrace(server.url, traceId)).length === spans.length);
      expect(rowsOf(await jaegerTrace(server.url, traceId))).toEqual([
        "agent claude-code invoke_agent claude-code",
        "  agent claude-code invoke_agent claude-code",
        "    model claude-code chat claude-sonnet-4-5-20250929 ↑6114 ↓210",
        "    tool claude-code execute_tool Bash",
        "    ! tool claude-code execute_tool Bash ls",
        "    tool claude-code execute_tool Read",
        "    model claude-code chat claude-sonnet-4-5-20250929 ↑6649 ↓188",
        "    ! tool claude-code execute_tool Read",
        "    tool claude-code execute_tool Write",
        "    tool claude-code execute_tool Edit",
        "    model claude-code chat claude-sonnet-4-5-20250929 ↑7126 ↓44",
      ]);
    } finally {
      team.remove();
      await server.remove();
    }
  });
});

// --- internal ---

/** Jaeger's row of a span: indented by depth, `!` for a red mark, the icon's kind, tokens beside model calls. */
function rowsOf(spans: readonly JaegerSpan[], parent?: string, depth = 0): readonly string[] {
  return spans
    .filter(({ parentSpanId }) => parentSpanId === parent)
    .sort((a, b) => a.startMs - b.startMs)
    .flatMap((span) => {
      const { attributes, service, name } = span;
      const kind = ICONS[String(attributes["gen_ai.operation.name"])] ?? "";
      const [input, output] = [attributes["gen_ai.usage.input_tokens"], attributes["gen_ai.usage.output_tokens"]];
      const tokens = kind === "model" ? ` ↑${input} ↓${output}` : "";
      const mark = attributes["error"] === true ? "! " : "";
      return [
        `${"  ".repeat(depth)}${mark}${kind} ${service} ${name}${tokens}`,
        ...rowsOf(spans, span.spanId, depth + 1),
      ];
    });
}

/** Of `utils/genai/detect.ts` in jaegertracing/jaeger-ui, read 2026-11-27. */
const ICONS: Readonly<Record<string, string>> = { chat: "model", execute_tool: "tool", invoke_agent: "agent" };

/** Sends the same request twice. @returns the ids of the trace's spans, as Jaeger shows and as it stores them */
async function afterTwo(storage: "disk" | "memory") {
  const server = await startJaeger(jaeger ?? "", storage);
  const idsOf = async (path: string) => (await jaegerTrace(server.url, path)).map(({ spanId }) => spanId);
  try {
    // A further span after each request shows that the spans before it are stored
    for (const marker of ["aaaaaaaaaaaaaaa1", "aaaaaaaaaaaaaaa2"]) {
      const markerTrace = marker.padStart(32, "0");
      await post(server.otlpHttp, [span(TRACE_ID, SPAN_ID)]);
      await post(server.otlpHttp, [span(markerTrace, marker)]);
      await until("the marker is stored", async () => (await idsOf(markerTrace)).length > 0);
    }
    return { shown: await idsOf(TRACE_ID), stored: await idsOf(`${TRACE_ID}?raw=true`) };
  } finally {
    await server.remove();
  }
}

const span = (traceId: string, spanId: string) => ({
  traceId,
  spanId,
  name: "chat",
  kind: 3,
  startTimeUnixNano: "1795000000000000000",
  endTimeUnixNano: "1795000001000000000",
});

async function post(endpoint: string, spans: readonly unknown[]): Promise<void> {
  const resource = { attributes: [{ key: "service.name", value: { stringValue: "twice" } }] };
  const body = JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ scope: { name: "test" }, spans }] }] });
  const headers = { "content-type": "application/json" };
  const { status } = await fetch(`${endpoint}/v1/traces`, { method: "POST", headers, body });
  if (status !== 200) throw new Error(`Jaeger answered ${status}`);
}
