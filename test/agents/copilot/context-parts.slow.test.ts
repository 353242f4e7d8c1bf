// Slow: only `npm run test:all` runs it. What filled Copilot's context in each recording; transcript.test.ts reads
// one of its shutdown lines.
// What filled the context when Copilot ended: the figures of the last shutdown line, after hooks and after an import.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { allAgents } from "#agents/registry.ts";
import type { ContextParts } from "#core/model/transcript.ts";
import { explain } from "#show/report/explain.ts";
import { explainJson } from "#show/report/explain-json.ts";
import { findingsOf } from "#show/report/findings.ts";
import { viewOf } from "#show/report/session-view.ts";
import { openDatabase } from "#store/database.ts";
import { sessionById } from "#store/sessions.ts";
import { recordedCases, recordedHome } from "../../import/home.ts";
import { importInto } from "../../import/run.ts";
import { clockAt } from "../../support/clock.ts";
import type { Replay } from "../../support/replay.ts";

const agents = await allAgents();
const cases = (await recordedCases()).filter(({ source }) => source === "copilot");
let replay: Replay | undefined;
afterEach(() => replay?.remove());

test.each(cases)("$name", async (of) => {
  const home = await recordedHome(of);
  replay = home.replay;
  const written = writtenIn(join(home.replay.home, ".copilot", "session-state"));
  await importInto(replay, of.source);
  expect(partsIn(replay)).toEqual(written);
  for (const call of home.calls) replay.put(call);
  await replay.drain({ endIdle: true }, clockAt(Math.max(...home.calls.map((call) => Date.parse(call.received_at)))));
  expect(partsIn(replay)).toEqual(written);
});

test("explain shows them in a sentence and in JSON; without them it says nothing", async () => {
  const home = await recordedHome(cases.find(({ name }) => name === "multi-turn") as (typeof cases)[number]);
  replay = home.replay;
  await importInto(replay, "copilot");
  const db = openDatabase(replay.places.storePath);
  const shown = (more: object) => {
    const [row] = db.prepare("SELECT id FROM sessions").all();
    const settings = { semconv: "latest", traceScope: "session" } as const;
    const view = viewOf(db, { ...sessionById(db, Number(row?.["id"])), ...more }, { agents }, settings);
    const explanation = explain(db, view, { agents });
    const texts = findingsOf(explanation).map(({ text }) => text);
    return [explainJson(explanation).context.parts, texts.filter((text) => text.startsWith("At the end"))];
  };
  const parts = { system: 4776, tools: 5698, conversation: 526 };
  expect(shown({ contextParts: { timeMs: 0, ...parts } })).toEqual([
    { time: "1970-01-01T00:00:00.000Z", ...parts },
    ["At the end the context was 11.0k tokens: system prompt 43%, tool definitions 52%, conversation 5%."],
  ]);
  expect(shown({ contextParts: undefined })).toEqual([null, []]);
  db.close();
});

/** By session id, from the last shutdown line that has them. */
function writtenIn(folder: string): Readonly<Record<string, ContextParts>> {
  const found: Record<string, ContextParts> = {};
  for (const id of existsSync(folder) ? readdirSync(folder) : []) {
    const path = join(folder, id, "events.jsonl");
    const lines = existsSync(path) ? readFileSync(path, "utf8").split("\n") : [];
    for (const line of lines.filter((one) => one.includes('"session.shutdown"'))) {
      const {
        systemTokens: system,
        toolDefinitionsTokens: tools,
        conversationTokens: conversation,
      } = JSON.parse(line).data;
      if (system !== undefined) found[id] = { system, tools, conversation };
    }
  }
  return found;
}

function partsIn({ places }: Replay): Readonly<Record<string, ContextParts>> {
  const db = openDatabase(places.storePath);
  const rows = db.prepare("SELECT session_id, context_parts FROM sessions WHERE context_parts IS NOT NULL").all();
  db.close();
  return Object.fromEntries(
    rows.map((row) => {
      const { timeMs: _, ...parts } = JSON.parse(String(row["context_parts"]));
      return [String(row["session_id"]), parts];
    }),
  );
}
