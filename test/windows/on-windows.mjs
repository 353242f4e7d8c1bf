// For CI on a real Windows, after `npm run build`: runs the lines that `enable` writes in every shell in which agents run hooks, with
// PowerShell among them, then imports a recorded session and runs the demo. Prints what it did; exits with 1 at the first difference.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = resolve(fileURLToPath(import.meta.url), "..", "..", "..");
// A name that needs care in every shell
const home = join(mkdtempSync(join(tmpdir(), "openhook-")), "Jörg O'Neil");
const localData = join(home, "AppData", "Local");
const project = join(home, "acme");
for (const folder of [localData, join(home, "AppData", "Roaming"), project]) mkdirSync(folder, { recursive: true });
const env = {
  ...process.env,
  USERPROFILE: home,
  HOME: home,
  LOCALAPPDATA: localData,
  APPDATA: join(home, "AppData", "Roaming"),
  OPENHOOK_OTEL_DRAIN: "off",
};
const program = join(localData, "openhook-otel", "hook.cjs");
const inbox = join(localData, "openhook-otel", "inbox");

otel("enable", "claude-code", "cursor");
otel("enable", "claude-code", "cursor", "--scope", "project");
const LINES = [
  ["the user's line", lineIn(home, ".claude", "settings.json"), ""],
  ["a project's line", lineIn(project, ".claude", "settings.json"), ""],
  ["a project's line with a reply", lineIn(project, ".cursor", "hooks.json"), "{}"],
];
const { SystemRoot = "C:\\Windows", ProgramFiles = "C:\\Program Files" } = process.env;
const POWERSHELL = ["-NoProfile", "-NonInteractive", "-Command"];
const SHELLS = [
  ["cmd", `${SystemRoot}\\System32\\cmd.exe`, ["/d", "/s", "/c"]],
  ["Windows PowerShell", `${SystemRoot}\\System32\\WindowsPowerShell\\v1.0\\powershell.exe`, POWERSHELL],
  ["PowerShell 7", `${ProgramFiles}\\PowerShell\\7\\pwsh.exe`, POWERSHELL],
  ["Git Bash", `${ProgramFiles}\\Git\\bin\\bash.exe`, ["-c"]],
].filter(([, path, args]) => existsSync(path) && inShell(path, args, "echo openhook").stdout === "openhook");
// Wine has a powershell.exe that does nothing
assert.ok(process.env.GITHUB_ACTIONS !== "true" || SHELLS.length === 4, "a Windows of GitHub has all four shells");

for (const [title, shell, args] of SHELLS) {
  for (const [what, line, reply] of LINES) {
    const before = events();
    assert.deepEqual(inShell(shell, args, line), { status: 0, stdout: reply, stderr: "" }, `${what} in ${title}`);
    assert.equal(events(), before + 1, `${what} in ${title} writes an event`);
    renameSync(program, `${program}.gone`);
    assert.equal(inShell(shell, args, line).status, 0, `${what} in ${title} without the program`);
    renameSync(`${program}.gone`, program);
    console.log(`✓ ${title}: ${what}`);
  }
}
otel("drain");
const { inbox: left, store } = JSON.parse(otel("status", "--json"));
assert.deepEqual([left.waiting, left.quarantined, store.sessions], [0, 0, 2]);
otel("doctor");
copyFolder(join(root, "test", "agents", "claude-code", "subagent", "transcripts"), join(home, ".claude", "projects"));
otel("import", "claude-code");
const { rows } = JSON.parse(otel("report", "model", "--since", "2020-01-01", "--json"));
assert.ok(rows.length > 0, "a recorded session is imported");
console.log(otel("demo"));
console.log(`all of it in ${SHELLS.map(([title]) => title).join(", ")}`);

function otel(...args) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, "dist", "openhook-otel.cjs"), ...args], {
    env,
    cwd: project,
    encoding: "utf8",
  });
  assert.equal(status, 0, `${args.join(" ")}: ${stdout}${stderr}`);
  return stdout;
}

/** Not `cpSync`: Node 22 changes names with other letters than ASCII on Windows. */
function copyFolder(from, to) {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    if (entry.isDirectory()) copyFolder(join(from, entry.name), join(to, entry.name));
    else copyFileSync(join(from, entry.name), join(to, entry.name));
  }
}

function inShell(shell, args, line) {
  const isCmd = args.includes("/c");
  const payload = line.includes("--source cursor")
    ? { conversation_id: "c1", hook_event_name: "sessionStart", cursor_version: "3.12.17", workspace_roots: [project] }
    : { session_id: "s1", hook_event_name: "SessionStart", cwd: project };
  const { status, stdout, stderr } = spawnSync(shell, [...args, isCmd ? `"${line}"` : line], {
    env,
    cwd: project,
    input: JSON.stringify(payload),
    encoding: "utf8",
    windowsVerbatimArguments: isCmd,
  });
  return { status, stdout: stdout.trim(), stderr };
}

function lineIn(...path) {
  const text = readFileSync(join(...path), "utf8");
  const { hooks } = JSON.parse(text);
  return hooks.SessionStart?.[0].hooks[0].command ?? hooks.sessionStart[0].command;
}

function events() {
  return existsSync(inbox) ? readdirSync(inbox).length : 0;
}
