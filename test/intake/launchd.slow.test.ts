// Slow: only `npm run test:all` runs it. Hooks with the environment of macOS' services, in seven shells; intake/hook.test.ts
// has the hook.
//
// An app of macOS that the Dock started has launchd's environment: PATH of the system or none, no language, in services no HOME either. Its
// shells are bash 3.2 as sh, zsh and dash. These tests check on Linux what Linux can reproduce.
import { spawnSync } from "node:child_process";
import { readFileSync, realpathSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { placesOf } from "#config/places.ts";
import { hookCommandOf } from "#setup/registration/hook-program.ts";
import { contextAt } from "../support/context.ts";
import { hasShell } from "../support/shells.ts";
import { makeSandbox, readInbox, type Sandbox, until } from "./intakes.ts";

const PAYLOAD = '{"session_id":"s1","hook_event_name":"Stop"}';
/** The last two run only registered lines: the hook starts with `#!/bin/sh`. */
const SHELLS = ["dash", "bash --norc", "bash --norc --posix", "busybox sh", "zsh --emulate sh", "zsh -f", "ksh"];

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = makeSandbox();
});
afterEach(() => sandbox.remove());

describe.each(SHELLS)("%s", (title) => {
  const [name = "", ...flags] = title.split(" ");
  const isHere = hasShell(name, "launchd's environment in it");
  const shell = isHere ? pathOf(name) : "";
  const environments = (): readonly Record<string, string>[] => [
    {},
    { PATH: "/usr/bin:/bin:/usr/sbin:/sbin" },
    { PATH: "" },
    { HOME: sandbox.home },
    { HOME: sandbox.home, PATH: "/usr/bin:/bin:/usr/sbin:/sbin", __CF_USER_TEXT_ENCODING: "0x1F5:0x0:0x0" },
  ];

  test("the hook writes the event and starts the drain", async () => {
    if (!isHere || title === "zsh -f" || title === "ksh") return expect(name).not.toBe("bash");
    for (const [index, env] of environments().entries()) {
      const args = [...flags, sandbox.hookPath, "-d", "claude-code"];
      const { status, stdout, stderr } = spawnSync(shell, args, { env, cwd: "/", input: PAYLOAD, encoding: "utf8" });
      expect([env, status, stdout, stderr]).toEqual([env, 0, "", ""]);
      const events = readInbox(sandbox);
      expect(events).toHaveLength(index + 1);
      expect(events.map((one) => one.ok && one.payload.toString())).toEqual(events.map(() => PAYLOAD));
      await until(() => (drains() === index + 1 ? true : undefined));
    }
  });

  test("the registered line runs the hook, and without HOME it ends with 0", () => {
    if (!isHere) return expect(name).not.toBe("bash");
    const places = placesOf({ env: {}, home: sandbox.home, platform: "darwin" });
    const { context } = contextAt(places);
    for (const scope of ["user", "project"] as const) {
      const line = hookCommandOf({ ...context, platform: "darwin" }, scope)({ source: "claude-code", drain: "no" });
      for (const env of environments()) {
        const before = readInbox(sandbox).length;
        const { status, stdout, stderr } = spawnSync(shell, [...flags, "-c", line], {
          env,
          cwd: "/",
          input: PAYLOAD,
          encoding: "utf8",
        });
        expect([scope, env, status, stdout, stderr]).toEqual([scope, env, 0, "", ""]);
        // Without HOME some shells ask the user database, where this test's home is not
        expect(readInbox(sandbox).length - before).toBe(env["HOME"] === undefined ? 0 : 1);
      }
    }
  });
});

describe("bash 3.2, macOS' sh, which Linux' packages no longer have", () => {
  test.each(["src/collect/intake/hook.sh", "src/collect/intake/wrapper.sh", "src/show/statusline/statusline.sh"])(
    "can parse %s",
    (path) => {
      expect(newerThanBash32(readFileSync(path, "utf8"))).toEqual([]);
    },
  );

  test("the check finds syntax that bash 3.2 cannot parse", () => {
    const lines = [
      "x=$(case $y in a) echo;; esac)",
      `echo "$\{x^^}"`,
      "declare -A a",
      "read -t 0.5 x",
      "f &>>log",
      "printf -v x %(%s)T",
    ];
    for (const line of lines) expect(newerThanBash32(`#!/bin/sh\n${line}\n`)).toEqual([`2: ${line}`]);
  });
});

// --- internal ---

const pathOf = (name: string): string =>
  realpathSync(spawnSync("sh", ["-c", 'command -v "$1"', "sh", name], { encoding: "utf8" }).stdout.trim());

/** How many drains have started. */
function drains(): number {
  const { stdout } = spawnSync("ls", [sandbox.drainedDir], { encoding: "utf8" });
  return stdout.split("\n").filter((name) => name.endsWith(".json")).length;
}

/** Lines with syntax that came after bash 3.2: `case` with a lone `)` inside `$( )`, and what CHANGES of bash 4 and 5 name. */
function newerThanBash32(text: string): readonly string[] {
  const NEWER =
    /\$\([^()]*\bcase\b[^()]*[^(\s]+\)|\$\{\w+(?:\^|,|@[A-Za-z]\})|\b(?:declare|local|typeset) -[a-z]*[Ang]|\b(?:mapfile|readarray|coproc)\b|\bread\b.* -t *\d*\.\d|&>>|\|&|%\([^)]*\)T|;&|;;&|\{\w+\}[<>]|\$\{\w+: -|\$EPOCH|\bwait -n\b|\bglobstar\b/;
  return text
    .split("\n")
    .flatMap((line, at) => (!line.trimStart().startsWith("#") && NEWER.test(line) ? [`${at + 1}: ${line}`] : []));
}
