import { spawnSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { recordedCases, recordedHome } from "../import/home.ts";
import { ensureBuilt, PROGRAM, ROOT } from "../support/program.ts";
import { removeFolder } from "../support/remove.ts";

/** The program with all commands, which runs these only if it is started directly. */
const WHOLE = join(ROOT, "dist", "cli.cjs");
const home = mkdtempSync(join(tmpdir(), "openhook-read-program-"));

beforeAll(ensureBuilt);
afterAll(() => removeFolder(home));

describe.each(["report", "sessions", "show", "explain"])(
  "%s is the same in dist/read.cjs and dist/cli.cjs",
  (command) => {
    test.each([
      ["its help", ["--help"]],
      ["an unknown option", ["--jsno"]],
      ["words that it does not know", ["nothing", "else"]],
      ["no store", []],
      ["no store, and no refresh", ["--no-refresh", "--json"]],
    ])("%s", (_, args) => {
      const whole = run(WHOLE, [command, ...args]);
      expect(whole.stdout + whole.stderr).not.toBe("");
      expect(run(PROGRAM, [command, ...args])).toEqual(whole);
    });
  },
);

/** One recording of each agent: dist/read.cjs has no whole cards, and each agent's reader must be found all the same. */
const recordings = [...new Map((await recordedCases()).map((one) => [one.source, one])).values()];

describe.each(recordings)("$source $name", (recording) => {
  test("its sessions and their titles are the same in dist/read.cjs and dist/cli.cjs", async () => {
    const { replay, expected } = await recordedHome(recording);
    onTestFinished(() => replay.remove());
    const whole = run(WHOLE, ["sessions", "--json"], replay.home);
    expect(JSON.parse(whole.stdout)).toHaveLength(expected.length);
    removeFolder(join(replay.home, "state"));
    expect(run(PROGRAM, ["sessions", "--json"], replay.home)).toEqual(whole);
  });
});

function run(program: string, args: readonly string[], at = home) {
  const env = { PATH: process.env["PATH"], HOME: at, OPENHOOK_OTEL_HOME: join(at, "state"), TZ: "UTC" };
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
    cwd: at,
    env,
    encoding: "utf8",
  });
  return { status, stdout, stderr };
}
