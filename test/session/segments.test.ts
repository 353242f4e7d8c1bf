import { describe, expect, test } from "vitest";
import type { Event } from "#core/model/event-schema.ts";
import { NOTHING_SETTLED, type Segment, type SessionContext } from "#core/model/session.ts";
import { splitIntoSegments } from "#core/session/segments.ts";
import fc from "../support/properties.ts";
import { runs } from "../support/whole.ts";
import { ended, NOON_MS, prompted, started } from "./events.ts";

const MINUTE = 60_000;
const START = (ms: number, origin = "startup") => ({ kind: "start", ms, origin }) as const;
const BARE = (ms: number) => ({ kind: "start", ms, origin: undefined }) as const;
const RESUME = (ms: number) => ({ kind: "start", ms, origin: "resume" }) as const;
const TURN = (ms: number, key: string) => ({ kind: "turn", ms, key }) as const;
const END = (ms: number, reason = "other", promptId?: string) => ({ kind: "end", ms, reason, promptId }) as const;
type Step = ReturnType<typeof START | typeof BARE | typeof RESUME | typeof TURN | typeof END>;

interface Story {
  readonly title: string;
  readonly steps: readonly Step[];
  /** `ordinal origin from-to native reason: activities`; minutes after noon; `…` if it is open. */
  readonly segments: readonly string[];
}

const STORIES: readonly Story[] = [
  {
    title: "start, turns, end",
    steps: [START(0), TURN(1, "a"), TURN(2, "b"), END(3)],
    segments: ["0 startup 0-3 other: a b"],
  },
  { title: "still open", steps: [START(0), TURN(1, "a")], segments: ["0 startup 0-…: a"] },
  { title: "a start alone opens nothing", steps: [START(0)], segments: [] },
  {
    title: "started and ended without a prompt",
    steps: [START(0), END(1, "prompt_input_exit")],
    segments: ["0 startup 0-1 prompt_input_exit:"],
  },
  {
    title: "ended without a start: from the first activity on",
    steps: [TURN(1, "a"), TURN(2, "b"), END(3)],
    segments: ["0 ? 1-3 other: a b"],
  },
  { title: "an end alone", steps: [END(3)], segments: ["0 ? 3-3 other:"] },
  {
    title: "resumed after its end",
    steps: [START(0), TURN(1, "a"), END(2), RESUME(60), TURN(61, "b"), END(62)],
    segments: ["0 startup 0-2 other: a", "1 resume 60-62 other: b"],
  },
  {
    title: "resumed twice, the last one open",
    steps: [START(0), TURN(1, "a"), END(2), RESUME(60), TURN(61, "b"), END(62), RESUME(90), TURN(91, "c")],
    segments: ["0 startup 0-2 other: a", "1 resume 60-62 other: b", "2 resume 90-…: c"],
  },
  {
    title: "killed, then continued: the second start shows that the first process was killed",
    steps: [START(0), TURN(1, "a"), RESUME(60), TURN(61, "b"), END(62)],
    segments: ["0 startup 0-1 superseded: a", "1 resume 60-62 other: b"],
  },
  {
    title: "killed and resumed twice within ten seconds: each start after the last activity is a new process",
    steps: [RESUME(0), TURN(0.02, "a"), RESUME(0.08), TURN(0.1, "b"), RESUME(0.15), TURN(0.16, "c"), END(1)],
    segments: ["0 resume 0-0.02 superseded: a", "1 resume 0.08-0.1 superseded: b", "2 resume 0.15-1 other: c"],
  },
  {
    title: "killed and resumed within ten seconds, by an agent whose starts have no origin",
    steps: [BARE(0), TURN(0.003, "a"), BARE(0.15), TURN(0.16, "b"), END(1)],
    segments: ["0 ? 0-0.003 superseded: a", "1 ? 0.15-1 other: b"],
  },
  {
    title: "ended and resumed within ten seconds, by an agent whose starts have no origin",
    steps: [BARE(0), TURN(0.003, "a"), END(0.1), BARE(0.15), TURN(0.16, "b"), END(1)],
    segments: ["0 ? 0-0.1 other: a", "1 ? 0.15-1 other: b"],
  },
  {
    title: "a fork is a separate session",
    steps: [START(0, "fork"), TURN(1, "a"), END(2)],
    segments: ["0 fork 0-2 other: a"],
  },
  {
    title: "cleared: the segment has the agent's reason",
    steps: [START(0), TURN(1, "a"), END(2, "clear")],
    segments: ["0 startup 0-2 clear: a"],
  },
  {
    title: "the hook of the start arrives after that of the first prompt",
    steps: [TURN(0, "a"), START(0.003), END(2)],
    segments: ["0 startup 0-2 other: a"],
  },
  {
    title: "ended twice",
    steps: [START(0), TURN(1, "a"), END(2), END(2.001)],
    segments: ["0 startup 0-2 other: a"],
  },
  {
    title: "started twice, reported by two hooks",
    steps: [START(0), START(0.001), TURN(1, "a"), END(2)],
    segments: ["0 startup 0.001-2 other: a"],
  },
  {
    title: "the hook of the end arrives before that of the prompt it names",
    steps: [START(0), END(1, "other", "a"), TURN(1.002, "a")],
    segments: ["0 startup 0-1.002 other: a"],
  },
  {
    title: "resumed and ended without a prompt",
    steps: [START(0), TURN(1, "a"), END(2), RESUME(60), END(61)],
    segments: ["0 startup 0-2 other: a", "1 resume 60-61 other:"],
  },
  {
    title: "an end that arrives before the last turn it ends, without a later start",
    steps: [START(0), TURN(1, "a"), END(2), TURN(3, "b")],
    segments: ["0 startup 0-3 other: a b"],
  },
  {
    title: "activity without a start, too long after the end to belong before it",
    steps: [RESUME(0), TURN(1, "a"), END(2), TURN(4, "b")],
    segments: ["0 resume 0-2 other: a", "1 ? 4-…: b"],
  },
];

describe("splitIntoSegments", () => {
  test.each(STORIES)("$title", ({ steps, segments }) => {
    expect(cutsOf(steps)).toEqual(segments);
  });

  test.each(STORIES)("$title: in any order", ({ steps, segments }) => {
    const length = { minLength: steps.length, maxLength: steps.length };
    fc.assert(
      fc.property(fc.shuffledSubarray([...steps], length), (shuffled) => {
        expect(cutsOf(shuffled)).toEqual(segments);
      }),
      { numRuns: runs(30) },
    );
  });

  test.each(STORIES)("$title: every start and end is used at most once", ({ steps }) => {
    const { events, activities } = input(steps);
    const cut = splitIntoSegments(withContext(events), activities);
    const used = cut.segments.flatMap((segment) => segment.uses);
    const bounds = events.filter((e) => e.type !== "prompt.submit").map((e) => e.id);
    expect(used).toEqual([...new Set(used)]);
    expect(bounds).toEqual(expect.arrayContaining(used));
    // A start without later events waits for them
    expect(cut.pending !== undefined).toBe(steps.every((step) => step.kind === "start"));
  });

  test("activity after a settled end is a separate segment, however soon it follows", () => {
    const { events, activities } = input([TURN(3, "b")]);
    const [startMs, endMs] = [NOON_MS, NOON_MS + 2.5 * MINUTE];
    const segment: Segment = { ordinal: 0, startMs, endMs, lastActivityMs: endMs, startOrigin: "startup", uses: [] };
    const cut = splitIntoSegments(withContext(events, { ...NOTHING_SETTLED, segment }), activities);
    expect(cut.segmentOf.get("b")).toBe(1);
    expect(cut.segments[0]?.endMs).toBe(endMs);
  });

  test("an end that names an earlier prompt ends that prompt's segment, even after the next start", () => {
    const { events, activities } = input([START(0), TURN(1, "a"), RESUME(60), END(61, "exit", "a")]);
    const cut = splitIntoSegments(withContext(events), activities);
    expect(cut.segments.map(({ nativeReason, endMs }) => [nativeReason, endMs])).toEqual([
      ["exit", NOON_MS + 61 * MINUTE],
    ]);
    expect(cut.pending).toBe(events.findLast((e) => e.type === "session.start")?.id);
  });

  test("one start, one end and some turns make one segment, in any order of arrival", () => {
    const kinds = [START(0), TURN(0, "a"), TURN(0, "b"), TURN(0, "c"), END(0)];
    const seconds = fc.array(fc.integer({ min: 0, max: 8_000 }), { minLength: kinds.length, maxLength: kinds.length });
    fc.assert(
      fc.property(seconds, (arrivedMs) => {
        const cut = cutsOf(kinds.map((step, i) => ({ ...step, ms: (arrivedMs[i] ?? 0) / MINUTE })));
        expect(cut).toHaveLength(1);
        expect(cut[0]).toMatch(/^0 startup .* other: ([abc] ?){3}$/);
      }),
      { numRuns: runs(500) },
    );
  });

  test("a start without later events is no segment, even when it is idle", () => {
    const { events } = input([START(0)]);
    const idle = { ...withContext(events), endIdle: { reason: "timeout", nativeReason: "idle" } as const };
    expect(splitIntoSegments(idle, [])).toMatchObject({ segments: [] });
    expect(splitIntoSegments(withContext(events), []).pending).toBeDefined();
  });

  test("a compaction's start begins no segment", () => {
    const compacted = started("again", 10 * MINUTE, { start_origin: "compact", continues: "compaction" });
    const { events, activities } = input([START(0), TURN(1, "a"), END(20)]);
    expect(show(splitIntoSegments(withContext([...events, compacted]), activities))).toEqual([
      "0 startup 0-20 other: a",
    ]);
  });

  describe("with a segment that was settled earlier", () => {
    const open: Segment = {
      ordinal: 3,
      startMs: NOON_MS,
      lastActivityMs: NOON_MS + MINUTE,
      startOrigin: "resume",
      uses: [],
    };
    const over: Segment = { ...open, endMs: NOON_MS + 2 * MINUTE, reason: "completed", nativeReason: "other" };
    const following = (segment: Segment, steps: readonly Step[]) => {
      const { events, activities } = input(steps);
      return show(splitIntoSegments(withContext(events, { ...NOTHING_SETTLED, segment }), activities));
    };

    test("an open segment continues", () => {
      expect(following(open, [TURN(5, "b"), END(6)])).toEqual(["3 resume 0-6 other: b"]);
    });

    test("an ended segment is followed by the next", () => {
      const steps = [RESUME(60), TURN(61, "b")];
      expect(following(over, steps)).toEqual(["3 resume 0-2 other:", "4 resume 60-…: b"]);
    });

    test("a late end of a killed process does not end it twice", () => {
      expect(following(over, [END(2.001)])).toEqual(["3 resume 0-2 other:"]);
    });

    test("activity before its end belongs to a segment that continues it: its sums were exported", () => {
      expect(following(over, [TURN(1.5, "b")])).toEqual(["3 resume 0-2 other:", "4 continuation 1.5-2 other: b"]);
    });
  });
});

// --- internal ---

function input(steps: readonly Step[]) {
  const events: Event[] = [];
  const activities: { key: string; ms: number }[] = [];
  for (const step of steps) {
    const ms = step.ms * MINUTE;
    const id = `${step.kind}@${step.ms}`;
    if (step.kind === "turn") {
      events.push(prompted(id, ms, step.key));
      activities.push({ key: step.key, ms: NOON_MS + ms });
    } else if (step.kind === "start") {
      const continues = step.origin === "resume" ? { continues: "same-session" as const } : {};
      events.push(started(id, ms, { ...(step.origin !== undefined && { start_origin: step.origin }), ...continues }));
    } else {
      const named = step.promptId === undefined ? {} : { prompt_id: step.promptId };
      events.push(ended(id, ms, { native_reason: step.reason, ...named }));
    }
  }
  return { events, activities };
}

const withContext = (events: readonly Event[], context: SessionContext = NOTHING_SETTLED) => ({
  facts: { source: "claude-code", sessionId: "session-1" },
  events,
  entries: [],
  context,
  expectsTranscript: true,
});

function cutsOf(steps: readonly Step[]): string[] {
  const { events, activities } = input(steps);
  return show(splitIntoSegments(withContext(events), activities));
}

function show({ segments, segmentOf }: ReturnType<typeof splitIntoSegments>): string[] {
  const minutes = (ms: number) => String((ms - NOON_MS) / MINUTE);
  return segments.map((s) => {
    const keys = [...segmentOf].filter(([, ordinal]) => ordinal === s.ordinal).map(([key]) => key);
    const end = s.endMs === undefined ? "…" : `${minutes(s.endMs)} ${s.nativeReason}`;
    return [`${s.ordinal} ${s.startOrigin ?? "?"} ${minutes(s.startMs)}-${end}:`, ...keys.sort()].join(" ");
  });
}
