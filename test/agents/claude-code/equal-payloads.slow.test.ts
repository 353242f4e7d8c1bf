// Slow: only `npm run test:all` runs it. Equal payloads reported twice, at every pace of drains; drain/replays.slow.test.ts has two.
//
// Payloads of two turns, or of two segments of a session, can be equal byte for byte. Each is a separate event, but only
// one if two registrations report it.
import { appendFileSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { openDatabase } from "#store/database.ts";
import { clockAt } from "../../support/clock.ts";
import { Replay } from "../../support/replay.ts";
import { summaryOf } from "../../support/summary.ts";

const SESSION = "22222222-2222-4222-8222-222222222222";
const START_MS = Date.parse("2026-11-21T10:00:00.000Z");
const SECOND_MS = 1_000;

let at: Replay;
afterEach(() => at.remove());

const ways = [1, 2].flatMap((registrations) =>
  ["each event", "each stop and end", "the last end"].map((drains) => ({ registrations, drains })),
);

describe.each(ways)("reported by $registrations, with a drain after $drains", ({ registrations, drains }) => {
  test("each turn of 2.0.77 ends with its own Stop", async () => {
    const session = new Story("2.0.77", registrations, drains);
    await session.hook("SessionStart", { source: "startup" });
    for (const [n, text] of ["one", "two", "three"].entries()) {
      await session.turn(text);
      if (drains !== "the last end") expect(turns()).toBe(n + 1);
    }
    await session.hook("SessionEnd", { reason: "other" });
    expect(segments()).toEqual(["startup other"]);
    expect(turns()).toBe(3);
    expect(open()).toBe(0);
  });

  test.each([SECOND_MS, 20 * SECOND_MS, 120 * SECOND_MS])(
    "a session that is closed and resumed twice, each time %i ms later, has three segments",
    async (awayMs) => {
      const session = new Story("2.1.329", registrations, drains);
      await session.hook("SessionStart", { source: "startup" });
      for (const id of ["p1", "p2", "p3"]) {
        await session.turn(id, id);
        await session.hook("SessionEnd", { reason: "resume" });
        session.wait(awayMs);
        if (id !== "p3") await session.hook("SessionStart", { source: "resume" });
      }
      expect(segments()).toEqual(["startup resume", "resume resume", "resume resume"]);
      expect(turns()).toBe(3);
      expect(open()).toBe(0);
    },
  );
});

// --- internal ---

/** A running session: hooks, each reported by every registration, and transcript lines. */
class Story {
  readonly #version: string;
  readonly #registrations: number;
  readonly #drains: string;
  readonly #path: string;
  #ms = START_MS;
  #lines = 0;

  constructor(version: string, registrations: number, drains: string) {
    at = new Replay("claude-code", "basic", { withTranscripts: false });
    this.#version = version;
    this.#registrations = registrations;
    this.#drains = drains;
    this.#path = join(at.transcriptRoot, "-home-dev-shop", `${SESSION}.jsonl`);
  }

  wait(ms: number): void {
    this.#ms += ms;
  }

  async turn(text: string, promptId?: string): Promise<void> {
    const prompt = promptId === undefined ? {} : { prompt_id: promptId };
    await this.hook("UserPromptSubmit", { ...prompt, prompt: text });
    this.#write({ type: "user", ...(promptId && { promptId }), message: { role: "user", content: text } });
    this.#write({
      type: "assistant",
      requestId: `req_${this.#lines}`,
      message: {
        id: `msg_01AbCdEfGhIjKlMn${this.#lines}`,
        model: "claude-sonnet-4-5-20250929",
        content: [{ type: "text", text: "done" }],
        stop_reason: "end_turn",
        stop_details: null,
        usage: { input_tokens: 100, output_tokens: 10 },
      },
    });
    await this.hook("Stop", { ...prompt, stop_hook_active: false });
    this.wait(5 * SECOND_MS);
  }

  async hook(event: string, payload: object): Promise<void> {
    const facts = { session_id: SESSION, transcript_path: this.#path, cwd: "/home/dev/shop", hook_event_name: event };
    for (let n = 0; n < this.#registrations; n++) {
      this.wait(7);
      const received_at = new Date(this.#ms).toISOString();
      at.put({ received_at, event, env: { CLAUDE_PID: "77" }, stdin: { ...facts, ...payload } });
      if (this.#drains === "each event") await this.#drain();
    }
    if (event === "Stop" || event === "SessionEnd") {
      if (this.#drains === "each stop and end" || event === "SessionEnd") await this.#drain();
    }
    this.wait(SECOND_MS / 2);
  }

  async #drain(): Promise<void> {
    await at.drain({}, clockAt(this.#ms));
  }

  #write(line: object): void {
    this.wait(SECOND_MS / 2);
    const timestamp = new Date(this.#ms).toISOString();
    const shared = { sessionId: SESSION, cwd: "/home/dev/shop", version: this.#version, isSidechain: false };
    mkdirSync(dirname(this.#path), { recursive: true });
    appendFileSync(this.#path, `${JSON.stringify({ ...shared, uuid: `u-${this.#lines++}`, timestamp, ...line })}\n`);
  }
}

const turns = (): number | undefined => summaryOf(at.places.storePath, SESSION)?.prompts;
const open = (): number | undefined => summaryOf(at.places.storePath, SESSION)?.unsettled;

function segments(): readonly string[] {
  const db = openDatabase(at.places.storePath);
  try {
    return db
      .prepare("SELECT start_origin, native_reason FROM segments ORDER BY ordinal")
      .all()
      .map((row) => `${row["start_origin"]} ${row["native_reason"]}`);
  } finally {
    db.close();
  }
}
