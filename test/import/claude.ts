import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Replay } from "../support/replay.ts";

/** Totals of a transcript; each answer once, by its id. */
export interface Totals {
  sessions: number;
  turns: number;
  calls: number;
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  tools: number;
}

export const NOTHING: Totals = {
  sessions: 0,
  turns: 0,
  calls: 0,
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  tools: 0,
};

export interface SessionOptions {
  readonly id: string;
  readonly startMs: number;
  readonly turns: number;
  /** Model calls of each turn; all but the last use a tool. */
  readonly steps?: number;
  /** Characters of each tool's result. */
  readonly resultLength?: number;
  readonly model?: string;
  readonly tool?: string;
  readonly cwd?: string;
}

/** A transcript as Claude Code 2.1 writes it, with its totals. Deterministic for the same options. */
export function claudeSession(options: SessionOptions): { readonly lines: readonly string[]; readonly totals: Totals } {
  const { id, startMs, turns, steps = 3, resultLength = 20, cwd = "/home/dev/acme-shop" } = options;
  const totals = { ...NOTHING, sessions: 1 };
  const lines: string[] = [];
  let [ms, n]: [number, number] = [startMs, 0];
  let parent: string | null = null;
  const put = (body: Readonly<Record<string, unknown>>): void => {
    const uuid = `${id}-${n++}`;
    ms += 1_000;
    const base = {
      isSidechain: false,
      userType: "external",
      cwd,
      sessionId: id,
      version: "2.1.329",
      gitBranch: "main",
    };
    lines.push(JSON.stringify({ parentUuid: parent, ...base, uuid, timestamp: new Date(ms).toISOString(), ...body }));
    parent = uuid;
  };
  for (let turn = 0; turn < turns; turn++) {
    totals.turns++;
    put({ type: "user", promptId: `${id}-p${turn}`, message: { role: "user", content: `do number ${turn}` } });
    for (let step = 0; step < steps; step++) {
      const isLast = step === steps - 1;
      const usage = {
        input_tokens: 10 + turn,
        output_tokens: 20 + step,
        cache_read_input_tokens: 1_000 * (turn + 1),
        cache_creation_input_tokens: 100 + step,
        cache_creation: { ephemeral_5m_input_tokens: 100 + step, ephemeral_1h_input_tokens: 0 },
      };
      totals.calls++;
      // The agent's own input count excludes cached tokens; ours includes them
      totals.input += usage.input_tokens + usage.cache_read_input_tokens + usage.cache_creation_input_tokens;
      totals.output += usage.output_tokens;
      totals.cacheRead += usage.cache_read_input_tokens;
      totals.cacheWrite += usage.cache_creation_input_tokens;
      const toolId = `toolu_${id}_${turn}_${step}`;
      put({
        type: "assistant",
        requestId: `req_${id}_${turn}_${step}`,
        message: {
          id: `msg_${id}_${turn}_${step}`,
          type: "message",
          role: "assistant",
          model: options.model ?? "claude-sonnet-4-5-20250929",
          content: [
            isLast
              ? { type: "text", text: "done" }
              : { type: "tool_use", id: toolId, name: options.tool ?? "Read", input: { file_path: `${cwd}/a.ts` } },
          ],
          stop_reason: isLast ? "end_turn" : "tool_use",
          usage,
        },
      });
      if (isLast) continue;
      totals.tools++;
      put({
        type: "user",
        message: {
          role: "user",
          content: [{ tool_use_id: toolId, type: "tool_result", content: "x".repeat(resultLength) }],
        },
      });
    }
  }
  return { lines, totals };
}

/** Where Claude Code stores a session. */
export const claudePath = ({ home }: Pick<Replay, "home">, id: string): string =>
  join(home, ".claude", "projects", "-home-dev-acme-shop", `${id}.jsonl`);

export function writeLines(path: string, lines: readonly string[]): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, lines.map((line) => `${line}\n`).join(""));
}

/** Ids in Claude Code's format. */
export const sessionIdOf = (n: number): string => `5e551017-0000-4000-8000-${String(n).padStart(12, "0")}`;

export const plus = (...all: readonly Totals[]): Totals =>
  all.reduce<Totals>(
    (a, b) => ({
      sessions: a.sessions + b.sessions,
      turns: a.turns + b.turns,
      calls: a.calls + b.calls,
      input: a.input + b.input,
      output: a.output + b.output,
      cacheRead: a.cacheRead + b.cacheRead,
      cacheWrite: a.cacheWrite + b.cacheWrite,
      tools: a.tools + b.tools,
    }),
    NOTHING,
  );
