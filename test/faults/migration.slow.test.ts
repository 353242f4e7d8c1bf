// Slow: only `npm run test:all` runs it. A drain killed in a migration; store/migration.test.ts has one that fails.
//
// An update of the program with a made-up migration.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import Libsql from "libsql";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ensureBuilt, PROGRAM, ROOT } from "../support/program.ts";
import { SCHEMA_VERSION, VERSION_BEFORE } from "./made-up-migration.ts";
import { FaultBuild } from "./program.ts";
import { type State, World } from "./world.ts";

let world: World;
let after: FaultBuild;
beforeAll(async () => {
  await ensureBuilt();
  world = new World([{ source: "claude-code", name: "killed-then-resumed" }], { strangers: false });
  after = new FaultBuild(join(ROOT, "test", "faults", "made-up-migration.ts"));
});
afterAll(() => {
  after?.remove();
  world?.remove();
});

/** A drain of the program before the update. */
const drainBefore = ({ env }: State) => {
  const { status, stderr } = spawnSync(process.execPath, [PROGRAM, "drain", "--json"], {
    env,
    cwd: "/",
    encoding: "utf8",
  });
  return { code: status, stderr };
};

const versionAndSpans = ({ places }: State): { readonly version: number; readonly spans: readonly string[] } => {
  const raw = new Libsql(places.storePath, { readonly: true });
  const { user_version } = raw.prepare("PRAGMA user_version").get() as { readonly user_version: number };
  const spans = raw.prepare("SELECT key FROM spans ORDER BY key").all() as { readonly key: string }[];
  raw.close();
  return { version: user_version, spans: spans.map(({ key }) => key) };
};

test.each([
  ["before", VERSION_BEFORE],
  ["after", SCHEMA_VERSION],
] as const)("killed %s the commit of a migration, the next drain continues", async (when, version) => {
  const [undisturbed, state] = [world.state(), world.state([0, 0.5])];
  expect(drainBefore(undisturbed)).toMatchObject({ code: 0 });
  expect(drainBefore(state)).toMatchObject({ code: 0 });
  const { spans } = versionAndSpans(state);
  expect(spans.length).toBeGreaterThan(2);
  world.fill(state, [0.5, 1]);
  const killed = await after.drain(state, { fault: { step: "commit.schema", occurrence: 1, when, kind: "kill" } });
  expect(killed.signal).toBe("SIGKILL");
  expect(versionAndSpans(state)).toEqual({ version, spans });
  expect((await after.drain(state)).code).toBe(0);
  expect(versionAndSpans(state)).toEqual({ version: SCHEMA_VERSION, spans: versionAndSpans(undisturbed).spans });
  // The version before refuses it from then on
  expect(drainBefore(state)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/later version .*update openhook-otel/),
  });
  expect(versionAndSpans(state).version).toBe(SCHEMA_VERSION);
});
