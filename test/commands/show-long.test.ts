// What `show` prints of a session with hundreds of calls, and of one turn of it
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { importPast } from "#commands/import.ts";
import { type ShowOptions, show } from "#commands/show.ts";
import { placesOf } from "#config/places.ts";
import { MAX_OPEN_SPANS } from "#show/report/waterfall/fold.ts";
import { writeLongSession } from "../../demo/made-up/session.mjs";
import { contextAt } from "../support/context.ts";
import { removeFolder } from "../support/remove.ts";

let home = "";
let id = "";
const MORE = ["Now add a test for it", "Why did that fail?"];

const context = () =>
  contextAt(placesOf({ env: {}, home, platform: "linux" }), { columns: 120, env: { NO_COLOR: "1" } });

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "openhook-show-long-"));
  const made = {
    spans: MAX_OPEN_SPANS + 100,
    cwd: join(home, "acme-shop"),
    prompt: "Why is the total wrong?",
    more: MORE,
  };
  ({ sessionId: id } = writeLongSession(home, made));
  const stop = new AbortController().signal;
  await importPast([], { dryRun: false, export: false, json: false, stop }, context().context);
});
afterAll(() => removeFolder(home));

async function shown(options: Partial<ShowOptions> = {}): Promise<string> {
  const { context: own, out } = context();
  expect(await show(id, { json: false, envelopes: false, titles: true, ...options }, own)).toBe(0);
  return out();
}

test("its turns are closed, each with what was asked; the commands below open one turn or all", async () => {
  const text = await shown();
  const turns = text.split("\n").filter((line) => /[├└]─ Turn \d/.test(line));
  expect(turns.length).toBeGreaterThan(3);
  for (const [i, line] of turns.entries())
    expect(line).toMatch(
      new RegExp(`─ Turn ${i + 1} \\(\\d+\\) ${i === 0 ? "Why is the total wrong" : MORE[(i - 1) % 2]}`),
    );
  expect(text).not.toMatch(/^│ /m);
  expect(text).toMatch(
    new RegExp(`One turn: openhook-otel show ${id} 1; everything: openhook-otel show ${id} --all\\n$`),
  );
  // Rows and the ones inside are all spans
  const all = (await shown({ all: true })).split("\n").filter((line) => /^[│ ├└]/.test(line));
  const inside = turns.reduce((sum, line) => sum + Number(/\((\d+)\)/.exec(line)?.[1]), 0);
  expect(turns.length + inside).toBe(all.length);
});

test("one turn has all its calls with what they did, and its own figures", async () => {
  const closed = (await shown()).split("\n").find((line) => line.includes("─ Turn 2 ")) ?? "";
  const lines = (await shown({ turn: 2 })).split("\n\n")[1]?.trimEnd().split("\n").slice(1) ?? [];
  expect(lines[0]).toMatch(/^Turn 2 Now add a test for it /);
  expect(lines).toHaveLength(1 + Number(/\((\d+)\)/.exec(closed)?.[1]));
  expect(lines[0]?.split(/ +/).slice(-2)).toEqual(closed.split(/ +/).slice(-2));
  expect(lines.join("\n")).toMatch(/─ (Bash npm test|Bash git status|Grep total|Read \/home\/dev) /);
});

test("a turn that does not exist, and a turn of something that has none", async () => {
  await expect(shown({ turn: 99 })).rejects.toThrow(/^the session has \d+ turns, there is no turn 99$/);
  await expect(shown({ turn: 2, json: true })).rejects.toThrow("--json and --envelopes print the whole session");
});
