// What `enable` installs: the copy that hooks use, its update, the status line, and what `uninstall` leaves.
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { VERSION } from "#kit/version.ts";
import {
  cmd,
  filesIn,
  foldersIn,
  inBash,
  NODE,
  newProfile,
  onDisk,
  otel,
  otelAt,
  packageOf,
  run,
  runAll,
  runDuring,
} from "./lab.ts";

const NEWER = "99.0.0";
const STATUS_LINE = "? session | ? today | context ?\n";

test("after npm removed the package, hooks, drains and the status line use the copy, in cmd and bash", () => {
  const { env, folder, state } = newProfile("copy");
  expect(run(otel(["enable", "claude-code", "--statusline"], { env })).stderr).toBe("");
  const { hook, statusLine } = linesIn(folder);
  const drain = ["drain", "--quiet"];
  const copy = `${env.LOCALAPPDATA}\\openhook-otel\\${VERSION}\\dist\\openhook-otel.cjs`;
  expect(programOf(state)).toBe(copy);
  const payload = JSON.stringify({ session_id: "s1", hook_event_name: "SessionStart", cwd: "C:\\work" });
  const gone = withoutPackage(() => ({
    steps: runAll([
      cmd(hook, { env, stdin: payload }),
      cmd(statusLine, { env, stdin: "{}" }),
      otelAt(copy, drain, { env }),
      otelAt(copy, ["status", "--json"], { env }),
    ]),
    bash: [inBash(hook, payload), inBash(statusLine, "{}")],
  }));
  const [inCmd, line, drained, status] = gone.steps;
  expect([inCmd?.code, inCmd?.stdout, inCmd?.stderr]).toEqual([0, "", ""]);
  expect([line?.code, line?.stdout, line?.stderr]).toEqual([0, STATUS_LINE, ""]);
  expect([drained?.code, drained?.stderr]).toEqual([0, ""]);
  expect(JSON.parse(status?.stdout ?? "").store.sessions).toBe(1);
  expect(gone.bash).toEqual([
    { code: 0, stdout: "", stderr: "" },
    // The drain has run
    { code: 0, stdout: STATUS_LINE.replace("? today", "$0.00 today"), stderr: "" },
  ]);
  expect(readdirSync(join(state, "inbox"))).toHaveLength(1);
  // Without the copy, and without the programs themselves
  rmSync(join(state, VERSION), { recursive: true });
  const [noCopy] = runAll([cmd(statusLine, { env, stdin: "{}" })]);
  expect([noCopy?.code, noCopy?.stdout, noCopy?.stderr]).toEqual([0, "", ""]);
  for (const name of ["hook.cjs", "statusline.cjs"]) rmSync(join(state, name));
  const missing = runAll([hook, statusLine].map((one) => cmd(one, { env, stdin: "{}" })));
  const noNode = runAll(
    [hook, statusLine].map((one) => cmd(one, { env: { ...env, PATH: "C:\\windows" }, stdin: "{}" })),
  );
  expect([...missing, ...noNode].map(({ code, stdout }) => [code, stdout])).toEqual(Array(4).fill([0, ""]));
});

test("an update while hooks and drains run: every event is stored once, and hooks use the new copy", () => {
  const { env, state } = newProfile("updated");
  expect(run(otel(["enable", "claude-code"], { env })).code).toBe(0);
  const old = programOf(state);
  const before = filesIn(join(state, VERSION));
  const newer = packageOf(NEWER);
  const hook = (n: number) => {
    const payload = { session_id: `s${n % 3}`, hook_event_name: "UserPromptSubmit", prompt: `${n}`, cwd: "C:\\work" };
    const argv = [NODE, `${env.LOCALAPPDATA}\\openhook-otel\\hook.cjs`, "--source", "claude-code", "--drain", "no"];
    return { argv, env, stdin: JSON.stringify(payload) };
  };
  const drain = otelAt(old, ["drain"], { env });
  const results = runAll(
    [
      hook(0),
      drain,
      hook(1),
      otelAt(newer, ["enable", "claude-code"], { env }),
      hook(2),
      drain,
      hook(3),
      hook(4),
      hook(5),
    ],
    true,
  );
  // A drain may find the other one at work
  const ends = results.map(({ code, stderr }) => [code, stderr.replace(/^openhook-otel: another drain is .+\n/, "")]);
  expect(ends).toEqual(results.map(() => [0, ""]));
  expect(programOf(state)).toBe(`${env.LOCALAPPDATA}\\openhook-otel\\${NEWER}\\dist\\openhook-otel.cjs`);
  // Drains that started before the update still find all of their parts
  const after = Object.entries(filesIn(join(state, VERSION))).filter(([name]) => !name.includes(".compile-cache"));
  expect(Object.fromEntries(after)).toEqual(before);
  const [, status] = runAll([otelAt(programOf(state), ["drain"], { env }), otel(["status", "--json"], { env })]);
  const found = JSON.parse(status?.stdout ?? "");
  expect([found.store.sessions, found.inbox.waiting, found.inbox.quarantined]).toEqual([3, 0, 0]);
});

test("uninstall leaves nothing of ours in settings, projects and folders; --purge no data either", () => {
  const { env, folder, state } = newProfile("Änne's uninstall");
  const project = "C:\\work\\uninstalled";
  rmSync(onDisk("work", "uninstalled"), { recursive: true, force: true });
  const files: Readonly<Record<string, string>> = {
    [join(folder, ".claude", "settings.json")]: '{\r\n  // mine\r\n  "model": "opus"\r\n}\r\n',
    [join(folder, ".codex", "config.toml")]: 'model = "gpt"\r\n',
    [onDisk("work", "uninstalled", ".cursor", "hooks.json")]: '{"version":1,"hooks":{}}',
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  const all = () => [filesIn(folder), foldersIn(folder), filesIn(onDisk("work", "uninstalled"))];
  const before = all();
  const enabled = runAll([
    otel(["enable", "claude-code", "codex", "gemini-cli", "--statusline"], { env }),
    otel(["enable", "claude-code", "cursor", "--scope", "project"], { env, cwd: project }),
    otel(["config", "set", "capture", "metadata"], { env }),
    otel(["drain"], { env }),
  ]);
  expect(enabled.map(({ code, stderr }) => [code, stderr])).toEqual(enabled.map(() => [0, ""]));
  const removed = run(otel(["uninstall", "--yes"], { env }));
  expect([removed.code, removed.stderr]).toEqual([0, ""]);
  expect(removed.stdout).toContain("Collected data stays in ");
  expect(readdirSync(state)).not.toEqual(expect.arrayContaining([expect.stringMatching(/^hook|^statusline|^\d/)]));
  const purged = run(otel(["uninstall", "--purge", "--yes"], { env }));
  expect([purged.code, purged.stderr]).toEqual([0, ""]);
  expect(all()).toEqual(before);
});

test("uninstall --purge leaves a copy whose native part a process has loaded, and the next one removes it", () => {
  const { env, folder, state } = newProfile("loaded");
  const before = [filesIn(folder), foldersIn(folder)];
  expect(run(otel(["enable", "claude-code"], { env })).code).toBe(0);
  const copy = `${env.LOCALAPPDATA}\\openhook-otel\\${VERSION}`;
  const script = "require(process.argv[1]+'/node_modules/libsql');console.log('loaded');setInterval(()=>{},1e3)";
  const holder = { argv: [NODE, "-e", script, copy.replaceAll("\\", "/")], env };
  const [held] = runDuring(holder, /loaded/, [otel(["uninstall", "--purge", "--yes"], { env })]);
  expect([held?.code, held?.stderr]).toEqual([1, ""]);
  expect(held?.stdout).toContain(`A process still runs ${copy}: run the command again when it has ended.`);
  expect(readdirSync(state)).toEqual([VERSION]);
  const again = run(otel(["uninstall", "--purge", "--yes"], { env }));
  expect([again.code, again.stderr]).toEqual([0, ""]);
  expect([filesIn(folder), foldersIn(folder)]).toEqual(before);
});

// --- internal ---

function linesIn(folder: string): { readonly hook: string; readonly statusLine: string } {
  const { hooks, statusLine } = JSON.parse(readFileSync(join(folder, ".claude", "settings.json"), "utf8"));
  return { hook: hooks.SessionStart[0].hooks[0].command, statusLine: statusLine.command };
}

const programOf = (state: string): string =>
  /^program='(.*)'$/m.exec(readFileSync(join(state, "hook.conf"), "utf8"))?.[1]?.replaceAll("'\\''", "'") ?? "";

function withoutPackage<T>(work: () => T): T {
  renameSync(onDisk("work", "app"), onDisk("work", "app.gone"));
  try {
    return work();
  } finally {
    renameSync(onDisk("work", "app.gone"), onDisk("work", "app"));
  }
}
