import { expect, test } from "vitest";
import { isCiLog, safeOutput, safeText } from "#kit/safe-output.ts";

test("CRLF passes; a carriage return alone is escaped", () => {
  expect(safeText("a,b\r\nc,d\r\n")).toBe("a,b\r\nc,d\r\n");
  expect(safeText("name\roverwritten\r\r\n")).toBe("name\\u000doverwritten\\u000d\r\n");
  expect(safeText("\u001b[31mred\u001b[0m\u001b[2J\r\n")).toBe("\\u001b[31mred\\u001b[0m\\u001b[2J\r\n");
  expect(safeText("\u001b[31mred\u001b[0m\u001b[2J\r\n", true)).toBe("\u001b[31mred\u001b[0m\\u001b[2J\r\n");
});

test("characters that change the direction of text are escaped", () => {
  expect(safeText("safe\u202egnp.exe")).toBe("safe\\u202egnp.exe");
  expect(safeText("\u2066a\u2069")).toBe("\\u2066a\\u2069");
});

test("rewritten text stays on one line", () => {
  const written: string[] = [];
  const output = safeOutput({ write: (text) => written.push(text), isTTY: true });
  output.rewrite?.("50 %\r\nof\n it\rall");
  expect(written).toEqual(["\r\u001b[K50 % of  it\\u000dall"]);
});

const COMMANDS = [
  "##vso[task.setvariable variable=PATH]/tmp/evil",
  "##[error]no",
  "##TeamCity[buildStatus status='SUCCESS']",
  "::set-output name=a::b",
  "  ::add-path::/tmp/evil",
  "::error file=a.ts,line=1::text",
];

test.each(COMMANDS)("in a log of a CI system %j is no command, as text, CSV and JSON", (command) => {
  const isCommand = (line: string): boolean => /##(?:\w*)\[/i.test(line) || /^\s*::/.test(line);
  expect(isCommand(command)).toBe(true);
  const name = command.trim();
  const text = `title  cost\n${command}  $1\n`;
  const csv = `title,cost\r\n${name},1\r\n"a\n${name}",2\r\n`;
  const json = `${JSON.stringify({ title: command, rows: [name, `a\n${command}`] }, null, 2)}\n`;
  for (const whole of [text, csv, json]) {
    expect(safeText(whole, false, true).split(/\r?\n/).filter(isCommand)).toEqual([]);
    expect(safeText(whole)).toBe(whole);
  }
  expect(JSON.parse(safeText(json, false, true))).toEqual(JSON.parse(json));
});

test("in a log of a CI system other text is unchanged", () => {
  const text = "## Heading [1]\n# [a]\nstd::vector a::b\nC::D\n#[derive]\n";
  expect(safeText(text, false, true)).toBe(text);
});

test("a CI system is seen by its variables", () => {
  expect([{ CI: "true" }, { TF_BUILD: "True" }, { TEAMCITY_VERSION: "2026" }].map(isCiLog)).toEqual([true, true, true]);
  expect([{}, { CI: "" }, { CI: "false" }].map(isCiLog)).toEqual([false, false, false]);
});
