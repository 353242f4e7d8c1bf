import { expect, test } from "vitest";
import { eventId } from "#agents/shared/payload/identity.ts";
import type { Turn } from "#core/model/session.ts";
import { decodeTables } from "#core/packed/fact-columns.ts";
import { decodeFacts } from "#core/packed/facts.ts";
import { spanIdOf, traceIdOf } from "#core/telemetry/ids.ts";
import { compactionCounts, runCounts, segmentCounts } from "#core/telemetry/metrics.ts";
import { METRIC_SHAPES } from "#core/telemetry/shapes.ts";
import { turnSpans } from "#core/telemetry/spans.ts";
import { digestOf } from "#kit/digest.ts";
import { countFacts } from "#store/counters.ts";
import { fingerprint } from "#store/instance.ts";
import { markPruned } from "#store/pruned-facts.ts";
import { temporaryStores } from "../store/temporary.ts";

// Stores and backends already contain names from earlier versions. A changed name would count or show everything again:
// never adjust these expectations to a changed result.

const stores = temporaryStores();
const facts = { source: "claude-code", sessionId: "session-1" };
const turn: Turn = {
  ...{ key: "p1", origin: "human", segment: 0, state: "ended", hasHookPrompt: true, backgroundCount: 0 },
  ...{ startMs: 0, endMs: 9, errors: [], closed: true, uses: [] },
  modelCalls: [{ key: "response:msg_1", startMs: 1, endMs: 2, complete: true }],
  toolCalls: [{ callId: "toolu_1", name: "Bash", startMs: 3, endMs: 4, status: "success" }],
};

test("ids of traces, spans and events never change", () => {
  expect({
    session: traceIdOf({ source: "claude-code", sessionId: "session-1" }, "0"),
    turn: spanIdOf({ source: "claude-code", sessionId: "session-1" }, "turn", "p1"),
    event: eventId("claude-code", "session-1", "tool.start", "toolu_1"),
  }).toMatchInlineSnapshot(`
    {
      "event": "29ae315e-771d-54c8-9a1f-6a6d548fe384",
      "session": "c41c5896b05012fae076a8f126415d58",
      "turn": "ac797f5063b7ee1f",
    }
  `);
  const spans = [...turnSpans(turn, facts, { semconv: "both", traceScope: "session" })];
  expect(spans.map(({ key, record }) => [key, record.traceId, record.spanId])).toMatchInlineSnapshot(`
    [
      [
        "["claude-code","session-1","turn","p1"]",
        "2341dbc55bfcb2b3ec144cfc7c608122",
        "ac797f5063b7ee1f",
      ],
      [
        "["claude-code","session-1","model_call","response:msg_1"]",
        "2341dbc55bfcb2b3ec144cfc7c608122",
        "c69370ff32dc4d82",
      ],
      [
        "["claude-code","session-1","tool_call","toolu_1"]",
        "2341dbc55bfcb2b3ec144cfc7c608122",
        "5b9e51b8b3c0b105",
      ],
    ]
  `);
});

test("keys that make a fact count once never change", () => {
  const segment = { ordinal: 0, startMs: 0, lastActivityMs: 9, endMs: 9, uses: [] };
  const counts = [
    ...runCounts(turn, facts),
    segmentCounts(segment, facts),
    compactionCounts({ key: "c1", timeMs: 5 }, facts),
  ];
  expect(counts.map(({ key }) => key)).toMatchInlineSnapshot(`
    [
      "["claude-code","session-1","turn","p1"]",
      "["claude-code","session-1","model_call","response:msg_1"]",
      "["claude-code","session-1","tool_call","toolu_1"]",
      "["claude-code","session-1","session","0"]",
      "["claude-code","session-1","compaction","c1"]",
    ]
  `);
});

test("keys of streams, and digests of imported and pruned facts, never change", () => {
  const db = stores.open();
  countFacts(db, runCounts(turn, facts), METRIC_SHAPES, 0);
  const calls = db.prepare("SELECT identity FROM counters WHERE metric = 'openhook.tool.call.count'").all();
  expect(calls).toMatchInlineSnapshot(`
    [
      {
        "identity": "["openhook.tool.call.count","{\\"service.name\\":\\"claude-code\\"}","{\\"gen_ai.tool.name\\":\\"Bash\\",\\"openhook.tool.status\\":\\"success\\"}"]",
      },
    ]
  `);
  markPruned(db, "entry", "claude-code", "session-1", "response:msg_1");
  expect([
    digestOf("claude-code", "response:msg_1"),
    db.prepare("SELECT digest FROM forgotten").get()?.["digest"],
  ]).toMatchInlineSnapshot(`
    [
      15389242135748,
      54139494185003,
    ]
  `);
});

test("fingerprints that distinguish a store from its copies never change", () => {
  const fileSystem = { name: "ext4", isShared: false, hasLocks: true, hasStableInodes: true, isContainerLayer: false };
  const around = { fileSystem, machineId: "3d1219c7", hostname: "orchard", folderInode: "131074" };
  const shared = { ...around, fileSystem: { ...fileSystem, name: "nfs", isShared: true } };
  expect([around, shared].map((one) => fingerprint("/home/dev", one))).toMatchInlineSnapshot(`
    [
      "cff2cea044995d81e930e4531aa0c6b6",
      "aac8f733151ed54f9a16d49e84857a7d",
    ]
  `);
});

test("the encoding of packed history never changes without another version number and a migration", () => {
  const tables = [
    "T0hUM7gBAAB7InZlcnNpb24iOjMsInRleHRzIjozMiwidGFibGVzIjp7InByb21wdCI6eyJyb3dzIjoxLCJjb2x1bW5zIjp7Imtl",
    "eSI6WzAsMl0sImdsb2JhbEtleSI6WzAsLTFdLCJ0aW1lTXMiOlswLDE3OTUyNTUyMDAwMDBdLCJwcm9tcHRLZXkiOlswLDBdLCJv",
    "cmlnaW4iOlswLDFdLCJsZW5ndGgiOlswLDJdfX0sIm1vZGVsX2NhbGwiOnsicm93cyI6MiwiY29sdW1ucyI6eyJnbG9iYWxLZXki",
    "OlswLC0xXSwidGltZU1zIjpbMiwxNzk1MjU1MjAxMDAwXSwicHJvbXB0S2V5IjpbMCwwXSwicmVzcG9uc2VJZCI6WzEsM10sIm1v",
    "ZGVsIjpbMCw0XSwic3RhcnRNcyI6WzAsMTc5NTI1NTIwMDAwMF0sImVuZE1zIjpbMiwxNzk1MjU1MjAxMDAwXSwiaW5wdXQiOls0",
    "LDMwMDAwMDAwM10sIm91dHB1dCI6WzIsN10sImNhY2hlUmVhZCI6WzQsMzAwMDAwMDAwXSwiY29tcGxldGUiOlswLDBdfX19fXUx",
    "Cmh1bWFuCnByb21wdDp1MQptc2dfMQptCm1zZ18yAADcBQACAADcBQAAAAAAo+ERAAC1AgAAAAAAo+ER",
  ].join("");
  const text = [
    '{"version":1,"shapes":[[["kind",1],["key",1],["timeMs",0],["globalKey",1],["promptKey",1],["origin",',
    '1],["length",0]],[["kind",1],["key",1],["timeMs",0],["globalKey",1],["promptKey",1],["responseId",1]',
    ',["model",1],["startMs",0],["endMs",0],["usage",0],["complete",0]]],"texts":["prompt","prompt:u1","u',
    '1","human","model_call","response:msg_1:","msg_1","m","response:msg_2:","msg_2"],"rows":[[0,0,1,1795',
    '255200000,1,2,3,2],[1,4,5,1795255201000,5,2,6,7,1795255200000,1795255201000,{"input":300000003,"outp',
    'ut":7,"cacheRead":300000000},false],[1,4,8,1795255202500,8,2,9,7,1795255200000,1795255202500,{"input',
    '":600000003,"output":700,"cacheRead":600000000},false]]}',
  ].join("");
  const call = (n: number, tookMs: number, output: number) => ({
    ...{ kind: "model_call", key: `response:msg_${n}:`, globalKey: `response:msg_${n}:`, promptKey: "u1", model: "m" },
    ...{ responseId: `msg_${n}`, startMs: 1795255200000, endMs: 1795255200000 + tookMs, complete: false },
    ...{ timeMs: 1795255200000 + tookMs },
    usage: { input: n * 300000000 + 3, output, cacheRead: n * 300000000 },
  });
  const prompt = {
    kind: "prompt",
    key: "prompt:u1",
    globalKey: "prompt:u1",
    promptKey: "u1",
    origin: "human",
    length: 2,
  };
  const facts = [{ ...prompt, timeMs: 1795255200000 }, call(1, 1000, 7), call(2, 2500, 700)];
  expect([decodeTables(Buffer.from(tables, "base64")), decodeFacts(text)]).toEqual([facts, facts]);
});
