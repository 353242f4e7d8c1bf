import { describe, expect, test } from "vitest";
import type { Attributes, SpanRecord } from "#core/model/telemetry.ts";
import * as semconv from "#core/telemetry/semconv.ts";
import { clip, flow, printable, terminalOf, widthOf, wrapped } from "#kit/text/terminal.ts";
import type { ShownRows } from "#show/report/waterfall/fold.ts";
import { callsOfSpans } from "#show/report/waterfall/row-sums.ts";
import type { ShownSpan } from "#show/report/waterfall/tree.ts";
import { waterfall } from "#show/report/waterfall/waterfall.ts";
import { CONTROL, columnsOf, SGR } from "../../support/context.ts";
import fc from "../../support/properties.ts";
import { runs } from "../../support/whole.ts";

const START = Date.UTC(2026, 10, 21, 6);

/** A span; `from` and `to` in milliseconds since the trace began. */
function span(
  id: number,
  kind: "session" | "turn" | "subagent" | "model_call" | "tool_call",
  [from, to]: readonly [number, number],
  rest: { parent?: number; name?: string; error?: string; attributes?: Attributes } = {},
): ShownSpan & { readonly record: SpanRecord } {
  return {
    segment: 0,
    record: {
      traceId: "1".repeat(32),
      spanId: idOf(id),
      ...(rest.parent !== undefined && { parentSpanId: idOf(rest.parent) }),
      name: rest.name ?? `${kind} ${id}`,
      kind: "internal",
      startMs: START + from,
      endMs: START + to,
      status: rest.error === undefined ? { code: "unset" } : { code: "error" },
      attributes: {
        [semconv.OPENHOOK_SPAN_KIND]: kind,
        ...(["session", "turn", "subagent"].includes(kind) && { [semconv.OPENHOOK_MODEL_CALLS]: 0 }),
        ...(kind === "turn" && { [semconv.OPENHOOK_TURN_ORIGIN]: "human" }),
        ...(rest.error !== undefined && { [semconv.ERROR_TYPE]: rest.error }),
        ...rest.attributes,
      },
      links: [],
      events: [],
      resource: {},
    },
  };
}

const idOf = (id: number): string => id.toString(16).padStart(16, "0");
const draw = (spans: readonly ShownSpan[], columns = 120, colour = false): readonly string[] => [
  ...waterfall(spans, callsOfSpans(spans), { columns, colour }),
];
/** The line of a span, and where its bar starts and ends. */
const lineWith = (lines: readonly string[], name: string): string => {
  const found = lines.find((line) => line.includes(name));
  if (found === undefined) throw new Error(`no line has ${name}:\n${lines.join("\n")}`);
  return found;
};
const barOf = (line: string): readonly [number, number] => {
  const cells = [...line].flatMap((c, i) => (/[▌▐█╸╺━┄]/.test(c) ? [i] : []));
  return [cells[0] ?? -1, cells.at(-1) ?? -1];
};

const tokens = (input: number, output: number): Attributes => ({
  [semconv.GEN_AI_USAGE_INPUT_TOKENS]: input,
  [semconv.GEN_AI_USAGE_OUTPUT_TOKENS]: output,
});

describe("waterfall", () => {
  test("shows a tree of spans with bars, durations, tokens and cost", () => {
    const lines = draw(
      [
        span(1, "session", [0, 10_000], { name: "invoke_agent claude-code" }),
        span(2, "turn", [1_000, 9_000], { parent: 1, name: "invoke_agent claude-code" }),
        span(3, "model_call", [1_000, 3_000], {
          parent: 2,
          name: "chat opus",
          attributes: { ...tokens(24_915, 273), [semconv.OPENHOOK_COST_USD]: 0.0123 },
        }),
        span(4, "tool_call", [3_000, 6_000], { parent: 2, name: "execute_tool Agent" }),
        span(5, "subagent", [3_500, 5_500], { parent: 4, name: "invoke_agent explorer" }),
      ],
      80,
    );
    expect(lines).toEqual([
      "span                        0 s               10.0 s  duration     tokens   cost",
      "Session                     ━━━━━━━━━━━━━━━━━━━━━━━━    10.0 s  24.9k→273  $0.01",
      "└─ Turn 1                     ━━━━━━━━━━━━━━━━━━━╸       8.0 s  24.9k→273  $0.01",
      "   ├─ opus                    █████                      2.0 s  24.9k→273  $0.01",
      "   └─ Agent                        ███████▌              3.0 s",
      "      └─ Subagent explorer          ━━━━━                2.0 s",
    ]);
  });

  test("bars of parallel calls overlap, and those of consecutive calls do not", () => {
    const lines = draw([
      span(1, "turn", [0, 9_000]),
      span(2, "tool_call", [0, 4_000], { parent: 1 }),
      span(3, "tool_call", [1_000, 5_000], { parent: 1 }),
      span(4, "tool_call", [5_000, 9_000], { parent: 1 }),
    ]);
    const [a, b, c] = ["tool_call 2", "tool_call 3", "tool_call 4"].map((name) => barOf(lineWith(lines, name)));
    if (a === undefined || b === undefined || c === undefined) throw new Error("three bars");
    expect(b[0]).toBeGreaterThan(a[0]);
    expect(b[0]).toBeLessThan(a[1]);
    expect(c[0]).toBeGreaterThanOrEqual(b[1]);
    expect(c[1]).toBeGreaterThan(c[0]);
  });

  test("a long pause between turns does not compress activity", () => {
    const night = 8 * 3_600_000;
    const lines = draw([
      span(1, "session", [0, night + 60_000]),
      span(2, "turn", [0, 30_000], { parent: 1 }),
      span(3, "turn", [night, night + 60_000], { parent: 1 }),
      span(4, "model_call", [night, night + 30_000], { parent: 3 }),
    ]);
    expect(lines[0]).toContain("┄ idle, drawn shorter");
    expect(lines[0]).toContain("8h 01m");
    expect(lineWith(lines, "Session")).toMatch(/━┄+━/);
    const [first, second] = [barOf(lineWith(lines, "Turn 1")), barOf(lineWith(lines, "Turn 2"))];
    const [width1, width2] = [first[1] - first[0], second[1] - second[0]];
    expect(width1).toBeGreaterThan(10);
    // twice as long, twice as wide
    expect(Math.abs(width2 - 2 * width1)).toBeLessThanOrEqual(3);
    const call = barOf(lineWith(lines, "model_call 4"));
    expect(call[0]).toBe(second[0]);
    expect(Math.abs((call[1] - call[0]) * 2 - width2)).toBeLessThanOrEqual(3);
  });

  test("long activity is not a pause", () => {
    const lines = draw([span(1, "session", [0, 900]), span(2, "turn", [600, 900], { parent: 1 })]);
    expect(lines.join("")).not.toContain("┄");
  });

  test("marks: failed, denied, unfinished, running; unknown is never 0", () => {
    const lines = draw([
      span(1, "turn", [0, 900], { attributes: { [semconv.OPENHOOK_MODEL_CALLS]: 1 } }),
      span(2, "tool_call", [0, 100], { parent: 1, error: "denied" }),
      span(3, "tool_call", [0, 100], { parent: 1, error: "_OTHER", attributes: { [semconv.PROCESS_EXIT_CODE]: 2 } }),
      span(4, "tool_call", [0, 100], { parent: 1, attributes: { [semconv.OPENHOOK_TOOL_STATUS]: "unfinished" } }),
      { ...span(5, "tool_call", [0, 100], { parent: 1 }), open: true },
      span(6, "model_call", [0, 100], { parent: 1 }),
      span(7, "model_call", [0, 100], {
        parent: 1,
        attributes: { ...tokens(10, 4), [semconv.OPENHOOK_USAGE_INCOMPLETE]: true, [semconv.OPENHOOK_COST_USD]: 1.5 },
      }),
    ]);
    expect(lineWith(lines, "tool_call 2")).toMatch(/─ ✗ tool_call 2 · denied /);
    expect(lineWith(lines, "tool_call 3")).toMatch(/─ ✗ tool_call 3 · error, exit 2 /);
    expect(lineWith(lines, "tool_call 4")).toMatch(/─ \? tool_call 4 · unfinished /);
    expect(lineWith(lines, "tool_call 5")).toMatch(/─ … tool_call 5 · open .*100 ms\+/);
    expect(lineWith(lines, "model_call 6")).toMatch(/100 ms +\? +\?$/);
    expect(lineWith(lines, "model_call 7")).toMatch(/10→≥4 +≥\$1\.50$/);
    expect(lineWith(lines, "Turn 1")).toMatch(/900 ms +≥10→≥4 +≥\$1\.50$/);
    expect(lineWith(lines, "tool_call 2")).toMatch(/100 ms$/);
  });

  test("one trace per turn: turns are below the session they link to", () => {
    const session = span(1, "session", [0, 900]);
    const turn = span(2, "turn", [100, 800]);
    const linked = {
      ...turn.record,
      traceId: "2".repeat(32),
      links: [
        {
          traceId: session.record.traceId,
          spanId: session.record.spanId,
          attributes: { [semconv.OPENHOOK_LINK_KIND]: "session" },
        },
      ],
    };
    expect(draw([{ record: linked, segment: 0 }, session])[2]).toMatch(/^└─ Turn 1/);
  });

  test("spans without their parent, and spans that are each other's parents, are shown", () => {
    const lines = draw([
      span(1, "turn", [0, 900], { parent: 2 }),
      span(2, "turn", [0, 900], { parent: 1 }),
      span(3, "tool_call", [5, 10], { parent: 99 }),
      span(4, "tool_call", [5, 10], { parent: 4 }),
    ]);
    expect(lines).toHaveLength(5);
    for (const name of ["Turn 1", "Turn 2", "tool_call 3", "tool_call 4"]) lineWith(lines, name);
  });

  test("narrow terminals drop the bar, then tokens, then the rest; the name stays", () => {
    const spans = [
      span(1, "turn", [0, 900]),
      span(2, "model_call", [0, 900], {
        parent: 1,
        name: "chat m",
        attributes: { ...tokens(10, 4), [semconv.OPENHOOK_COST_USD]: 1.5 },
      }),
    ];
    const at = (columns: number): string => lineWith(draw(spans, columns), "└─ m");
    expect(at(60)).toMatch(/█/);
    expect(at(59)).toMatch(/^└─ m +900 ms +10→4 +\$1\.50$/);
    expect(at(43)).toMatch(/^└─ m +900 ms +\$1\.50$/);
    expect(at(31)).toMatch(/^└─ m +900 ms$/);
    expect(at(19)).toBe("└─ m");
    expect(draw(spans, 6)[1]).toBe("└─ m");
  });

  test("figures are aligned for all characters in names", () => {
    const names = ["abc", "日本語のツール", "한국어", "👩‍💻 tool", "🇩🇪 e\u0301", "ｱｲｳ"];
    const lines = draw(
      names.map((name, i) => span(i + 1, "tool_call", [i * 100, i * 100 + 100], { name })),
      70,
    );
    const ends = lines.slice(1).map((line) => widthOf(line));
    expect(new Set(ends)).toEqual(new Set([70]));
  });

  test("thousands of spans, sequential and nested, are drawn", () => {
    const wide = [span(1, "session", [0, 1e7])];
    for (let i = 2; i <= 10_000; i++) wide.push(span(i, "tool_call", [i * 900, i * 900 + 1_500], { parent: 1 }));
    const deep = [span(1, "session", [0, 1e7])];
    for (let i = 2; i <= 10_000; i++) deep.push(span(i, "subagent", [i, 1e7 - i], { parent: i - 1 }));
    expect(draw(wide)).toHaveLength(10_001);
    expect(draw(deep)).toHaveLength(10_001);
  });

  test("no spans give no lines", () => {
    expect(draw([])).toEqual([]);
  });
});

const anyText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.string({
    unit: fc.constantFrom(
      "a",
      "漢",
      "\u001b[31m",
      "\n",
      "\r",
      "\t",
      "\u202e",
      "😀",
      "e\u0301",
      "\u0000",
      "한",
      "ﾊ",
      "\u0903",
    ),
  }),
);
const anyKind = fc.constantFrom("session", "turn", "subagent", "model_call", "tool_call", "new kind");
const anySpan = fc.record({
  parent: fc.option(fc.nat(12)),
  name: anyText,
  kind: anyKind,
  from: fc.integer({ min: -1e12, max: 1e12 }),
  forMs: fc.oneof(fc.nat(1e9), fc.nat(100)),
  error: fc.option(anyText),
  input: fc.option(fc.nat()),
  cost: fc.option(fc.double({ min: 0, max: 1e9, noNaN: true })),
  open: fc.boolean(),
});
const anyTrace = fc.array(anySpan, { maxLength: 12 }).map((list): readonly ShownSpan[] =>
  list.map(({ parent, name, kind, from, forMs, error, input, cost, open }, i) => ({
    ...span(i, "turn", [from, from + forMs], {
      name,
      ...(parent !== null && { parent }),
      ...(error !== null && { error }),
      attributes: {
        [semconv.OPENHOOK_SPAN_KIND]: kind,
        ...(input !== null && tokens(input, input)),
        ...(cost !== null && { [semconv.OPENHOOK_COST_USD]: cost }),
      },
    }),
    open,
  })),
);

describe("for any data", () => {
  test("no line is wider than the terminal or contains a control character, and every span has a line", () => {
    fc.assert(
      fc.property(anyTrace, fc.integer({ min: 1, max: 200 }), (spans, columns) => {
        const lines = draw(spans, columns);
        for (const line of lines) {
          expect(columnsOf(line), JSON.stringify(line)).toBeLessThanOrEqual(columns);
          expect(line).not.toMatch(CONTROL);
          expect(line).not.toContain("\n");
        }
        const head = lines.length - spans.length;
        if (spans.length === 0 || columns < 20) expect(head).toBe(0);
        else if (columns >= 60) expect(head).toBe(1);
        else expect([0, 1]).toContain(head);
      }),
      { numRuns: runs(500) },
    );
  });

  test("colour changes nothing but colour", () => {
    fc.assert(
      fc.property(anyTrace, fc.integer({ min: 1, max: 200 }), (spans, columns) => {
        const coloured = draw(spans, columns, true).map((line) => line.replace(SGR, ""));
        expect(coloured).toEqual(draw(spans, columns));
        expect(coloured.join("")).not.toMatch(CONTROL);
      }),
      { numRuns: runs(200) },
    );
  });

  test("texts flow and wrap within the terminal, and wrapping loses nothing", () => {
    fc.assert(
      fc.property(fc.array(anyText), fc.integer({ min: 2, max: 100 }), (texts, columns) => {
        const terminal = { columns, colour: false };
        const shown = texts.map(printable);
        const flowing = [
          ...flow(
            shown.map((text) => [{ text }]),
            terminal,
          ),
        ];
        const wrapping = shown.flatMap((text) => [...wrapped({ text: "       " }, text, terminal)]);
        for (const line of [...flowing, ...wrapping]) expect(columnsOf(line)).toBeLessThanOrEqual(columns);
        const letters = (text: string): string => text.replaceAll(/[\s…]/g, "");
        if (columns >= 10) expect(letters(wrapping.join(""))).toBe(letters(shown.join("")));
      }),
      { numRuns: runs(300) },
    );
  });

  test("clipped text never exceeds the width, and is complete where it fits", () => {
    fc.assert(
      fc.property(anyText.map(printable), fc.nat(50), (text, columns) => {
        const clipped = clip(text, columns);
        expect(columnsOf(clipped)).toBeLessThanOrEqual(columns);
        if (widthOf(text) <= columns) expect(clipped).toBe(text);
        else if (columns > 0) expect(clipped).toMatch(/…$/u);
      }),
      { numRuns: runs(500) },
    );
  });
});

describe("terminal", () => {
  test.each([
    ["plain", 5],
    ["日本語", 6],
    ["한국", 4],
    ["ｱｲｳ", 3],
    ["Ｗ", 2],
    ["e\u0301", 1],
    ["😀", 2],
    ["👩‍💻", 2],
    ["🇩🇪", 2],
    ["├─ ━ …", 6],
    ["", 0],
  ])("%j takes %i columns", (text, columns) => {
    expect(widthOf(text)).toBe(columns);
  });

  test.each([
    ["\u001b[31mred\u001b[0m", "\\x1b[31mred\\x1b[0m"],
    ["a\nb\r\tc\u0000", "a\\x0ab\\x0d\\x09c\\x00"],
    ["\u009b2J\u007f", "\\x9b2J\\x7f"],
    ["abc\u202edcba\u2066", "abc\\u{202e}dcba\\u{2066}"],
    ["zero\u200bwidth\ufeff", "zero\\u{200b}width\\u{feff}"],
    ["half \ud800", "half \\u{d800}"],
    ["line\u2028line", "line\\u{2028}line"],
    ["👩‍💻 é 漢", "👩‍💻 é 漢"],
  ])("%j is shown as %j", (text, shown) => {
    expect(printable(text)).toBe(shown);
  });

  test("has the width and colour of the output stream, COLUMNS, NO_COLOR and TERM", () => {
    const of = (stdout: { isTTY?: boolean; columns?: number }, env: Record<string, string> = {}) =>
      terminalOf({ stdout: { write: () => true, ...stdout }, env });
    expect(of({ isTTY: true, columns: 97 })).toEqual({ columns: 97, colour: true });
    expect(of({ isTTY: true })).toEqual({ columns: 80, colour: true });
    expect(of({ isTTY: true, columns: 0 })).toEqual({ columns: 80, colour: true });
    expect(of({})).toEqual({ columns: 120, colour: false });
    expect(of({}, { COLUMNS: "44" })).toEqual({ columns: 44, colour: false });
    expect(of({}, { COLUMNS: "many" })).toEqual({ columns: 120, colour: false });
    expect(of({ isTTY: true }, { NO_COLOR: "1" }).colour).toBe(false);
    expect(of({ isTTY: true }, { NO_COLOR: "" }).colour).toBe(true);
    expect(of({ isTTY: true }, { TERM: "dumb" }).colour).toBe(false);
  });
});

describe("a long session", () => {
  const spans = [
    span(1, "session", [0, 900]),
    span(2, "turn", [0, 400], { parent: 1 }),
    span(3, "tool_call", [10, 90], { parent: 2, name: "execute_tool Bash" }),
    span(4, "subagent", [100, 300], { parent: 2, name: "invoke_agent explore" }),
    span(5, "tool_call", [110, 290], { parent: 4, name: "execute_tool Read" }),
    span(6, "turn", [500, 900], { parent: 1 }),
    span(7, "tool_call", [510, 800], { parent: 6, name: "execute_tool Edit" }),
  ];
  const lines = new Map([[idOf(2), { subject: "turn", key: "p", timeMs: 0, text: "Why is it wrong?" } as const]]);
  const drawn = (rowsShown: ShownRows, turnsBefore = 0) =>
    [...waterfall(spans, [], { columns: 100, colour: false }, { rowsShown, lines, turnsBefore })].slice(1);
  /** Without bars and figures. */
  const names = (rows: readonly string[]) => rows.map((row) => row.split(/ {2,}(?=[━╺╸█▌▐])| +[━╺╸█▌▐]/)[0]?.trimEnd());

  test("turns are closed, with what was asked and the number of rows inside", () => {
    expect(names(drawn("turns"))).toEqual(["Session", "├─ Turn 1 (3) Why is it wrong?", "└─ Turn 2 (1)"]);
  });

  test("one turn is shown with everything in it, on a time axis of its own", () => {
    expect(names(drawn({ turn: 1 }))).toEqual([
      "Turn 1 Why is it wrong?",
      "├─ Bash",
      "└─ Subagent explore",
      "   └─ Read",
    ]);
    expect(names(drawn({ turn: 5 }, 3))).toEqual(["Turn 5", "└─ Edit"]);
    expect(drawn({ turn: 3 })).toEqual([]);
    const [first = "", last = ""] = drawn({ turn: 2 });
    expect(barOf(first)[0]).toBeLessThan(barOf(last)[1]);
    // The second turn begins in the middle of the session, and here at the left
    expect(barOf(first)[1] - barOf(first)[0]).toBeGreaterThan(40);
  });

  test("everything is shown if all is asked for", () => expect(drawn("all")).toHaveLength(spans.length));
});
