// Sessions that end badly, reported by an agent whose payloads contain everything: what happens when (in minutes), and the expected result.

/** One step. Drains are steps too: what they have read, and when, decides what is settled. */
export type Step =
  | { readonly at: number; readonly is: "start"; readonly origin?: string; readonly of?: string }
  | { readonly at: number; readonly is: "prompt" | "stop" | "fail" }
  | { readonly at: number; readonly is: "tool" | "tool-start" | "tool-end"; readonly id: string; readonly by?: string }
  | { readonly at: number; readonly is: "call"; readonly key: string; readonly by?: string }
  | { readonly at: number; readonly is: "subagent" | "subagent-end"; readonly by: string }
  | { readonly at: number; readonly is: "end"; readonly why?: string }
  | { readonly at: number; readonly is: "drain" };

export interface Ending {
  /** A row of docs/sessions.md, and the title of the test. */
  readonly situation: string;
  /** The row's result. */
  readonly result: string;
  /** Its agent sends no end event. @default false */
  readonly isSilent?: true;
  readonly steps: readonly Step[];
  /** `reason native from-to`, in minutes. */
  readonly segments: readonly string[];
  /** Tool calls with their status, in order of id; each exactly once. */
  readonly tools: readonly string[];
  /** Model calls, each counted exactly once. */
  readonly calls: number;
  readonly prompts: number;
}

const start = (at: number, origin = "startup"): Step => ({ at, is: "start", origin });
const prompt = (at: number): Step => ({ at, is: "prompt" });
const stop = (at: number): Step => ({ at, is: "stop" });
const fail = (at: number): Step => ({ at, is: "fail" });
const tool = (at: number, id: string, by?: string): Step => ({ at, is: "tool", id, ...(by && { by }) });
const call = (at: number, key: string, by?: string): Step => ({ at, is: "call", key, ...(by && { by }) });
const end = (at: number, why = "other"): Step => ({ at, is: "end", why });
const drain = (at: number): Step => ({ at, is: "drain" });

const DAY = 24 * 60;
const one = [prompt(1), tool(2, "t1"), call(3, "c1")];

export const ENDINGS: readonly Ending[] = [
  {
    situation: "The agent is killed in a tool call",
    result: "ended at its last activity once idle, reason `timeout`; the call is `unfinished`",
    steps: [start(0), prompt(1), { at: 2, is: "tool-start", id: "t1" }, drain(3), drain(40)],
    segments: ["timeout idle 0-2"],
    tools: ["t1 unfinished"],
    calls: 0,
    prompts: 1,
  },
  {
    situation: "No end event ever comes",
    result: "ended at its last activity once idle, reason `timeout`",
    steps: [start(0), ...one, stop(4), drain(5), drain(33), drain(35)],
    segments: ["timeout idle 0-4"],
    tools: ["t1 success"],
    calls: 1,
    prompts: 1,
  },
  {
    situation: "An agent that sends no end event goes silent after its answer",
    result: "ended at its last activity once idle, reason `completed`",
    isSilent: true,
    steps: [start(0), ...one, stop(4), drain(5), drain(33), drain(35)],
    segments: ["completed idle 0-4"],
    tools: ["t1 success"],
    calls: 1,
    prompts: 1,
  },
  {
    situation: "An agent that sends no end event goes silent after a failure",
    result: "ended at its last activity once idle, reason `error`",
    isSilent: true,
    steps: [start(0), ...one, stop(4), prompt(5), fail(6), drain(7), drain(40)],
    segments: ["error idle 0-6"],
    tools: ["t1 success"],
    calls: 1,
    prompts: 2,
  },
  {
    situation: "An agent that sends no end event goes silent in a tool call",
    result: "ended at its last activity once idle, reason `timeout`; the call is `unfinished`",
    isSilent: true,
    steps: [start(0), ...one, stop(4), drain(5), prompt(6), { at: 7, is: "tool-start", id: "t2" }, drain(8), drain(40)],
    segments: ["timeout idle 0-7"],
    tools: ["t1 success", "t2 unfinished"],
    calls: 1,
    prompts: 2,
  },
  {
    situation: "An agent that sends no end event is started again",
    result: "the first segment ends as its last turn did when the second starts",
    isSilent: true,
    steps: [start(0), ...one, stop(4), drain(5), start(10, "resume"), prompt(11), tool(12, "t2"), drain(13), drain(50)],
    segments: ["completed superseded 0-4", "timeout idle 10-12"],
    tools: ["t1 success", "t2 success"],
    calls: 1,
    prompts: 2,
  },
  {
    situation: "An agent that sends no end event continues after it was ended as idle",
    result: "a new segment from there on; the first one stays as reported",
    isSilent: true,
    steps: [
      ...[start(0), ...one, stop(4), drain(5), drain(40)],
      ...[tool(50, "t2"), fail(51), drain(52), prompt(53), stop(54), drain(55), drain(95)],
    ],
    segments: ["completed idle 0-4", "completed idle 50-54"],
    tools: ["t1 success", "t2 success"],
    calls: 1,
    prompts: 2,
  },
  {
    situation: "An agent that usually sends no end event sends one after it was ended as idle",
    result: "it stays ended as `completed`, as already reported",
    isSilent: true,
    steps: [start(0), ...one, stop(4), drain(40), end(41, "window_close"), drain(42)],
    segments: ["completed idle 0-4"],
    tools: ["t1 success"],
    calls: 1,
    prompts: 1,
  },
  {
    situation: "The lid is closed in mid-session and opened days later; the agent continues before any drain",
    result: "one segment: no drain found it idle",
    steps: [
      start(0),
      ...one,
      stop(4),
      drain(5),
      prompt(3 * DAY),
      tool(3 * DAY, "t2"),
      drain(3 * DAY),
      end(3 * DAY + 1),
    ],
    segments: [`completed other 0-${3 * DAY + 1}`],
    tools: ["t1 success", "t2 success"],
    calls: 1,
    prompts: 2,
  },
  {
    situation: "The lid is closed and opened days later; a drain of another agent comes first",
    result: "ended as `timeout`; what follows is a new segment",
    steps: [
      ...[start(0), ...one, stop(4), drain(5), drain(3 * DAY)],
      ...[prompt(3 * DAY + 1), tool(3 * DAY + 2, "t2"), end(3 * DAY + 3)],
    ],
    segments: ["timeout idle 0-4", `completed other ${3 * DAY + 1}-${3 * DAY + 3}`],
    tools: ["t1 success", "t2 success"],
    calls: 1,
    prompts: 2,
  },
  {
    situation: "A session is resumed days after its end",
    result: "a new segment; nothing of the first is counted again",
    steps: [
      start(0),
      ...one,
      end(5),
      drain(6),
      start(4 * DAY, "resume"),
      prompt(4 * DAY + 1),
      call(4 * DAY + 2, "c2"),
      end(4 * DAY + 3),
    ],
    segments: ["completed other 0-5", `completed other ${4 * DAY}-${4 * DAY + 3}`],
    tools: ["t1 success"],
    calls: 2,
    prompts: 2,
  },
  {
    situation: "A killed session is resumed before it counts as idle",
    result: "the first segment ends as `superseded` when the second starts",
    steps: [start(0), ...one, drain(4), start(10, "resume"), prompt(11), tool(12, "t2"), end(13)],
    segments: ["timeout superseded 0-3", "completed other 10-13"],
    tools: ["t1 success", "t2 success"],
    calls: 1,
    prompts: 2,
  },
  {
    situation: "Two processes work on one session id at the same time, and both end it",
    result: "the second start begins a segment that holds what both do from then on; the second end changes nothing",
    steps: [
      ...[start(0), prompt(1), tool(2, "a1"), start(5, "resume"), prompt(6), tool(7, "b1"), drain(7)],
      ...[tool(8, "a2"), tool(9, "b2"), end(10), end(12)],
    ],
    segments: ["timeout superseded 0-2", "completed other 5-10"],
    tools: ["a1 success", "a2 success", "b1 success", "b2 success"],
    calls: 0,
    prompts: 2,
  },
  {
    situation: "Two processes work on one session id, and one continues after the other's end",
    result: "what comes after the end is a separate segment",
    steps: [
      ...[start(0), prompt(1), start(5, "resume"), prompt(6), tool(7, "b1"), end(10), drain(11)],
      ...[prompt(20), tool(21, "a2"), call(22, "c2"), end(25)],
    ],
    segments: ["timeout superseded 0-1", "completed other 5-10", "completed other 20-25"],
    tools: ["a2 success", "b1 success"],
    calls: 1,
    prompts: 3,
  },
  {
    situation: "A subagent outlives its parent's end",
    result:
      "its later calls are a further part of the same subagent, in a segment that continues the exported one; none is lost",
    steps: [
      ...[start(0), prompt(1), { at: 2, is: "subagent", by: "sub" } as const, call(3, "c1", "sub"), end(4), drain(5)],
      ...[tool(6, "s1", "sub"), call(7, "c2", "sub"), { at: 8, is: "subagent-end", by: "sub" } as const, drain(9)],
    ],
    segments: ["completed other 0-4", "completed other 6-6"],
    tools: ["s1 success"],
    calls: 2,
    prompts: 1,
  },
  {
    situation: "The user clears the session",
    result: "it ends with the agent's reason `clear`; what follows has another session id",
    steps: [start(0), ...one, end(4, "clear"), drain(5)],
    segments: ["completed clear 0-4"],
    tools: ["t1 success"],
    calls: 1,
    prompts: 1,
  },
  {
    situation: "The end is reported twice",
    result: "the first one counts",
    steps: [start(0), ...one, end(4), drain(5), end(6), drain(7)],
    segments: ["completed other 0-4"],
    tools: ["t1 success"],
    calls: 1,
    prompts: 1,
  },
  {
    situation: "The end arrives before everything it ends",
    result: "one segment with all of it",
    steps: [end(5), start(0), ...one, drain(6)],
    segments: ["completed other 0-5"],
    tools: ["t1 success"],
    calls: 1,
    prompts: 1,
  },
  {
    situation: "The end of an unknown session",
    result: "a segment without duration",
    steps: [end(5), drain(6)],
    segments: ["completed other 5-5"],
    tools: [],
    calls: 0,
    prompts: 0,
  },
  {
    situation: "A session is started and nothing follows",
    result: "no session: no segment, span or metric; listed by `sessions --all`",
    steps: [start(0), drain(1), drain(40)],
    segments: [],
    tools: [],
    calls: 0,
    prompts: 0,
  },
  {
    situation: "A session continues after it was ended as idle",
    result: "a new segment from there on, also for the turn that continues; nothing lost, nothing counted twice",
    steps: [start(0), ...one, drain(40), tool(50, "t2"), call(51, "c2"), prompt(52), call(53, "c3"), end(54)],
    segments: ["timeout idle 0-3", "completed other 50-54"],
    tools: ["t1 success", "t2 success"],
    calls: 3,
    prompts: 2,
  },
  {
    situation: "The real end arrives after the session was ended as idle",
    result: "it stays ended as `timeout`, as already reported",
    steps: [start(0), ...one, stop(4), drain(40), end(41), drain(42)],
    segments: ["timeout idle 0-4"],
    tools: ["t1 success"],
    calls: 1,
    prompts: 1,
  },
  {
    situation: "Earlier events arrive after the session was ended as idle",
    result: "they are a further part of their turn, in a segment that continues the exported one; each counts once",
    steps: [start(0), ...one, drain(40), tool(2.5, "t2"), call(2.8, "c2"), drain(42)],
    segments: ["timeout idle 0-3", "timeout idle 2.5-3"],
    tools: ["t1 success", "t2 success"],
    calls: 2,
    prompts: 1,
  },
  {
    situation: "The end of a tool call arrives after the session was ended as idle",
    result: "the call stays `unfinished`, as already reported and counted",
    steps: [
      start(0),
      prompt(1),
      { at: 2, is: "tool-start", id: "t1" },
      drain(40),
      { at: 45, is: "tool-end", id: "t1" },
      drain(46),
    ],
    segments: ["timeout idle 0-2"],
    tools: ["t1 unfinished"],
    calls: 0,
    prompts: 1,
  },
];
