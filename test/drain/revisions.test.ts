// Answers whose last line comes when their turn is settled: whatever of them was read in between, every book says the same.
import { appendFileSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { afterEach, expect, test } from "vitest";
import type { SpanRecord } from "../../src/model/telemetry.ts";
import { openDatabase } from "../../src/store/database.ts";
import { clockAt } from "../support/clock.ts";
import { Replay } from "../support/replay.ts";
import { booksOf } from "../support/summary.ts";

const SESSION = "22222222-2222-4222-8222-222222222222";
const MODEL = "claude-sonnet-4-5-20250929";

interface Usage {
  readonly fresh: number;
  readonly output: number;
  readonly cacheRead?: number;
}

/** A session of Claude Code that is written line by line. */
class Session {
  readonly #replay = new Replay("claude-code", "basic", { withTranscripts: false });
  readonly #clock = clockAt(Date.UTC(2026, 10, 21, 10));
  readonly #path = join(this.#replay.home, ".claude", "projects", "-home-dev-shop", `${SESSION}.jsonl`);
  #lines = 0;

  get storePath(): string {
    return this.#replay.places.storePath;
  }

  async hook(event: string, more: Readonly<Record<string, unknown>> = {}): Promise<void> {
    const stdin = { session_id: SESSION, transcript_path: this.#path, cwd: "/home/dev/shop", ...more };
    this.#replay.put({ received_at: await this.#now(), event, stdin: { ...stdin, hook_event_name: event } });
  }

  async prompt(id: string): Promise<void> {
    await this.hook("UserPromptSubmit", { prompt_id: id, prompt: "go on" });
    await this.#write({ type: "user", promptId: id, message: { role: "user", content: "go on" } });
  }

  /** A line of an answer; without a reason to stop it is not the last one. */
  async answer(id: string, { fresh, output, cacheRead }: Usage, stopReason: string | null): Promise<void> {
    const usage = {
      input_tokens: fresh,
      output_tokens: output,
      ...(cacheRead !== undefined && { cache_read_input_tokens: cacheRead }),
    };
    await this.#write({
      type: "assistant",
      requestId: `req_${id}`,
      message: {
        id,
        role: "assistant",
        model: MODEL,
        content: [{ type: "text", text: "ok" }],
        stop_reason: stopReason,
        usage,
      },
    });
  }

  async drain(): Promise<void> {
    await this.#replay.drain({}, this.#clock);
  }

  remove(): void {
    this.#replay.remove();
  }

  async #now(): Promise<string> {
    await this.#clock.sleep(1_000);
    return new Date(this.#clock.now()).toISOString();
  }

  async #write(line: object): Promise<void> {
    mkdirSync(dirname(this.#path), { recursive: true });
    const shared = { sessionId: SESSION, version: "2.1.329", isSidechain: false, uuid: `line-${this.#lines++}` };
    appendFileSync(this.#path, `${JSON.stringify({ ...shared, timestamp: await this.#now(), ...line })}\n`);
  }
}

let session: Session | undefined;
afterEach(() => session?.remove());

const small = fc.nat(20);
/** A turn: what its answer began with and ended with, how many turns later that came, and after which of them a drain. */
const turns = fc.array(
  fc.record({
    fresh: fc.integer({ min: 1, max: 5_000 }),
    placeholder: small,
    more: fc.nat(3_000),
    cacheRead: fc.option(fc.nat(90_000), { nil: undefined }),
    between: fc.option(small, { nil: undefined }),
    delay: fc.nat(3),
    drains: fc.boolean(),
  }),
  { minLength: 1, maxLength: 5 },
);

test("an answer's last line, whenever it is read before the session ends: counters, rows and the root span are exact", async () => {
  await fc.assert(
    fc.asyncProperty(turns, async (all) => {
      session = new Session();
      await session.hook("SessionStart", { source: "startup" });
      const waiting: { at: number; write: () => Promise<void> }[] = [];
      for (const [n, { fresh, placeholder, more, cacheRead, between, delay, drains }] of all.entries()) {
        const one = session;
        const usage = { fresh, ...(cacheRead !== undefined && { cacheRead }) };
        await one.prompt(`p${n}`);
        await one.answer(`msg_${n}`, { ...usage, output: placeholder }, null);
        if (between !== undefined) {
          const write = () => one.answer(`msg_${n}`, { ...usage, output: placeholder + Math.min(between, more) }, null);
          waiting.push({ at: n + Math.floor(delay / 2), write });
        }
        const write = () => one.answer(`msg_${n}`, { ...usage, output: placeholder + more }, "end_turn");
        waiting.push({ at: n + delay, write });
        for (const due of waiting.filter(({ at }) => at === n)) await due.write();
        await one.hook("Stop", { prompt_id: `p${n}` });
        if (drains) await one.drain();
      }
      for (const { write } of waiting.filter(({ at }) => at >= all.length)) await write();
      await session.hook("SessionEnd", { reason: "other" });
      await session.drain();

      const { counters, rows } = booksOf(session.storePath);
      expect(counters).toEqual(rows);
      const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
      const input = sum(all.map(({ fresh, cacheRead }) => fresh + (cacheRead ?? 0)));
      const output = sum(all.map(({ placeholder, more }) => placeholder + more));
      expect(rows).toMatchObject({ calls: all.length, input, output });
      const root = rootIn(session.storePath);
      expect(root["openhook.session.input_tokens"]).toBe(input);
      expect(root["openhook.session.output_tokens"]).toBe(output);
      expect(root["openhook.session.cache_read_tokens"] ?? 0).toBe(rows.cache_read);
      expect(root["openhook.cost.usd"]).toBe(rows.cost / 1e9);
      expect(root["openhook.usage.incomplete"]).toBeUndefined();
      session.remove();
    }),
    { numRuns: 25 },
  );
});

// --- internal ---

function rootIn(storePath: string): SpanRecord["attributes"] {
  const db = openDatabase(storePath);
  try {
    const records = db
      .prepare("SELECT record FROM spans")
      .all()
      .map((row) => JSON.parse(String(row["record"])) as SpanRecord);
    const root = records.find(({ attributes }) => attributes["openhook.span.kind"] === "session");
    if (root === undefined) throw new Error("the session has no root span");
    return root.attributes;
  } finally {
    db.close();
  }
}
