import { describe, expect, test } from "vitest";
import { type LineState, lineState } from "#agents/claude-code/line-context.ts";
import { readLine } from "#agents/claude-code/lines.ts";
import type { JsonLine } from "#agents/shared/transcript/json-line.ts";
import { TranscriptEntry } from "#core/model/transcript.ts";
import { readWith, wholeLine } from "../shared/line.ts";

type Json = Readonly<Record<string, unknown>>;
const START_MS = Date.UTC(2026, 10, 23, 1);

/** What versions write if the server gives no message ids: two answers of five blocks with three calls each, and a last one. */
const SHAPES: Readonly<Record<string, () => readonly Json[]>> = {
  "2.0.14 to 2.1.61: only the last block has a stop reason": () =>
    conversation({
      usageOf: (n, isLast) => ({ input_tokens: 11 + n, output_tokens: isLast ? 101 + n : 1 }),
      stopReason: "last block",
    }),
  "2.0.37, 2.1.120: each block has it": () => conversation({}),
  "2.1.175: results are between the blocks": () => conversation({ isInterleaved: true }),
  "2.1.275: blocks are counted, too": () => conversation({ isInterleaved: true, isCounted: true }),
  "2.1.275, a server that counts no tokens": () =>
    conversation({ isInterleaved: true, isCounted: true, usageOf: () => ({ input_tokens: 0, output_tokens: 0 }) }),
  "2.1.300: each block refers to its request": () =>
    conversation({ isInterleaved: true, isCounted: true, refers: "requestRef" }),
  "a server that gives only requests an id": () => conversation({ refers: "requestId" }),
};

interface Shape {
  readonly usageOf?: (answer: number, isLast: boolean) => Json;
  readonly stopReason?: "last block";
  readonly isInterleaved?: boolean;
  readonly isCounted?: boolean;
  readonly refers?: "requestRef" | "requestId";
}

function conversation(shape: Shape): readonly Json[] {
  const lines: Json[] = [];
  const add = (o: Json, parent = String(lines.at(-1)?.["uuid"])): void => {
    const n = lines.length;
    lines.push({
      uuid: `line-${n}`,
      parentUuid: parent,
      timestamp: new Date(START_MS + n * 100).toISOString(),
      version: "2.1.275",
      ...o,
    });
  };
  add({ type: "user", promptId: "p1", message: { content: "add" } });
  for (const answer of [0, 1, 2]) {
    const calls =
      answer < 2
        ? ["a", "b", "c"].map((letter) => ({
            type: "tool_use",
            id: `toolu_${answer}${letter}`,
            name: "Bash",
            input: {},
          }))
        : [];
    const blocks: readonly Json[] = [{ type: "thinking", thinking: "hm" }, { type: "text", text: "so" }, ...calls];
    const results: (() => void)[] = [];
    for (const [place, block] of blocks.entries()) {
      const isLast = place === blocks.length - 1;
      const usage = (shape.usageOf ?? ((n) => ({ input_tokens: 11 + n, output_tokens: 101 + n })))(answer, isLast);
      const ends = shape.stopReason === undefined || isLast;
      const message = {
        model: "claude-sonnet-4-5",
        content: [block],
        stop_reason: ends ? (answer < 2 ? "tool_use" : "end_turn") : null,
        usage,
      };
      add({
        type: "assistant",
        message,
        ...(shape.isCounted && { apiBlockIndex: place }),
        ...(shape.refers && { [shape.refers]: `request-${answer}` }),
      });
      if (block["type"] !== "tool_use") continue;
      const at = String(lines.at(-1)?.["uuid"]);
      const result = () =>
        add(
          { type: "user", message: { content: [{ type: "tool_result", tool_use_id: block["id"], content: "ok" }] } },
          at,
        );
      if (shape.isInterleaved) result();
      else results.unshift(result);
    }
    for (const result of results) result();
  }
  return lines;
}

/** Reads each line with the state that is stored between two drains. */
function entriesOf(lines: readonly Json[]): readonly TranscriptEntry[] {
  let state: LineState = lineState(START_MS, { facts: "{}" });
  return lines.flatMap((o) => {
    const read = readOne(wholeLine(JSON.stringify(o)), lineState(0, JSON.parse(JSON.stringify(state))), undefined);
    state = read?.state ?? state;
    return (read?.entries ?? []).map((entry) => TranscriptEntry.parse(entry));
  });
}

const callsOf = (entries: readonly TranscriptEntry[]) => {
  const calls = entries.flatMap((entry) => (entry.kind === "model_call" ? [entry] : []));
  return new Map(calls.map((call) => [call.globalKey, call]));
};

describe("answers without a message id", () => {
  test.each(Object.entries(SHAPES))("are separate calls, each with its finish reason and tools: %s", (_, lines) => {
    const entries = entriesOf(lines());
    const calls = [...callsOf(entries).values()];
    expect(calls.map(({ finishReason, complete }) => [finishReason, complete])).toEqual([
      ["tool_use", true],
      ["tool_use", true],
      ["end_turn", true],
    ]);
    expect(new Set(entries.flatMap((entry) => (entry.kind === "tool_use" ? [entry.callId] : []))).size).toBe(6);
  });

  test.each(Object.entries(SHAPES).filter(([name]) => !name.includes("no tokens")))(
    "count their tokens once: %s",
    (_, lines) => {
      const usage = [...callsOf(entriesOf(lines())).values()].map((call) => [call.usage?.input, call.usage?.output]);
      expect(usage).toEqual([
        [11, 101],
        [12, 102],
        [13, 103],
      ]);
    },
  );

  test.each(Object.entries(SHAPES))("are separated the same way if all have one id: %s", (_, lines) => {
    const all = lines();
    const same = all.map((o) =>
      o["type"] === "assistant" ? { ...o, message: { ...(o["message"] as Json), id: "ocgo" } } : o,
    );
    expect(callsOf(entriesOf(same)).size).toBe(3);
  });

  test("numbered ids separate answers within a session, but not across sessions", () => {
    const message = { content: [], stop_reason: null, usage: { input_tokens: 11, output_tokens: 5 } };
    const answers = (session: string) =>
      [0, 1].map((n) => ({
        type: "assistant",
        uuid: `${session}-${n}`,
        parentUuid: `${session}-${n - 1}`,
        message: { ...message, id: `msg_${n}` },
      }));
    expect([...callsOf(entriesOf(answers("a"))).keys()]).toEqual(["answer:a-0", "answer:a-1"]);
    expect([...callsOf(entriesOf(answers("b"))).keys()]).toEqual(["answer:b-0", "answer:b-1"]);
  });

  test("an answer that continues a paused one is separate", () => {
    const paused = {
      message: {
        content: [{ type: "text", text: "so" }],
        stop_reason: "pause_turn",
        usage: { input_tokens: 11, output_tokens: 5 },
      },
    };
    const goesOn = {
      message: {
        content: [{ type: "text", text: "so" }],
        stop_reason: "end_turn",
        usage: { input_tokens: 16, output_tokens: 5 },
      },
    };
    const lines = [paused, goesOn].map((o, n) => ({
      type: "assistant",
      uuid: `line-${n}`,
      parentUuid: `line-${n - 1}`,
      ...o,
    }));
    expect(callsOf(entriesOf(lines)).size).toBe(2);
    expect(callsOf(entriesOf(lines.map((o) => ({ ...o, apiBlockIndex: 0 })))).size).toBe(2);
  });

  test("answers of parallel subagents in one file are separate", () => {
    const lines = ["a", "b"].flatMap((agentId) =>
      conversation({})
        .slice(1, 6)
        .map((o) => ({
          ...o,
          isSidechain: true,
          agentId,
          uuid: `${agentId}-${o["uuid"]}`,
          parentUuid: `${agentId}-${o["parentUuid"]}`,
        })),
    );
    const mixed = lines.map((_, n) => lines[(n % 2) * 5 + Math.floor(n / 2)] as Json);
    const calls = callsOf(entriesOf(mixed));
    expect([...calls.values()].map(({ agentId }) => agentId).sort()).toEqual(["a", "b"]);
  });

  test("a fork's copies are the same answers", () => {
    const lines = conversation({ isInterleaved: true });
    const copies = lines.map((o) => ({ ...o, sessionId: "other", promptId: "p2" }));
    expect([...callsOf(entriesOf(copies)).keys()]).toEqual([...callsOf(entriesOf(lines)).keys()]);
  });

  test("copies with new ids use the keys of the original lines", () => {
    const lines = conversation({});
    const copies = lines.map((o) => ({
      ...o,
      uuid: `copy-${o["uuid"]}`,
      parentUuid: `copy-${o["parentUuid"]}`,
      forkedFrom: { sessionId: "s", messageUuid: o["uuid"] },
    }));
    expect([...callsOf(entriesOf(copies)).keys()]).toEqual([...callsOf(entriesOf(lines)).keys()]);
  });

  test("ids that a fork invents for its copies are ignored", () => {
    const lines = conversation({ isInterleaved: true, isCounted: true, refers: "requestRef" });
    const ids = lines.map((_, n) => `b40147c1-4b30-4e08-862f-8be3cc4e0${100 + n}`);
    const copies = lines.map((o, n) =>
      o["type"] === "assistant" ? { ...o, message: { ...(o["message"] as Json), id: ids[n] } } : o,
    );
    expect([...callsOf(entriesOf(copies)).keys()]).toEqual([...callsOf(entriesOf(lines)).keys()]);
    // Ids of a server that uses this form, and also has request ids, are kept
    const withRequests = copies.map((o) => ({ ...o, requestId: "req_1" }));
    expect([...callsOf(entriesOf(withRequests)).keys()][0]).toBe(`response:${ids[1]}:req_1`);
  });

  test.each([0, 1, 2, 3, 4])(
    "an answer with a random id is one call if line %s has no request id, or is the only one with it",
    (odd) => {
      const lines = conversation({ refers: "requestId" }).map((o) =>
        o["type"] === "assistant"
          ? {
              ...o,
              message: { ...(o["message"] as Json), id: `msg_01Xw3nPq7RtYkLmZb9${String(o["requestId"]).slice(-1)}` },
            }
          : o,
      );
      const isOdd = (o: Json): boolean => o["uuid"] === lines.filter(({ type }) => type === "assistant")[odd]?.["uuid"];
      for (const lacks of [isOdd, (o: Json) => !isOdd(o)]) {
        const some = lines.map((o) => (lacks(o) ? { ...o, requestId: undefined } : o));
        expect(callsOf(entriesOf(some)).size).toBe(3);
      }
    },
  );

  test("an answer that the agent made up is an error, with or without an id", () => {
    const lines = [
      {
        type: "assistant",
        uuid: "line-0",
        isApiErrorMessage: true,
        apiErrorStatus: 500,
        message: { model: "<synthetic>", content: [] },
      },
    ];
    expect(entriesOf(lines)).toMatchObject([{ kind: "model_error", httpStatus: 500 }]);
  });
});

function readOne(line: JsonLine, state: LineState, agentId: string | undefined) {
  return readWith(state, (next, sink) => readLine(line, next, agentId, sink));
}
