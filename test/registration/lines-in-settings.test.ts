import { expect, test } from "vitest";
import { sharedWindowsCommand, windowsLine } from "#agents/shared/settings/windows-line.ts";
import { startsNodeByName } from "#setup/registration/lines-in-settings.ts";

const WORDS = ["--source", "claude-code", "--drain", "yes"];
const HOOK = "C:\\Users\\dev\\AppData\\Local\\openhook-otel\\hook.cjs";
const lineWith = (nodePath: string, hookPath = HOOK) => windowsLine({ hookPath, nodePath }, WORDS);
const OLD = lineWith("C:\\Program Files\\nodejs\\node.exe");
const inSettings = (command: string) => JSON.stringify({ hooks: { Stop: [{ hooks: [{ command }] }] } }, null, 2);

test.each([
  ["of an earlier version", inSettings(OLD)],
  ["behind Copilot's condition", inSettings(`if ($env:COPILOT_CLI) { exit 0 }; ${OLD}`)],
  ["in TOML", `command = ${JSON.stringify(OLD)}\n`],
  [
    "with a path that needs JavaScript",
    inSettings(lineWith("node", "C:\\Users\\Jörg O'Neil\\openhook-otel\\hook.cjs")),
  ],
])("a line %s starts node by its name", (_, text) => {
  expect(startsNodeByName(text)).toBe(true);
});

test.each([
  ["Node's short path", inSettings(lineWith("C:\\PROGRA~1\\nodejs\\node.exe"))],
  ["another program of node", inSettings("node C:/tools/audit.js --source x")],
  ["a project's line", inSettings(`set h \\'=;:;: \\' ;${sharedWindowsCommand({ in: "usual folder" }, WORDS)}`)],
  [
    "Linux' line",
    inSettings("[ ! -x ~/.local/share/openhook-otel/hook ]||exec ~/.local/share/openhook-otel/hook -d claude-code"),
  ],
  ["no JSON", "{ node hook.cjs"],
  ["nothing", ""],
])("%s does not", (_, text) => {
  expect(startsNodeByName(text)).toBe(false);
});
