import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { allAgents } from "#agents/registry.ts";
import type { ConfiguredAt } from "#core/model/configured.ts";
import type { Subscriptions } from "#core/model/rate-limit.ts";
import { type InsightQuery, type InsightReport, insights } from "#show/report/insights/insights.ts";
import { openDatabase } from "#store/database.ts";
import { importInto } from "../../import/run.ts";
import { Replay } from "../../support/replay.ts";

/** One answer; figures as Anthropic reports them: fresh input, cache reads and cache writes do not overlap. */
export interface MadeCall {
  /** After the call before. @default 5000 */
  readonly pauseMs?: number;
  readonly fresh?: number;
  readonly read?: number;
  readonly write?: number;
  readonly output?: number;
  readonly model?: string;
  /** Tool calls and whether each fails. @default none: the turn ends */
  readonly tools?: readonly (readonly [name: string, fails: boolean])[];
  /** What the provider says about its cache. */
  readonly missed?: readonly [reason: string, tokens: number];
}

/** A session: its turns with their calls. */
export interface MadeSession {
  readonly atMs: number;
  readonly turns: readonly (readonly MadeCall[])[];
  /** Of the agent. @default 2.1.332 */
  readonly version?: string;
  /** The user stops the last turn. */
  readonly isInterrupted?: true;
}

export const SONNET = "claude-sonnet-4-5-20250929";
export const OPUS = "claude-opus-4-1-20250805";

const agents = await allAgents();

/** Writes sessions as Claude Code does, imports them, and finds insights. */
export async function insightsOf(
  sessions: readonly MadeSession[],
  query: InsightQuery,
  servers: readonly ConfiguredAt[] = [],
  subscriptions: Subscriptions = new Map(),
): Promise<InsightReport> {
  const replay = new Replay("claude-code", "basic", { withTranscripts: false });
  try {
    const folder = join(replay.home, ".claude", "projects", "-home-dev-shop");
    mkdirSync(folder, { recursive: true });
    for (const [n, session] of sessions.entries()) writeFileSync(join(folder, `${idOf(n)}.jsonl`), linesOf(n, session));
    await importInto(replay, "claude-code");
    const db = openDatabase(replay.places.storePath);
    try {
      return insights(
        db,
        { agents, settings: { semconv: "latest", traceScope: "session" }, servers, subscriptions },
        query,
      );
    } finally {
      db.close();
    }
  } finally {
    replay.remove();
  }
}

export const idOf = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;

// --- internal ---

const PAUSE_MS = 5_000;

function linesOf(n: number, { atMs, turns, isInterrupted, version = "2.1.332" }: MadeSession): string {
  const sessionId = idOf(n);
  const lines: string[] = [];
  let [nowMs, count, parentUuid] = [atMs, 0, null as string | null];
  const put = (more: Readonly<Record<string, unknown>>): void => {
    const uuid = `${sessionId}-${++count}`;
    const shared = { parentUuid, isSidechain: false, cwd: "/home/dev/shop", sessionId, version, uuid };
    lines.push(JSON.stringify({ ...shared, timestamp: new Date(nowMs).toISOString(), ...more }));
    parentUuid = uuid;
  };
  for (const [t, calls] of turns.entries()) {
    // The user waits before the prompt; later calls of a turn begin with the result before them
    nowMs += calls[0]?.pauseMs ?? PAUSE_MS;
    put({ type: "user", promptId: `p${t}`, message: { role: "user", content: "go on" } });
    for (const [i, call] of calls.entries()) {
      const {
        pauseMs = PAUSE_MS,
        fresh = 3,
        read = 0,
        write = 0,
        output = 50,
        model = SONNET,
        tools = [],
        missed,
      } = call;
      nowMs += i === 0 ? 1_000 : pauseMs;
      const ids = tools.map((_, tool) => `toolu_${n}_${count}_${tool}`);
      const usage = {
        input_tokens: fresh,
        output_tokens: output,
        cache_read_input_tokens: read,
        cache_creation_input_tokens: write,
        cache_creation: { ephemeral_5m_input_tokens: write, ephemeral_1h_input_tokens: 0 },
      };
      const why = missed && { type: missed[0], cache_missed_input_tokens: missed[1] };
      const message = {
        ...{ id: `msg_${n}_${count}`, type: "message", role: "assistant", model, usage },
        content: ids.map((id, tool) => ({ type: "tool_use", id, name: tools[tool]?.[0], input: { n: count } })),
        stop_reason: ids.length > 0 ? "tool_use" : "end_turn",
        ...(why !== undefined && { diagnostics: { cache_miss_reason: why } }),
      };
      put({ type: "assistant", requestId: `req_${n}_${count}`, message });
      for (const [tool, id] of ids.entries()) {
        nowMs += 500;
        const result = { type: "tool_result", tool_use_id: id, content: "done", is_error: tools[tool]?.[1] ?? false };
        put({ type: "user", promptId: `p${t}`, message: { role: "user", content: [result] } });
      }
    }
  }
  if (isInterrupted) {
    nowMs += 1_000;
    const content = [{ type: "text", text: "[Request interrupted by user]" }];
    put({ type: "user", message: { role: "user", content } });
  }
  return `${lines.join("\n")}\n`;
}
