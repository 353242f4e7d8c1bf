import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { writeLongSession } from "../../demo/made-up/session.mjs";

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "..", "..");
const CASES = join(ROOT, "test", "agents");

/** Sessions for the screenshots and tests: several agents, subagents, failures, sessions with two segments. */
export const RECORDED = [
  ["claude-code", "nested-subagents"],
  ["claude-code", "parallel-tools"],
  ["claude-code", "permission-denied"],
  ["claude-code", "multi-turn"],
  ["claude-code", "mcp"],
  ["claude-code", "killed-then-resumed"],
  ["codex", "multi-turn"],
  ["codex", "nested-subagents"],
  ["gemini-cli", "parallel-tools"],
  ["cursor", "basic"],
];

/**
 * Recorded sessions on one machine: their transcripts are below its home, and their hooks run as the agents ran them, at
 * their times.
 *
 * @param {string} home
 * @param {string} dist the built program
 * @param {readonly (readonly [string, string])[]} cases
 */
export function collect(home, dist, cases = RECORDED) {
  for (const [source, name] of cases) {
    const folder = join(CASES, source, name);
    if (!existsSync(join(folder, "hooks.jsonl"))) throw new Error(`there is no recording ${folder}`);
    const hooks = readFileSync(join(folder, "hooks.jsonl"), "utf8");
    const from = /\/home\/dev\d*/.exec(hooks)?.[0] ?? "/home/dev";
    const dashed = (path) => path.replaceAll(/[/.]/g, "-");
    const moved = (text) => text.replaceAll(`${from}/`, `${home}/`).replaceAll(`${dashed(from)}-`, `${dashed(home)}-`);
    const below = source === "claude-code" ? join(home, ".claude", "projects") : home;
    const transcripts = join(folder, "transcripts");
    for (const path of existsSync(transcripts) ? filesBelow(transcripts) : []) {
      const target = join(below, moved(path));
      const bytes = readFileSync(join(transcripts, path));
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, bytes.includes(0) ? bytes : moved(bytes.toString()));
    }
    makeRepositories(home, moved(hooks));
    for (const line of moved(hooks)
      .split("\n")
      .filter((one) => one !== "")) {
      callHook(home, dist, source, JSON.parse(line));
    }
  }
}

/** The hook program with one recorded call. */
export function callHook(home, dist, source, { event, env, stdin, stdin_raw, received_at }) {
  const inbox = join(home, ".local", "state", "openhook-otel", "inbox");
  const before = new Set(existsSync(inbox) ? readdirSync(inbox) : []);
  const input = stdin_raw ?? JSON.stringify(stdin);
  run("/bin/sh", [join(dist, "hook.sh"), source, event], home, { input, env: { OPENHOOK_OTEL_DRAIN: "off", ...env } });
  const time = new Date(received_at);
  for (const name of readdirSync(inbox)) if (!before.has(name)) utimesSync(join(inbox, name), time, time);
}

/** A made-up session of any length. @returns its id */
export function collectLong(home, dist, options) {
  const { sessionId, hook, endMs } = writeLongSession(home, options);
  callHook(home, dist, "claude-code", {
    event: "SessionEnd",
    stdin_raw: hook,
    received_at: new Date(endMs).toISOString(),
  });
  return sessionId;
}

/** The built program. @returns its output */
export const runProgram = (home, dist, args) =>
  run(process.execPath, [join(dist, "openhook-otel.cjs"), ...args], home, {});

/** The built program's drain. */
export const drain = (home, dist, args = ["--end-idle"]) => runProgram(home, dist, ["drain", ...args]);

// --- internal ---

/** The agents' working directories, as repositories with a branch. */
function makeRepositories(home, hooks) {
  for (const [, folder = ""] of hooks.matchAll(/"cwd":\s*"([^"]+)"/g)) {
    if (!folder.startsWith(`${home}/`) || folder.includes("/", home.length + 1)) continue;
    mkdirSync(join(folder, ".git"), { recursive: true });
    writeFileSync(join(folder, ".git", "HEAD"), "ref: refs/heads/main\n");
    writeFileSync(
      join(folder, ".git", "config"),
      `[remote "origin"]\n\turl = https://git.example/acme/${folder.slice(home.length + 1)}.git\n`,
    );
  }
}

function run(program, args, home, { input = "", env = {} }) {
  const { status, stdout, stderr } = spawnSync(program, args, {
    input,
    cwd: home,
    env: { PATH: process.env.PATH, HOME: home, ...env },
    encoding: "utf8",
  });
  if (status !== 0 || stderr !== "") throw new Error(`${program} ${args.join(" ")} exited with ${status}: ${stderr}`);
  return stdout;
}

const filesBelow = (folder) =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? filesBelow(join(folder, entry.name)).map((path) => join(entry.name, path)) : [entry.name],
  );
