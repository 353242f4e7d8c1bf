// `enable --managed`: hooks of all users of a Windows machine, from a copy that only administrators can change.
import { linkSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { VERSION } from "#kit/version.ts";
import {
  cmd,
  filesIn,
  foldersIn,
  inBash,
  newProfile,
  onDisk,
  otel,
  otelAt,
  packageOf,
  run,
  runAll,
  runUnelevated,
} from "./lab.ts";

const NEWER = "99.0.0";
const AT = "C:\\Program Files\\openhook-otel";
const PROGRAMS = onDisk("Program Files");
const OURS = join(PROGRAMS, "openhook-otel");
/** Where agents have an administrator's settings. */
const VENDORS = ["OpenAI", "GitHub", "Cursor", "Augment", "gemini-cli", "qwen-code"].map((name) =>
  onDisk("ProgramData", name),
);
const PLACES = [...["openhook-otel", "ClaudeCode", "Factory"].map((name) => join(PROGRAMS, name)), ...VENDORS];
const EXISTING: Readonly<Record<string, string>> = {
  [join(PROGRAMS, "ClaudeCode", "managed-settings.json")]: '{ "allowManagedHooksOnly": true }\r\n',
  [join(OURS, "config.json")]: '{ "capture": "none", "locked": ["capture"] }',
  [onDisk("ProgramData", "OpenAI", "Codex", "requirements.toml")]: "allow_managed_hooks_only = true\r\n",
  [onDisk("ProgramData", "gemini-cli", "settings.json")]: '{\r\n  // ours\r\n  "ui": { "theme": "x" }\r\n}\r\n',
};
const all = () => [PLACES.map(filesIn), PLACES.map(foldersIn)];

// Users of other tests must not find an administrator's settings
afterEach(() => clean());

// Slow: it starts the program sixty times
test("hooks of two users are collected from a copy for all users, and disabling restores every file and folder", () => {
  const program = at(VERSION);
  const { before, env, users } = machine();
  const enable = otel(["enable", "--managed"], { env });

  // A dry run, --print and refused runs change nothing
  const [dryRun, print, blocked] = runAll([
    otel(["enable", "--managed", "--dry-run"], { env }),
    otel(["enable", "--managed", "--print"], { env }),
    otel(["enable", "claude-code"], { env: users[0].env }),
  ]);
  expect([dryRun?.code, dryRun?.stderr]).toEqual([0, ""]);
  expect(dryRun?.stdout).toMatch(/^ allow_managed_hooks_only = true\r?\n\+# begin openhook-otel/m);
  expect(dryRun?.stdout).toContain(`Dry run: nothing was written. The hook program would be ${AT}\\hook.cjs\n`);
  expect(print?.stdout).toMatch(/^==> C:\\ProgramData\\Cursor\\hooks\.json$/m);
  expect(print?.stdout).toContain(`users='all'\nnode='C:\\Program Files\\nodejs\\node.exe'\nprogram='${program}'\n`);
  expect(blocked?.stdout).toMatch(
    /switched off by "allowManagedHooksOnly" in C:\\Program Files\\ClaudeCode.*--managed/,
  );
  const ownNode = join(users[0].folder, "node.exe");
  linkSync(join(PROGRAMS, "nodejs", "node.exe"), ownNode);
  const refused = run({ ...enable, argv: [`${users[0].home}\\node.exe`, ...enable.argv.slice(1)] });
  expect([refused.code, refused.stdout]).toEqual([1, ""]);
  expect(refused.stderr).toContain(
    "is not in C:\\Program Files, where only administrators can write; start this command",
  );
  const denied = runUnelevated(enable, [PROGRAMS, OURS]);
  expect([denied.code, denied.stdout]).toEqual([1, ""]);
  expect(denied.stderr).toMatch(/run it in a terminal that you open with "Run as administrator", or add --print/);
  expect(all()).toEqual(before);

  const [enabled, again] = runAll([enable, enable]);
  expect([enabled?.code, enabled?.stderr]).toEqual([0, ""]);
  expect(enabled?.stdout.match(/: enabled for all users in C:/g)).toHaveLength(8);
  expect(enabled?.stdout).toContain(`All users' hooks now use the copy of this program in ${AT}\\${VERSION}\n`);
  expect(again?.stdout.match(/: already enabled for all users in C:/g)).toHaveLength(8);
  const lines = registeredLines();

  for (const { env: own, state, name } of users) {
    const payload = (event: string) =>
      JSON.stringify({ session_id: `of-${name}`, hook_event_name: event, cwd: "C:\\work", prompt: "s3cret" });
    // A repository's variable does not move the state
    const moved = { ...own, OPENHOOK_OTEL_HOME: "C:\\work\\elsewhere" };
    const [start, prompt, reply] = runAll([
      cmd(lines.claude, { env: moved, stdin: payload("SessionStart") }),
      cmd(lines.claude, { env: moved, stdin: payload("UserPromptSubmit") }),
      cmd(lines.cursor, { env: moved, stdin: "{}" }),
    ]);
    for (const hook of [start, prompt]) expect([hook?.code, hook?.stdout, hook?.stderr]).toEqual([0, "", ""]);
    expect([reply?.code, reply?.stdout, reply?.stderr]).toEqual([0, "{}\n", ""]);
    const [drained, sessions, set, status, doctor] = runAll([
      otelAt(program, ["drain", "--json"], { env: own }),
      otelAt(program, ["sessions", "--json"], { env: own }),
      otelAt(program, ["config", "set", "capture", "full"], { env: own }),
      otelAt(program, ["status"], { env: own }),
      otelAt(program, ["doctor", "--json"], { env: own }),
    ]);
    expect([drained?.stderr, JSON.parse(drained?.stdout ?? "")]).toMatchObject(["", { events: 2 }]);
    const [other] = users.filter((one) => one.name !== name);
    expect(sessions?.stdout).toContain(`of-${name}`);
    expect(sessions?.stdout).not.toContain(`of-${other?.name}`);
    expect(set?.stderr).toMatch(
      /capture is locked by this machine's administrator in C:\\Program Files\\openhook-otel/,
    );
    expect(status?.stdout).toContain(
      "Claude Code: enabled for all users in C:\\Program Files\\ClaudeCode\\managed-settings.d",
    );
    const found = texts(doctor?.stdout ?? "");
    expect(found).toContain("registered for all users in C:\\ProgramData\\OpenAI\\Codex\\requirements.toml");
    expect(found).toContain(`${AT}\\hook.cjs, for all users, records an event and starts drains with ${program}`);
    expect(found).not.toContain("switched off by");
    expect(readdirSync(state)).toContain("store.db");
  }
  expect(readdirSync(onDisk("work"))).not.toContain("elsewhere");
  // Git Bash runs the same line; without the program it ends with 0
  expect(inBash(lines.claude, "{}")).toEqual({ code: 0, stdout: "", stderr: "" });
  renameSync(join(OURS, "hook.cjs"), join(OURS, "hook.away"));
  const [gone, noNode, broken] = runAll([
    cmd(lines.claude, { env: users[0].env, stdin: "{}" }),
    cmd(lines.claude, { env: { ...users[0].env, PATH: "C:\\windows\\system32" }, stdin: "{}" }),
    otelAt(program, ["doctor", "--json"], { env: users[0].env }),
  ]);
  expect([gone?.code, gone?.stdout, gone?.stderr, noNode?.code]).toEqual([0, "", "", 0]);
  expect(texts(broken?.stdout ?? "")).toMatch(
    /for all users, but C:\\\S+ Files\\openhook-otel\\hook\.cjs is missing .*ask the admin/,
  );
  renameSync(join(OURS, "hook.away"), join(OURS, "hook.cjs"));

  // An update: the old copy stays for its drains, and goes with the first `enable --managed` after an hour
  const newer = otelAt(packageOf(NEWER), ["enable", "--managed"], { env });
  expect(run(newer).stdout).toContain(`All users' hooks now use the copy of this program in ${AT}\\${NEWER}\n`);
  expect(readdirSync(OURS)).toEqual(expect.arrayContaining([VERSION, NEWER]));
  for (const version of [VERSION, NEWER]) utimesSync(join(OURS, version), 1, 1);
  expect(run(newer).code).toBe(0);
  expect(readdirSync(OURS).sort()).toEqual([NEWER, "config.json", "folders.json", "hook.cjs", "hook.conf"]);

  const [uninstall, one, every] = runAll([
    otel(["uninstall", "--yes"], { env: users[1].env }),
    otel(["disable", "--managed", "cursor"], { env }),
    otel(["disable", "--managed"], { env }),
  ]);
  expect(uninstall?.stdout).toMatch(/^What serves all users stays \(.*\): as administrator, .* disable --managed$/m);
  expect(one?.stdout).toMatch(/^The hook program stays for Claude Code, /m);
  expect(every?.stdout.match(/no longer enabled for all users/g)).toHaveLength(7);
  expect(every?.stdout).toContain("The hook program for all users is removed. What users have collected stays.\n");
  expect([every?.code, every?.stderr]).toEqual([0, ""]);
  expect(all()).toEqual(before);
  expect(run(otel(["sessions", "--json"], { env: users[1].env })).stdout).toContain("of-bea");
}, 900_000);

// --- internal ---

const at = (version: string): string => `${AT}\\${version}\\dist\\openhook-otel.cjs`;

/** A machine with some settings of its administrator, whose profile has nothing else, and two users. */
function machine() {
  clean();
  for (const [path, text] of Object.entries(EXISTING)) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  const user = (name: string) => ({ ...newProfile(name), name });
  return { before: all(), env: newProfile("administrator").env, users: [user("Ada Ö"), user("bea")] as const };
}

function clean(): void {
  for (const folder of PLACES) rmSync(folder, { recursive: true, force: true });
}

function registeredLines(): { readonly claude: string; readonly cursor: string } {
  const json = (...path: readonly string[]) => JSON.parse(readFileSync(onDisk(...path), "utf8"));
  const claude = json("Program Files", "ClaudeCode", "managed-settings.d", "openhook-otel.json");
  return {
    claude: claude.hooks.SessionStart[0].hooks[0].command,
    cursor: json("ProgramData", "Cursor", "hooks.json").hooks.stop[0].command,
  };
}

/** The findings of `doctor --json`, one a line. */
const texts = (json: string): string => JSON.stringify(JSON.parse(json), null, 1).replaceAll("\\\\", "\\");
