import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { allAgents } from "#agents/registry.ts";
import type { Agent } from "#core/model/agent.ts";
import type { Event } from "#core/model/event-schema.ts";
import { INITIAL_OFFSET } from "#core/model/initial-offset.ts";
import {
  NOTHING_SETTLED,
  type Session,
  type SessionContext,
  type SessionInput,
  type SettledSubagent,
  type SettledTurn,
} from "#core/model/session.ts";
import type { TranscriptEntry } from "#core/model/transcript.ts";
import { mergeEntries } from "#core/rules/merge.ts";
import { buildSession } from "#core/session/build.ts";

const CASES = resolve(dirname(fileURLToPath(import.meta.url)), "..", "agents");

/** One recorded session: the events of its hooks, and its transcript's entries line by line, in the order of the files. */
export interface RecordedSession {
  readonly name: string;
  readonly source: string;
  readonly sessionId: string;
  readonly provider?: string;
  readonly events: readonly Event[];
  readonly lines: readonly TranscriptEntry[];
}

/** Native payloads of every recorded case, with the agent that sent them. */
export function recordedPayloads(): readonly RecordedPayload[] {
  return caseFolders().flatMap(({ source, folder }) =>
    callsOf(folder).map(({ event, env = {}, stdin, stdin_raw }) => ({
      source,
      event,
      env,
      payload: stdin ?? stdin_raw,
    })),
  );
}

export interface RecordedPayload {
  readonly source: string;
  /** As registered. */
  readonly event: string;
  readonly env: Readonly<Record<string, string>>;
  readonly payload: unknown;
}

/** Every session of every case whose agent has a transcript. */
export async function recordedSessions(): Promise<readonly RecordedSession[]> {
  const agents = await allAgents();
  const found: RecordedSession[] = [];
  for (const { source, name, folder } of caseFolders()) {
    // Other agents' transcripts need a home directory: test/agents/recordings.test.ts covers them
    if (source !== "claude-code") continue;
    const agent = agents.find((a) => a.source === source);
    if (agent?.transcript === undefined) continue;
    const events = callsOf(folder).flatMap((call) => eventsOf(agent, call));
    // Calls without an id need the store: test/agents/recordings.test.ts covers those too
    if (events.some((e) => (e.type === "tool.start" || e.type === "tool.end") && e.data?.tool_call_id === undefined))
      continue;
    for (const sessionId of new Set(events.map((e) => e.session_id))) {
      found.push({
        name: `${name} ${sessionId.slice(0, 8)}`,
        source,
        sessionId,
        ...(agent.provider !== undefined && { provider: agent.provider }),
        events: events.filter((e) => e.session_id === sessionId),
        lines: await linesOf(agent, join(folder, "transcripts"), sessionId),
      });
    }
  }
  return found;
}

/** The first session of a case. */
export async function recordedSession(name: string): Promise<RecordedSession> {
  const found = (await recordedSessions()).find((s) => s.name.startsWith(`${name} `));
  if (found === undefined) throw new Error(`there is no recording called ${name}`);
  return found;
}

/** Several records of one fact become one entry, as in the store. */
export function merged(lines: readonly TranscriptEntry[]): readonly TranscriptEntry[] {
  const byKey = new Map<string, TranscriptEntry>();
  for (const entry of lines) {
    const known = byKey.get(entry.key);
    byKey.set(entry.key, known === undefined ? entry : mergeEntries(known, entry));
  }
  return [...byKey.values()];
}

export const inputOf = (
  recorded: RecordedSession,
  facts: Pick<SessionInput, "events" | "entries">,
  context: SessionContext = NOTHING_SETTLED,
): SessionInput => ({
  facts: {
    source: recorded.source,
    sessionId: recorded.sessionId,
    ...(recorded.provider !== undefined && { provider: recorded.provider }),
  },
  ...facts,
  context,
  expectsTranscript: true,
});

/** What has closed so far and must not come again: the store's part, in memory. */
export class Ledger {
  readonly parts: Session[] = [];
  readonly #settled = new Set<string>();
  #context: SessionContext = NOTHING_SETTLED;

  /** One drain: builds what is open of the given facts, and settles what has closed. */
  drain(recorded: RecordedSession, events: readonly Event[], lines: readonly TranscriptEntry[], ends = false): void {
    const open = {
      events: events.filter((e) => !this.#settled.has(e.id)),
      entries: merged(lines).filter((e) => !this.#settled.has(e.key)),
    };
    const idle = { reason: "timeout", nativeReason: "idle" } as const;
    const session = buildSession({ ...inputOf(recorded, open, this.#context), ...(ends && { endIdle: idle }) });
    const turns = session.turns.filter((t) => t.closed);
    const subagents = session.subagents.filter((s) => s.closed);
    for (const keys of [session.unused, ...[...turns, ...subagents, ...session.segments].map((x) => x.uses)]) {
      for (const key of keys) this.#settled.add(key);
    }
    const settledTurns = new Map<string, SettledTurn>(this.#context.turns);
    for (const turn of turns) {
      const key = turn.key.replace(/~\d+$/, "");
      const before = settledTurns.get(key);
      settledTurns.set(key, {
        segment: before?.segment ?? turn.segment,
        state: before?.state ?? turn.state,
        startMs: before?.startMs ?? turn.startMs,
        endMs: Math.max(before?.endMs ?? 0, turn.endMs),
        parts: (before?.parts ?? 0) + 1,
        hasHook: turn.hasHookPrompt || before?.hasHook === true,
        ...(turn.promptLength !== undefined && { promptLength: turn.promptLength }),
      });
    }
    const settledSubagents = new Map<string, SettledSubagent>(this.#context.subagents);
    for (const s of subagents) {
      const before = settledSubagents.get(s.agentId);
      settledSubagents.set(s.agentId, {
        segment: s.segment,
        parts: (before?.parts ?? 0) + 1,
        ...(s.turnKey !== undefined && { turnKey: s.turnKey }),
        ...(s.parentCallId !== undefined && { parentCallId: s.parentCallId }),
        ...(s.agentType !== undefined && { agentType: s.agentType }),
      });
    }
    const calls = [...turns, ...subagents].flatMap((run) => run.toolCalls.map((t) => t.callId));
    const segment = session.segments.at(-1);
    this.#context = {
      turns: settledTurns,
      subagents: settledSubagents,
      callIds: new Set([...this.#context.callIds, ...calls]),
      knowsCalls: false,
      calls: [],
      ...(segment !== undefined && { segment: { ...segment, uses: [] } }),
    };
    this.parts.push({ ...session, turns, subagents });
  }
}

// --- internal ---

interface Call {
  readonly received_at: string;
  readonly event: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: unknown;
  readonly stdin_raw?: string;
}

function caseFolders() {
  return readdirSync(CASES, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name: source }) =>
      readdirSync(join(CASES, source)).map((name) => ({ source, name, folder: join(CASES, source, name) })),
    )
    .filter(({ folder }) => existsSync(join(folder, "hooks.jsonl")));
}

const callsOf = (folder: string): readonly Call[] =>
  readFileSync(join(folder, "hooks.jsonl"), "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Call);

function eventsOf(agent: Agent, call: Call): readonly Event[] {
  if (call.stdin === undefined) return [];
  return agent.toEvents(call.stdin, {
    source: agent.source,
    event: call.event,
    timeMs: Date.parse(call.received_at),
    env: call.env?.["CLAUDE_PID"] === undefined ? {} : { CLAUDE_PID: call.env["CLAUDE_PID"] },
    payloadBytes: JSON.stringify(call.stdin).length,
    truncated: false,
  });
}

async function linesOf(agent: Agent, folder: string, sessionId: string): Promise<readonly TranscriptEntry[]> {
  const reader = (await agent.transcript?.())?.default;
  if (reader === undefined || !existsSync(folder)) return [];
  const main = readdirSync(folder)
    .map((project) => join(folder, project, `${sessionId}.jsonl`))
    .find((path) => existsSync(path));
  const lines: TranscriptEntry[] = [];
  const path = main ?? join(folder, "none", `${sessionId}.jsonl`);
  for (const file of await reader.files({ path, sessionId, home: folder })) {
    for await (const batch of reader.read(file, INITIAL_OFFSET)) lines.push(...batch.entries);
  }
  return lines;
}
