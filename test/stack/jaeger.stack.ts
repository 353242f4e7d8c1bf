// What Jaeger does with a span that is sent twice, as a sender does that got no response.
import { describe, expect, test } from "vitest";
import { jaegerTrace } from "./ask.ts";
import { until } from "./gateway.ts";
import { programs } from "./programs.ts";
import { startJaeger } from "./servers.ts";

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

// --- internal ---

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
