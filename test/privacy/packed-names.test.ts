// A project, or the user, lowers the capture level to none: the names of imported and of settled sessions leave the store, without
// anything being unpacked.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { PROJECT_FILE } from "#config/project.ts";
import { openDatabase } from "#store/database.ts";
import { writeMeta } from "#store/meta.ts";
import { packedFacts } from "#store/packed.ts";
import { settledSums, settledTools } from "#store/queries.ts";
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

/** Names in both recordings that are no agent's own. */
const NAMES = /lookup_price|mcp__\w+|acme\/shop/;

/** Every session's sums, calls and turns. */
function figuresOf(of: Replay): unknown {
  const db = openDatabase(of.places.storePath);
  try {
    const ids = db.prepare("SELECT id FROM sessions ORDER BY id").all();
    return ids.map(({ id }) => [settledSums(db, Number(id)), settledTools(db, Number(id))]);
  } finally {
    db.close();
  }
}

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

describe("the user's own level", () => {
  const NONE = { OPENHOOK_OTEL_CAPTURE: "none" };

  test.each([
    ["claude-code", "mcp", true],
    ["codex", "mcp", true],
    ["claude-code", "mcp", false],
    ["codex", "mcp", false],
  ])("%s %s, imported: %s", async (source, name, isImported) => {
    replay = new Replay(source, name);
    if (isImported) await importInto(replay, source);
    else {
      for (const call of replay.calls) replay.put(call);
      await replay.drain({ endIdle: true }, clockAt(NOW_MS));
    }
    const figures = (): unknown => figuresOf(replay as Replay);
    const before = figures();
    expect(bytesOf(replay)).toMatch(NAMES);
    replay.env = NONE;
    await replay.drain({}, clockAt(NOW_MS + HOUR_MS));
    expect(bytesOf(replay).match(NAMES)).toBe(null);
    expect(figures()).toEqual(before);
  });

  test("names that were stored at none are removed, and again after each change to none", async () => {
    replay = new Replay("claude-code", "mcp");
    await importInto(replay, "claude-code");
    const db = openDatabase(replay.places.storePath);
    writeMeta(db, "capture.level", "none");
    db.close();
    replay.env = NONE;
    await replay.drain({}, clockAt(NOW_MS));
    expect(bytesOf(replay).match(NAMES)).toBe(null);

    replay.env = {};
    await replay.drain({}, clockAt(NOW_MS));
    const other = new Replay("codex", "mcp");
    for (const call of other.calls) replay.put(call);
    other.remove();
    await replay.drain({ endIdle: true }, clockAt(NOW_MS));
    expect(bytesOf(replay)).toMatch(NAMES);
    replay.env = NONE;
    await replay.drain({}, clockAt(NOW_MS));
    expect(bytesOf(replay).match(NAMES)).toBe(null);
  });
});

test("a project that lowers its level loses its names within the hour; a disabled project keeps nothing", async () => {
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
