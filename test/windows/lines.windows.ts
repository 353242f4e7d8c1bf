// Lines that start `node` by its name, because Node's path has a blank.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { cmd, newProfile, onDisk, otel, run, runAll } from "./lab.ts";

const MANAGED = onDisk("Program Files", "ClaudeCode");
/** In JSON; Wine has other short names than Windows. */
const WITH_PATH = /"C:\\{4}PROG[^\\ ]+\\{4}nodejs\\{4}node\.exe /g;

afterAll(() => rmSync(MANAGED, { recursive: true, force: true }));

test("a repository's node.cmd is started by such a line; doctor says so, and doctor --fix writes Node's path", () => {
  const { env, folder } = newProfile("byname");
  const repository = "C:\\work\\byname";
  const marker = onDisk("work", "byname.txt");
  rmSync(marker, { force: true });
  expect(run(otel(["enable", "claude-code", "--statusline"], { env })).code).toBe(0);
  const settings = join(folder, ".claude", "settings.json");
  const current = readFileSync(settings, "utf8");
  expect(current.match(WITH_PATH)?.length).toBeGreaterThan(5);
  const former = current.replaceAll(WITH_PATH, '"node ');
  writeFileSync(settings, former);
  mkdirSync(onDisk("work", "byname"), { recursive: true });
  writeFileSync(onDisk("work", "byname", "node.cmd"), "@echo started> C:\\work\\byname.txt\r\n");
  const lineIn = (text: string) => JSON.parse(text).hooks.SessionStart[0].hooks[0].command;
  const start = (text: string) => {
    rmSync(marker, { force: true });
    expect(run(cmd(lineIn(text), { env, cwd: repository, stdin: "{}" })).code).toBe(0);
  };
  start(former);
  expect(readFileSync(marker, "latin1")).toContain("started");

  const managed = join(MANAGED, "managed-settings.d", "openhook-otel.json");
  mkdirSync(dirname(managed), { recursive: true });
  const line = "node C:/PROGRA~1/openhook-otel/hook.cjs --source claude-code --drain no ;exit 0 #openhook-otel& exit 0";
  const hooks = { SessionStart: [{ hooks: [{ type: "command", command: line }] }] };
  writeFileSync(managed, JSON.stringify({ hooks }));
  const [doctor, fixed, after] = runAll([
    otel(["doctor", "--json"], { env }),
    otel(["doctor", "--fix", "--json"], { env }),
    otel(["doctor", "--json"], { env }),
  ]);
  const found = byName(doctor?.stdout);
  expect(found).toEqual([
    [expect.stringContaining("C:\\Users\\byname\\.claude\\settings.json start node by its name"), "broken", "--fix"],
    [expect.stringContaining("C:\\Program Files\\ClaudeCode\\managed-settings.d"), "broken", "--managed"],
  ]);
  expect(doctor?.code).toBe(1);
  expect(JSON.parse(fixed?.stdout ?? "").fixed).toContainEqual(expect.stringContaining("Claude Code: enabled in"));
  expect(readFileSync(settings, "utf8")).toBe(current);
  expect(byName(after?.stdout)).toEqual(found.slice(1));
  start(current);
  expect(() => readFileSync(marker)).toThrow();
});

// --- internal ---

/** Text, level and the command that the remedy names. */
function byName(stdout = "") {
  const { agents } = JSON.parse(stdout);
  const [claude] = agents.filter(({ source }: { source: string }) => source === "claude-code");
  const findings: { text: string; level: string; todo: string }[] = claude.findings;
  return findings
    .filter(({ text }) => text.includes("start node by its name"))
    .map(({ text, level, todo }) => [text, level, /--\w+/.exec(todo)?.[0]]);
}
