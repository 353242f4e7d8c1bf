import { randomUUID } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { importInto } from "../../import/run.ts";
import { Replay } from "../../support/replay.ts";

/** What differs between planted sessions. */
export interface Planted {
  readonly version?: string;
  /** Of each call, one after the other. @default two calls of the usual model */
  readonly models?: readonly string[];
  /** @default 1000 */
  readonly output?: number;
  readonly failing?: boolean;
  /** `undefined`: the calls report no tokens. */
  readonly usage?: false;
  readonly folder?: string;
  /** A second process of another version goes on. */
  readonly resumedBy?: string;
}

export const MODELS = { a: "claude-sonnet-4-5-20250929", b: "claude-opus-4-1-20250805" } as const;

/** A home with Claude Code sessions, each an hour after the one before. Remove it with `remove()`. */
export class PlantedSessions {
  readonly replay = new Replay("claude-code", "basic", { withTranscripts: false });
  /** The first hour; sessions begin at full hours from there. */
  static readonly startMs = Date.UTC(2026, 9, 1);
  #sessions = 0;

  add(count: number, planted: Planted = {}): this {
    for (let i = 0; i < count; i++) this.#write(planted);
    return this;
  }

  async imported(): Promise<this> {
    await importInto(this.replay, "claude-code");
    return this;
  }

  remove(): void {
    this.replay.remove();
  }

  #write({
    version = "2.1.1",
    models = [MODELS.a, MODELS.a],
    output = 1000,
    failing = false,
    usage,
    folder = "shop",
    resumedBy,
  }: Planted) {
    const number = this.#sessions++;
    const sessionId = randomUUID();
    let timeMs = PlantedSessions.startMs + number * 3_600_000;
    let parent: string | null = null;
    const lines: string[] = [];
    const line = (type: "user" | "assistant", message: object, of = version): void => {
      timeMs += 1000 + 100 * (number % 5);
      const uuid = randomUUID();
      const timestamp = new Date(timeMs).toISOString();
      const common = { parentUuid: parent, isSidechain: false, cwd: `/home/dev/${folder}`, sessionId, version: of };
      lines.push(JSON.stringify({ ...common, type, message, uuid, timestamp }));
      parent = uuid;
    };
    const answer = (model: string, content: readonly object[], stop: string, of = version): void => {
      const known = {
        input_tokens: 100,
        cache_read_input_tokens: 900,
        cache_creation_input_tokens: 0,
        output_tokens: output + (number % 7) * 10,
      };
      const message = { id: `msg_${randomUUID()}`, role: "assistant", model, content, stop_reason: stop };
      line("assistant", { ...message, ...(usage !== false && { usage: known }) }, of);
    };
    for (let turn = 0; turn <= number % 3; turn++) {
      line("user", { role: "user", content: "go on" });
      for (const [at, model] of models.entries()) {
        const id = `toolu_${randomUUID()}`;
        const isLast = at === models.length - 1;
        if (isLast) answer(model, [{ type: "text", text: "done" }], "end_turn");
        else {
          answer(model, [{ type: "tool_use", id, name: "Bash", input: { command: "true" } }], "tool_use");
          const result = { type: "tool_result", tool_use_id: id, content: "ok", is_error: failing && turn === 0 };
          line("user", { role: "user", content: [result] });
        }
      }
    }
    if (resumedBy !== undefined) {
      timeMs += 600_000;
      line("user", { role: "user", content: "go on" }, resumedBy);
      answer(models[0] ?? MODELS.a, [{ type: "text", text: "done" }], "end_turn", resumedBy);
    }
    const project = join(this.replay.home, ".claude", "projects", `-home-dev-${folder}`);
    mkdirSync(project, { recursive: true });
    writeFileSync(join(project, `${sessionId}.jsonl`), `${lines.join("\n")}\n`);
  }
}
