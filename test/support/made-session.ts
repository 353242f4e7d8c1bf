import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { DrainDeps } from "#collect/drain/context.ts";
import type { SpanRecord } from "#core/model/telemetry.ts";
import type { DrainOptions } from "#pipeline.ts";
import { openDatabase } from "#store/database.ts";
import { clockAt } from "./clock.ts";
import { Replay } from "./replay.ts";

export interface MadeUsage {
  readonly fresh: number;
  readonly output: number;
  readonly cacheRead?: number;
}

/** One transcript line of an answer. */
export interface MadeAnswer {
  /** @default a new id: the line is a separate answer */
  readonly id?: string;
  readonly usage?: MadeUsage;
  readonly model?: string;
  /** `null`: more lines of this answer follow. @default `tool_use` if it has calls, else `end_turn` */
  readonly stopReason?: string | null;
  /** Ids, tools and arguments of its tool calls. */
  readonly calls?: readonly (readonly [callId: string, tool: string, input?: object])[];
  /** Absent: the main thread. */
  readonly agentId?: string;
}

const MODEL = "claude-sonnet-4-5-20250929";

/** A Claude Code session written line by line, with drains in between. Each line and hook comes a second after the last. */
export class MadeSession {
  readonly sessionId = "22222222-2222-4222-8222-222222222222";
  readonly #replay = new Replay("claude-code", "basic", { withTranscripts: false });
  readonly #clock = clockAt(Date.UTC(2026, 10, 21, 10));
  readonly #project = join(this.#replay.home, ".claude", "projects", "-home-dev-shop");
  #lines = 0;
  /** Dependencies that drains get instead of the usual ones. */
  overrides: Partial<DrainDeps> = {};

  constructor(env: Readonly<Record<string, string>> = {}) {
    this.#replay.env = env;
  }

  get storePath(): string {
    return this.places.storePath;
  }

  get places(): Replay["places"] {
    return this.#replay.places;
  }

  /** The settings of the next drains, as variables. */
  set env(env: Readonly<Record<string, string>>) {
    this.#replay.env = { ...env };
  }

  async hook(event: string, more: Readonly<Record<string, unknown>> = {}): Promise<void> {
    const shared = { session_id: this.sessionId, transcript_path: this.#path(undefined), cwd: "/home/dev/shop" };
    this.#replay.put({ received_at: await this.#now(), event, stdin: { ...shared, hook_event_name: event, ...more } });
  }

  /** A prompt of the user, or the prompt of a subagent. */
  async user(promptId: string | undefined, agentId?: string): Promise<void> {
    await this.#write({ type: "user", promptId, message: { role: "user", content: "go on" } }, agentId);
  }

  async answer({
    id = `msg_${this.#lines}`,
    model = MODEL,
    usage,
    stopReason,
    calls = [],
    agentId,
  }: MadeAnswer = {}): Promise<void> {
    const { fresh, output, cacheRead } = usage ?? { fresh: 100, output: 10 };
    const content = calls.map(([callId, name, input = {}]) => ({ type: "tool_use", id: callId, name, input }));
    const message = {
      ...{ id, role: "assistant", model },
      content: content.length > 0 ? content : [{ type: "text", text: "ok" }],
      stop_reason: stopReason === undefined ? (content.length > 0 ? "tool_use" : "end_turn") : stopReason,
      // Claude Code writes both cache counts, or neither
      usage: {
        input_tokens: fresh,
        output_tokens: output,
        cache_read_input_tokens: cacheRead,
        cache_creation_input_tokens: cacheRead === undefined ? undefined : 0,
      },
    };
    await this.#write({ type: "assistant", requestId: `req_${id}`, message }, agentId);
  }

  /** @param spawned the subagent that the call started or resumed */
  async result(callId: string, spawned?: string, agentId?: string): Promise<void> {
    const content = [{ type: "tool_result", tool_use_id: callId, content: "ok" }];
    const message = { role: "user", content };
    await this.#write(
      { type: "user", message, toolUseResult: spawned === undefined ? {} : { agentId: spawned } },
      agentId,
    );
  }

  /** The user refuses a call. */
  async refusal(callId: string): Promise<void> {
    const content = [{ type: "tool_result", tool_use_id: callId, content: "refused", is_error: true }];
    await this.#write({ type: "user", message: { role: "user", content }, toolDenialKind: "user" }, undefined);
  }

  /** Writes the metadata file beside a subagent's transcript. */
  startedBy(agentId: string, callId: string): void {
    const path = this.#path(agentId).replace(/\.jsonl$/, ".meta.json");
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, JSON.stringify({ agentType: "Explore", toolUseId: callId }));
  }

  async pause(ms: number): Promise<void> {
    await this.#clock.sleep(ms);
  }

  async drain(options: DrainOptions = {}): Promise<void> {
    await this.#replay.drain(options, { ...this.#clock, ...this.overrides });
  }

  spans(): readonly SpanRecord[] {
    const db = openDatabase(this.storePath);
    try {
      return db
        .prepare("SELECT record FROM spans ORDER BY seq")
        .all()
        .map((row) => JSON.parse(String(row["record"])) as SpanRecord);
    } finally {
      db.close();
    }
  }

  remove(): void {
    this.#replay.remove();
  }

  #path(agentId: string | undefined): string {
    if (agentId === undefined) return join(this.#project, `${this.sessionId}.jsonl`);
    return join(this.#project, this.sessionId, "subagents", `agent-${agentId}.jsonl`);
  }

  async #now(): Promise<string> {
    await this.#clock.sleep(1_000);
    return new Date(this.#clock.now()).toISOString();
  }

  async #write(line: object, agentId: string | undefined): Promise<void> {
    const path = this.#path(agentId);
    mkdirSync(dirname(path), { recursive: true });
    const shared = { sessionId: this.sessionId, version: "2.1.329", uuid: `line-${this.#lines++}` };
    const side = agentId === undefined ? { isSidechain: false } : { isSidechain: true, agentId };
    appendFileSync(path, `${JSON.stringify({ ...shared, ...side, timestamp: await this.#now(), ...line })}\n`);
  }
}
