import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import reader from "#agents/codex/transcript.ts";
import { INITIAL_OFFSET } from "#core/model/initial-offset.ts";
import type { EntryOf, Offset, TranscriptEntry } from "#core/model/transcript.ts";
import { mergeEntries } from "#core/rules/merge.ts";
import fc from "../../support/properties.ts";

// The calls and tokens that are counted from lines of running totals. The agent's README.md has the table of shapes.

type Usage = readonly [input: number, output: number];
type Sent = object;

const THREAD = "01a1fcbb-0000-7000-8000-000000000000";
const TURN = "01a1fcbb-1000-7000-8000-000000000000";

let home = "";
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), "openhook-codex-totals-"));
});
afterAll(() => rmSync(home, { recursive: true, force: true, maxRetries: 10 }));

const tokens = ([input, output]: Usage) => ({ input_tokens: input, cached_input_tokens: 0, output_tokens: output });
const event = (payload: object): Sent => ({ type: "event_msg", payload });
const count = (total: Usage, last?: Usage, limitId?: string): Sent =>
  event({
    type: "token_count",
    info: { total_token_usage: tokens(total), ...(last && { last_token_usage: tokens(last) }) },
    ...(limitId && { rate_limits: { limit_id: limitId } }),
  });
const record = (id: string, usage: Usage, total: Usage, turn = TURN): Sent => ({
  type: "token_usage_record",
  payload: { turn_id: turn, response_id: id, usage: tokens(usage), thread_token_usage: tokens(total) },
});
const answer: Sent = { type: "response_item", payload: { type: "message", role: "assistant", content: [] } };
const CUT: Sent = {};
const turn = (id = TURN): Sent => event({ type: "task_started", turn_id: id });
const meta = (version = "0.145.0", more: object = {}): Sent => ({
  type: "session_meta",
  payload: { id: THREAD, cli_version: version, ...more },
});
const fork = (version = "0.148.0") => meta(version, { forked_from_id: "01a1fc00-0000-7000-8000-000000000000" });

/** Each part of the file is read by a separate drain, and the state between them is stored as JSON. */
async function callsOf(...parts: readonly (readonly Sent[])[]): Promise<EntryOf<"model_call">[]> {
  const path = join(home, `rollout-2026-11-21T00-00-00-${THREAD}.jsonl`);
  writeFileSync(path, "");
  const byKey = new Map<string, TranscriptEntry>();
  let [next, seconds]: [Offset, number] = [INITIAL_OFFSET, 0];
  for (const part of parts) {
    const texts = part.map((line) => {
      const timestamp = new Date(Date.UTC(2026, 10, 21, 0, 0, seconds++));
      return line === CUT ? '{"timestamp":"2026-' : JSON.stringify({ timestamp, ...line });
    });
    writeFileSync(path, texts.map((text) => `${text}\n`).join(""), { flag: "a" });
    for await (const batch of reader.read({ path }, next)) {
      for (const entry of batch.entries) {
        const known = byKey.get(entry.key);
        byKey.set(entry.key, known === undefined ? entry : mergeEntries(known, entry));
      }
      next = JSON.parse(JSON.stringify(batch.next));
    }
  }
  return [...byKey.values()].filter((entry): entry is EntryOf<"model_call"> => entry.kind === "model_call");
}

async function used(...lines: readonly Sent[]): Promise<readonly [calls: number, input: number, output: number]> {
  const calls = await callsOf(lines);
  const sum = (part: "input" | "output") => calls.reduce((total, { usage }) => total + (usage?.[part] ?? 0), 0);
  return [calls.length, sum("input"), sum("output")];
}

/** Each line of totals follows an answer. */
const answered = (...lines: readonly Sent[]): Sent[] => [meta(), turn(), ...lines.flatMap((line) => [answer, line])];

describe("a total that falls", () => {
  test("is a late snapshot when the next one continues the higher total", async () => {
    const lines = [count([10_000, 500], [10_000, 500]), count([22_000, 900], [12_000, 400])];
    const late = count([21_500, 880], [11_500, 380]);
    const next = count([36_000, 1_300], [14_000, 400]);
    expect(await used(...answered(...lines, late, next))).toEqual([3, 36_000, 1_300]);
    expect(await used(...answered(...lines, late, late, next))).toEqual([3, 36_000, 1_300]);
    expect(await used(...answered(...lines, late))).toEqual([2, 22_000, 900]);
  });

  test("is a late snapshot when it is an earlier line again", async () => {
    const lines = [count([10_000, 500], [10_000, 500]), count([22_000, 900], [12_000, 400])];
    const next = [count([36_000, 1_300], [14_000, 400]), count([90_000, 1_900], [54_000, 600])];
    expect(await used(...answered(...lines, lines[0] as Sent, ...next))).toEqual([4, 90_000, 1_900]);
    expect(await used(...answered(...lines, ...next, lines[1] as Sent))).toEqual([4, 90_000, 1_900]);
    expect(await used(...answered(...lines), turn("later"), answer, lines[0] as Sent, answer, next[0] as Sent)).toEqual(
      [3, 36_000, 1_300],
    );
  });

  test("restarts when it equals the last call", async () => {
    const lines = [count([50_000, 5_000], [50_000, 5_000]), count([12_000, 600], [12_000, 600])];
    expect(await used(...answered(...lines, count([30_000, 1_000], [18_000, 400])))).toEqual([3, 80_000, 6_000]);
  });

  test("restarts with totals that are equal to earlier ones, when a new one continues it", async () => {
    const first = [count([10_000, 500], [10_000, 500]), count([20_000, 1_000], [10_000, 500])] as const;
    const run = [...first, count([35_000, 1_600], [15_000, 600])].flatMap((line) => [answer, line]);
    const again = [...first, count([28_000, 1_400], [8_000, 400])].flatMap((line) => [answer, line]);
    expect(await used(meta(), turn(), ...run, turn("b"), ...again)).toEqual([6, 63_000, 3_000]);
    expect(await used(meta(), turn(), ...run, turn("b"), ...again.slice(0, -1))).toEqual([3, 35_000, 1_600]);
  });

  test.each([
    ["far", [5_000_000, 50_000], [1_200_000, 12_000], [40_000, 400], [5_040_000, 50_400]],
    ["near, and continued", [30_000, 300], [12_000, 120], [10_000, 100], [40_000, 400]],
  ] as const)(
    "becomes the base of the next ones, if it is far below or they continue it: %s",
    async (name, high, low, last, sum) => {
      const on: Usage = [low[0] + 5_000, low[1] + 50];
      const lines = [count(high, high), count(low, last)];
      expect(await used(...answered(...lines, count(on, [5_000, 50])))).toEqual([3, sum[0] + 5_000, sum[1] + 50]);
      const isFar = name === "far";
      expect(await used(...answered(...lines))).toEqual(isFar ? [2, ...sum] : [1, ...high]);
    },
  );

  test("falls to zero when the context window is full: the next total restarts", async () => {
    const lines = [count([9_000, 100], [9_000, 100]), count([0, 0], [0, 0]), count([4_000, 50], [4_000, 50])];
    expect(await used(...answered(...lines))).toEqual([2, 13_000, 150]);
  });
});

describe("several series", () => {
  const a = (total: Usage, last: Usage, limitId?: string) => count(total, last, limitId);

  test("that alternate are counted separately, with and without the name of a limit", async () => {
    for (const [one, other] of [
      ["codex", "codex_other"],
      [undefined, undefined],
    ] as const) {
      const lines = [
        a([700_000, 7_000], [700_000, 7_000], one),
        a([900_000, 9_000], [15_000, 150], other),
        a([712_000, 7_100], [12_000, 100], one),
        a([920_000, 9_300], [20_000, 300], other),
        a([920_000, 9_300], [20_000, 300], one),
        a([713_000, 7_200], [1_000, 100], one),
      ];
      expect(await used(...answered(...lines))).toEqual([5, 748_000, 7_650]);
    }
  });

  test("the first total of another limit counts, near the highest one or not", async () => {
    const lines = [a([700_000, 7_000], [700_000, 7_000], "codex"), a([695_000, 6_900], [5_000, 100], "codex_other")];
    expect(await used(...answered(...lines))).toEqual([2, 705_000, 7_100]);
  });

  test("one total under two limits counts once", async () => {
    const line = (limitId: string) => a([20_000, 200], [20_000, 200], limitId);
    expect(await used(...answered(line("codex"), line("codex_other"), line("codex")))).toEqual([1, 20_000, 200]);
  });
});

describe("totals that include more than the last call", () => {
  test("count whole where a line between was unreadable", async () => {
    const lines = [count([10_000, 100], [10_000, 100]), count([30_000, 300], [10_000, 100])] as const;
    expect(await used(...answered(lines[0], CUT, lines[1]))).toEqual([2, 30_000, 300]);
    expect(await used(...answered(...lines))).toEqual([2, 20_000, 200]);
  });

  test("count completely if the last call has no figures", async () => {
    const lines = [count([10_000, 100], [10_000, 100]), count([14_000, 130], [0, 0]), count([15_000, 140])];
    expect(await used(...answered(...lines))).toEqual([3, 15_000, 140]);
  });

  test("at the start of a file that continues another one: only the last call is counted", async () => {
    expect(await used(...answered(count([90_000, 900], [8_000, 80]), count([95_000, 950], [5_000, 50])))).toEqual([
      2, 13_000, 130,
    ]);
    const again = count([82_000, 820], [7_000, 70]);
    expect(await used(meta(), turn(), again, answer, count([90_000, 900], [8_000, 80]))).toEqual([1, 8_000, 80]);
  });
});

describe("a fork", () => {
  const own = [answer, count([37_000, 1_800], [7_000, 300]), answer, count([45_000, 2_200], [8_000, 400])];
  const opening = count([30_000, 1_500], [10_000, 500]);

  test.each([
    ["no opening line", [fork(), turn(), ...own]],
    ["the parent's last total first", [fork(), opening, turn(), ...own]],
    ["the parent's last total in its own turn", [fork(), turn(), opening, ...own]],
    ["the same, repeated", [fork(), turn(), opening, opening, ...own]],
    ["of a parent with one call", [fork(), turn(), count([30_000, 1_500], [30_000, 1_500]), ...own]],
  ])("counts its own calls only: %s", async (_, lines) => {
    expect(await used(...lines)).toEqual([2, 15_000, 700]);
  });

  test("whose totals begin at zero counts them from the first", async () => {
    const lines = [count([7_000, 300], [7_000, 300]), count([15_000, 700], [8_000, 400])];
    expect(await used(fork(), turn(), ...lines.flatMap((line) => [answer, line]))).toEqual([2, 15_000, 700]);
  });

  test("continues in the service tier of the conversation that it copies", async () => {
    const parent = "01a1fc00-0000-7000-8000-000000000000";
    const copied: Sent[] = [
      { type: "session_meta", payload: { id: parent, cli_version: "0.148.0" } },
      { type: "turn_context", payload: { turn_id: parent, model: "gpt-5.5", service_tier: "priority" } },
    ];
    const calls = await callsOf([fork(), ...copied, turn(), answer, count([7_000, 300], [7_000, 300])]);
    expect(calls).toEqual([expect.objectContaining({ model: "gpt-5.5", tier: "priority" })]);
  });
});

describe("records beside totals", () => {
  const calls = [1, 2, 3].map((n): [Usage, Usage] => [
    [10_000 + n, 500],
    [10_000 * n + (n * (n + 1)) / 2, 500 * n],
  ]);
  const sum = [3, 30_006, 1_500];
  const recordOf = ([usage, total]: [Usage, Usage], n: number) => record(`resp_${n}`, usage, total);
  const countOf = ([usage, total]: [Usage, Usage]) => count(total, usage);

  test.each(["0.151.0", "0.153.3", "0.169.0"])("each answer counts once, in either order: %s", async (version) => {
    const first = calls.flatMap((call, n) => [answer, recordOf(call, n), countOf(call)]);
    const last = calls.flatMap((call, n) => [answer, countOf(call), recordOf(call, n)]);
    for (const lines of [first, last]) expect(await used(meta(version), turn(), ...lines)).toEqual(sum);
  });

  test("each answer counts once, also when all totals come before all records", async () => {
    const lines = [...calls.map(countOf), ...calls.map(recordOf)];
    expect(await used(meta("0.153.3"), turn(), answer, ...lines)).toEqual(sum);
  });

  test("each answer counts once, also when the records' totals differ from the lines'", async () => {
    const other = ([usage, [input, output]]: [Usage, Usage], n: number) =>
      record(`resp_${n}`, usage, [input + 70_000, output + 70]);
    const lines = calls.flatMap((call, n) => [answer, countOf(call), other(call, n)]);
    expect(await used(meta("0.153.3"), turn(), ...lines)).toEqual(sum);
  });

  test("a call counts once when its totals come one turn after its record", async () => {
    const [one, two] = calls as [[Usage, Usage], [Usage, Usage]];
    const lines = [
      answer,
      recordOf(one, 1),
      turn("b"),
      countOf(one),
      answer,
      record("resp_2", ...two, "b"),
      countOf(two),
    ];
    expect(await used(meta("0.153.3"), turn(), ...lines)).toEqual([2, 20_003, 1_000]);
  });

  test("each answer counts once in a session that a version without records began", async () => {
    const [one, two, three] = calls as [[Usage, Usage], [Usage, Usage], [Usage, Usage]];
    const before = [meta("0.151.0"), turn(), answer, countOf(one), turn("b"), countOf(one), answer];
    for (const lines of [
      [countOf(two), record("resp_2", ...two, "b"), answer, countOf(three), record("resp_3", ...three, "b")],
      [record("resp_2", ...two, "b"), countOf(two), answer, record("resp_3", ...three, "b"), countOf(three)],
    ]) {
      expect(await used(...before, ...lines)).toEqual(sum);
    }
  });

  test("an answer keeps its time and gets its response id", async () => {
    const [one] = calls as [[Usage, Usage]];
    const lines = [meta("0.153.3"), turn(), answer, countOf(one), recordOf(one, 1)];
    const [call] = await callsOf(lines);
    const [alone] = await callsOf(lines.slice(0, -1));
    expect(call).toEqual({ ...alone, responseId: "resp_1" });
  });
});

test("generated series: the usage of all calls is counted, with any other lines between them, in any slices", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(STEP, { maxLength: 40 }), fc.integer(), fc.boolean(), async (steps, seed, isNamed) => {
      const { lines, truth } = written(steps, seed, isNamed);
      const random = randomFrom(seed);
      const parts: Sent[][] = [[]];
      for (const line of [meta(), turn(), ...lines]) {
        if (random(10) === 0) parts.push([]);
        parts.at(-1)?.push(line);
      }
      const calls = await callsOf(...parts);
      expect(calls.map(({ usage }) => [usage?.input, usage?.output]).sort()).toEqual([...truth].sort());
    }),
    { numRuns: 300 },
  );
});

/** What happens to one of three counters. */
const STEP = fc.record({
  counter: fc.nat({ max: 2 }),
  kind: fc.constantFrom("call", "call", "call", "again", "earlier", "late", "restart", "fall", "unanswered again"),
});

type Step = typeof STEP extends fc.Arbitrary<infer T> ? T : never;

function written(steps: readonly Step[], seed: number, isNamed: boolean) {
  const random = randomFrom(seed);
  const lines: Sent[] = [];
  const truth: Usage[] = [];
  // Counters without a limit name are distinguished by their size
  const bases = [0, 1, 2].map((n): Usage => (isNamed ? [0, 0] : [n * 1_000_000_000, n * 10_000_000]));
  const counters = bases.map((base) => ({ base, total: base, lines: [] as [Usage, Usage][] }));
  type Counter = (typeof counters)[0];
  const put = (n: number, total: Usage, last: Usage, isAnswered = true): void => {
    if (isAnswered) lines.push(answer);
    lines.push(count(total, last, isNamed ? `limit_${n}` : undefined));
  };
  const call = (n: number, from: Usage = (counters[n] as Counter).total): void => {
    const last: Usage = [5_000 + random(200_000), 50 + random(5_000)];
    const total: Usage = [from[0] + last[0], from[1] + last[1]];
    Object.assign(counters[n] as Counter, { total });
    (counters[n] as Counter).lines.push([total, last]);
    truth.push(last);
    put(n, total, last);
  };
  for (const { counter: n, kind } of steps) {
    const { base, total, lines: earlier } = counters[n] as Counter;
    const [last] = earlier.slice(-1);
    const isLarge = total[0] - base[0] > 1_000_000;
    if (last === undefined || kind === "call") call(n);
    else if (kind === "again" || kind === "unanswered again") put(n, ...last, kind === "again");
    else if (kind === "earlier") put(n, ...(earlier[random(earlier.length)] as [Usage, Usage]));
    else if (kind === "late" && total[0] - last[1][0] > base[0]) {
      // Less than the last call behind, unlike any total so far
      const behind = 1 + random(40);
      put(n, [total[0] - behind * 100, total[1] - behind], [last[1][0] - behind, last[1][1] - behind]);
    } else if (kind === "restart" && (isNamed || n === 0)) {
      call(n, [0, 0]);
      call(n);
    } else if (kind === "fall" && isLarge) {
      const share = random(70) / 100;
      call(n, [base[0] + Math.floor((total[0] - base[0]) * share), base[1] + Math.floor((total[1] - base[1]) * share)]);
      call(n);
    }
  }
  return { lines, truth };
}

function randomFrom(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
