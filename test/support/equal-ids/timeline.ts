import type { RecordedCall } from "../replay.ts";

/** Start of every made session. */
export const T = Date.UTC(2026, 10, 21, 9);
export const SUBAGENTS = ["a", "b"] as const;
export type Subagent = (typeof SUBAGENTS)[number];

/**
 * One tool call of the made session. The main agent starts both subagents with `call_1` and `call_2`, and the provider counts
 * from `call_1` again in each subagent, where the calls overlap in time and fail in different order.
 */
export interface MadeCall {
  /** Absent: the main agent. */
  readonly agent?: Subagent;
  readonly id: "call_1" | "call_2";
  readonly tool: "spawn" | "read" | "shell";
  readonly startMs: number;
  readonly endMs: number;
  readonly failed: boolean;
  /** For a call that started a subagent. */
  readonly spawned?: Subagent;
}

const made = (
  agent: Subagent | undefined,
  id: MadeCall["id"],
  tool: MadeCall["tool"],
  [start, end]: readonly [number, number],
  failed: boolean,
  spawned?: Subagent,
): MadeCall => ({
  ...(agent !== undefined && { agent }),
  id,
  tool,
  startMs: T + start,
  endMs: T + end,
  failed,
  ...(spawned !== undefined && { spawned }),
});

export const MAIN_CALLS = [
  made(undefined, "call_1", "spawn", [100, 720], false, "a"),
  made(undefined, "call_2", "spawn", [110, 730], false, "b"),
] as const;
export const CALLS_OF = {
  a: [made("a", "call_1", "read", [300, 410], true), made("a", "call_2", "shell", [500, 600], false)],
  b: [made("b", "call_1", "shell", [310, 400], false), made("b", "call_2", "read", [510, 610], true)],
} as const;
/** When each subagent begins and gives its last answer. */
export const RUN_OF = { a: [T + 200, T + 700], b: [T + 210, T + 710] } as const;
export const ENDS_MS = T + 900;

/** What must be stored for every agent: each call under the agent that made it, with its own status. */
export const EXPECTED = [
  "read call_1 error < a < spawn call_1 success < turn",
  "read call_2 error < b < spawn call_2 success < turn",
  "shell call_1 success < b < spawn call_2 success < turn",
  "shell call_2 success < a < spawn call_1 success < turn",
  "spawn call_1 success < turn",
  "spawn call_2 success < turn",
];

/** The part of `EXPECTED` that hooks report without transcripts. */
export const expectedFromHooks = ({ hooksLack }: Pick<MadeSession, "hooksLack">): readonly string[] =>
  EXPECTED.map((text) => {
    let shown = text;
    if (hooksLack?.what.includes("parent")) shown = shown.replace(/ < spawn .*(?= < turn)/, "");
    if (hooksLack?.what.includes("agent")) shown = shown.replace(/ < [ab]\b/, "");
    if (hooksLack?.what.includes("failure")) shown = shown.replace(/\berror\b/, "unfinished");
    return hooksLack?.what.includes("id") ? shown.replaceAll(/call_\d/g, "?") : shown;
  }).sort();

/** The generated session in one agent's format. */
export interface MadeSession {
  /** In order of time. */
  readonly hooks: readonly RecordedCall[];
  /** Writes transcripts as the agent has written them at a time. */
  writeUntil(ms: number): void;
  /** The agent's ids of the subagents. */
  readonly agents: Readonly<Record<Subagent, string>>;
  /** The agent's names of the tools. */
  readonly tools: Readonly<Record<MadeCall["tool"], string>>;
  /** What hooks do not report. Calls that were settled before their transcript existed lack it. */
  readonly hooksLack?: { readonly what: readonly ("id" | "parent" | "agent" | "failure")[]; readonly reason: string };
  close?(): void;
}

/** A hook call at a time. */
export const hookAt = (ms: number, event: string, stdin: Readonly<Record<string, unknown>>): RecordedCall => ({
  received_at: new Date(ms).toISOString(),
  event,
  stdin,
});

export const inOrder = (hooks: readonly RecordedCall[]): readonly RecordedCall[] =>
  hooks.toSorted((a, b) => Date.parse(a.received_at) - Date.parse(b.received_at));

export const iso = (ms: number): string => new Date(ms).toISOString();
