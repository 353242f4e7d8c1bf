import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { allAgents } from "../../src/agents/registry.ts";
import { type Readers, readersHere, readersInThreads } from "../../src/import/readers.ts";
import { redact } from "../../src/privacy/redact.ts";
import { readStore } from "../../src/store/read-only.ts";
import { ensureBuilt, PROGRAM } from "../support/program.ts";
import { recordedCases, recordedHome } from "./home.ts";
import { importInto } from "./run.ts";

await ensureBuilt();
const agents = await allAgents();
const here = readersHere((source) => agents.find((agent) => agent.source === source), redact);
const REDACTION = { emails: true, homeDirectories: true, rules: {} };
const cases = (await recordedCases()).filter(({ source }) => source === "claude-code" || source === "codex");

/** All that an import has written of sessions. */
async function imported(of: (typeof cases)[number], readers: (home: string) => Readers): Promise<unknown> {
  const { replay, home } = await recordedHome(of);
  try {
    const report = await importInto(replay, of.source, { readers: () => readers(home) });
    expect(report.problems).toEqual([]);
    return readStore(replay.places.storePath, (db) =>
      [
        "SELECT session, hex(body) AS body FROM packed",
        "SELECT * FROM packed_usage",
        "SELECT * FROM packed_tools",
        "SELECT * FROM packed_turns",
        "SELECT session, start_ms, end_ms, totals FROM segments",
      ].map((sql) =>
        db
          .prepare(sql)
          .all()
          .map((row) => JSON.stringify({ ...row, _metadata: undefined }))
          .sort(),
      ),
    );
  } finally {
    replay.remove();
  }
}

test.each(cases)("$source, $name: read in threads it is what it is without", async (one) => {
  const reader = join(dirname(PROGRAM), "reader.cjs");
  const inThreads = (home: string): Readers => readersInThreads(reader, 2, { redaction: REDACTION, home }, here);
  expect(await imported(one, inThreads)).toEqual(await imported(one, () => here));
});

test("a session whose thread dies is read by who is left, and those behind it by a thread that follows", async () => {
  const [of] = cases;
  if (of === undefined) throw new Error("there is no recording");
  const asked: string[] = [];
  const last: Readers = {
    ...here,
    read: (tasks) => here.read(tasks).finally(() => asked.push(...tasks.map(({ sessionId }) => sessionId))),
  };
  // What cannot be loaded dies at once
  const dying = readersInThreads(
    join(dirname(PROGRAM), "no-such-reader.cjs"),
    1,
    { redaction: REDACTION, home: "/" },
    last,
  );
  expect(await imported(of, () => dying)).toEqual(await imported(of, () => here));
  expect(asked.length).toBeGreaterThan(0);
});
