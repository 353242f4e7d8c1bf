import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { pagerOf } from "#commands/program/pager.ts";
import { placesOf } from "#config/places.ts";
import { contextAt } from "./support/context.ts";

let home: string;
let cwd: string;
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), "openhook-pager-"));
  cwd = join(home, "repository");
  mkdirSync(cwd);
  writeFileSync(join(cwd, ".env"), "PAGER=theirs\nLESSOPEN=theirs\n");
  writeFileSync(join(home, "less"), "#!/bin/sh\n", { mode: 0o755 });
});
afterAll(() => rmSync(home, { recursive: true }));

const chosen = async (env: Readonly<Record<string, string>>, folder = home, platform: NodeJS.Platform = "linux") => {
  const { context } = contextAt(placesOf({ env: {}, home, platform: "linux" }), { env, cwd: folder });
  const pager = await pagerOf({ ...context, platform });
  return pager && { run: [pager.command, ...pager.args].join(" "), LESSOPEN: pager.env["LESSOPEN"] };
};

test("the pager is PAGER, otherwise less in PATH; there is none for a dumb terminal, on Windows, or if it is switched off", async () => {
  const less = { run: `${join(home, "less")} -FRX`, LESSOPEN: undefined };
  expect(await chosen({ PATH: `/nowhere:${home}` })).toEqual(less);
  expect(await chosen({ PATH: home, PAGER: "own -x" })).toMatchObject({ run: "/bin/sh -c own -x" });
  expect(await chosen({ PATH: "/nowhere:." })).toBeUndefined();
  for (const env of [{ PAGER: "" }, { PAGER: " cat " }, { TERM: "dumb" }, { OPENHOOK_OTEL_DISPLAY_PAGER: "false" }])
    expect(await chosen({ PATH: home, ...env }), JSON.stringify(env)).toBeUndefined();
  expect(await chosen({ PATH: home, PAGER: "own" }, home, "win32")).toBeUndefined();
});

test("variables that a file of the repository names have no effect", async () => {
  const env = { PATH: home, PAGER: "own", LESSOPEN: "|own %s" };
  expect(await chosen(env)).toEqual({ run: "/bin/sh -c own", LESSOPEN: "|own %s" });
  const less = { run: `${join(home, "less")} -FRX`, LESSOPEN: undefined };
  expect(await chosen(env, cwd)).toEqual(less);
  // A repository that makes itself the home folder
  writeFileSync(join(cwd, ".env"), "HOME=.\nPAGER=theirs\nLESSOPEN=theirs\n");
  const { context } = contextAt(placesOf({ env: {}, home: cwd, platform: "linux" }), {
    env: { ...env, HOME: cwd },
    cwd,
  });
  expect((await pagerOf(context))?.command).toBe(join(home, "less"));
});
