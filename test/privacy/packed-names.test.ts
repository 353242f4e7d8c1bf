// A project lowers its capture level to none: the names of its imported sessions leave the store, without anything being unpacked.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { PROJECT_FILE } from "../../src/config/project-files.ts";
import { openDatabase } from "../../src/store/database.ts";
import { packedFacts } from "../../src/store/packed.ts";
import { settledSums, settledTools } from "../../src/store/queries.ts";
import { importInto } from "../import/run.ts";
import { clockAt } from "../support/clock.ts";
import { Replay } from "../support/replay.ts";

let replay: Replay | undefined;
afterEach(() => replay?.remove());

const NOW_MS = Date.parse("2026-11-27T10:00:00Z");
const HOUR_MS = 3_600_000;

function read(of: Replay) {
  const db = openDatabase(of.places.storePath);
  try {
    return db
      .prepare("SELECT p.session AS id, s.cwd FROM packed p JOIN sessions s ON s.id = p.session ORDER BY 1")
      .all()
      .map((row) => {
        const id = Number(row["id"]);
        const facts = packedFacts(db, id) ?? [];
        return {
          cwd: String(row["cwd"]),
          keys: facts.map(({ key }) => key).sort(),
          sums: settledSums(db, id),
          tools: settledTools(db, id),
          names: facts.flatMap((fact) => [
            ...(fact.kind === "tool_use" ? [fact.executable, fact.mcpServer, fact.name] : []),
            ...(fact.kind === "subagent" ? [fact.agentType] : []),
          ]),
        };
      });
  } finally {
    db.close();
  }
}

/** Every byte of the store and its log. */
const bytesOf = (of: Replay): string => {
  const folder = dirname(of.places.storePath);
  const files = readdirSync(folder).filter((name) => name.startsWith("store.db"));
  return files.map((name) => readFileSync(join(folder, name)).toString("latin1")).join("");
};

const lower = (folder: string, settings: object): void => {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, PROJECT_FILE), JSON.stringify(settings));
};

/** Words that only the names of these recordings contain, and that no built-in tool has. */
const FOREIGN = /^(?:mcp__\w+|shop\w*|pricer|[a-z]+-reviewer|git|ls|cat|echo|python3?|npm|sleep)$/;

test.each([
  ["claude-code", "mcp"],
  ["claude-code", "parallel-tools"],
  ["codex", "mcp"],
])("%s %s", async (source, name) => {
  replay = new Replay(source, name);
  await importInto(replay, source);
  const before = read(replay);
  const names = [...new Set(before.flatMap((one) => one.names))].filter(
    (text): text is string => text !== undefined && FOREIGN.test(text),
  );
  expect(names.length).toBeGreaterThan(0);
  for (const { cwd } of before) lower(cwd, { capture: "none" });
  await replay.drain({}, clockAt(NOW_MS));

  const after = read(replay);
  expect(after.map(({ keys }) => keys)).toEqual(before.map(({ keys }) => keys));
  expect(after.map(({ sums, tools }) => [sums, tools])).toEqual(before.map(({ sums, tools }) => [sums, tools]));
  expect(after.flatMap((one) => one.names).filter((text) => names.includes(text ?? ""))).toEqual([]);
  const bytes = bytesOf(replay);
  // Short words can be part of anything
  for (const text of names.filter(({ length }) => length > 6))
    expect([text, bytes.includes(text)]).toEqual([text, false]);
});

test("also of projects without recent sessions, within the hour; a disabled project keeps nothing", async () => {
  replay = new Replay("claude-code", "mcp");
  await importInto(replay, "claude-code");
  const [session] = read(replay);
  await replay.drain({}, clockAt(NOW_MS));
  const db = openDatabase(replay.places.storePath);
  for (let i = 0; i < 100; i++) {
    db.prepare("INSERT INTO sessions (source, session_id, first_ms, last_ms) VALUES ('other', ?, ?, ?)").run(
      `session-${i}`,
      NOW_MS,
      NOW_MS,
    );
  }
  db.close();
  const namesOf = (): readonly (string | undefined)[] =>
    replay === undefined ? [] : read(replay).flatMap((one) => one.names);
  lower(session?.cwd ?? "", { capture: "none" });
  await replay.drain({}, clockAt(NOW_MS + HOUR_MS / 2));
  expect(namesOf().join()).toContain("mcp__");
  await replay.drain({}, clockAt(NOW_MS + HOUR_MS));
  expect(namesOf().join()).not.toContain("mcp__");
  expect(namesOf().length).toBeGreaterThan(0);

  replay.remove();
  replay = new Replay("claude-code", "mcp");
  await importInto(replay, "claude-code");
  lower(read(replay)[0]?.cwd ?? "", { disabled: true });
  await replay.drain({}, clockAt(NOW_MS));
  expect(read(replay)).toEqual([]);
  expect(bytesOf(replay)).not.toContain("mcp__");
});
