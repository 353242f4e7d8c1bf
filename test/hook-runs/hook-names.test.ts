import { expect, test } from "vitest";
import { hookOf } from "#agents/shared/names/hook-names.ts";
import fc from "../support/properties.ts";

test.each([
  ["/home/dev/own/guard.sh --flag sekret", "guard.sh"],
  ['"$CLAUDE_PROJECT_DIR"/.claude/block.sh', "block.sh"],
  ["node /home/dev/hooks/check.js --all", "node check.js"],
  ["/usr/bin/python3 '/home/dev/my hooks/log.py'", "python3 log.py"],
  ["TOKEN=abc npx prettier --write .", "npx prettier"],
  ["node -e 'console.log(1)'", "node"],
  ["bash -c 'echo secret words'", "bash"],
  ['sh "two words"', "sh"],
  ["jq -r .tool_input.command >> ~/log; exit 0", "jq"],
  ["&& prettier", "prettier"],
  ["C:\\hooks\\check.exe /q", "check.exe"],
  ["echo hello there", "echo"],
  ["[ -f x ] && y", undefined],
  ["", undefined],
])("%s: %s", (command, hook) => {
  expect(hookOf(command)).toEqual({ hook, isOurs: false });
});

test("ours, in every form in which it is registered", () => {
  const line = "[ ! -x ~/.local/share/openhook-otel/hook ]||exec ~/.local/share/openhook-otel/hook";
  for (const command of [`${line} -d claude-code`, `${line} droid`, "'/opt/x/hook.cjs' --source kiro --drain detached"])
    expect(hookOf(command)).toEqual({ hook: "openhook-otel", isOurs: true });
});

test("no command: not named", () => {
  for (const command of [undefined, 1, ["x"], null]) expect(hookOf(command)).toEqual({});
});

test("of any text only what can be the name of a file, and at most two words", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.string({ unit: "binary" })), (command) => {
      const { hook = "x" } = hookOf(command);
      expect(hook).toMatch(/^[\w@.+-]{1,60}( [\w@.+-]{1,60})?$/);
    }),
  );
});
