// Slow: only `npm run test:all` runs it. The reply of every registered hook; intake/hook.test.ts has those of the cards.
import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { allAgents } from "#agents/registry.ts";
import { replyOf } from "#agents/replies.ts";
import { runHook } from "#collect/intake/hook.ts";
import { placesOf } from "#config/places.ts";
import type { HookCommand } from "#core/model/agent.ts";
import { hookCommandOf } from "#setup/registration/hook-program.ts";
import { contextAt } from "../support/context.ts";

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "..", "..");
const HOOK_SH = join(ROOT, "src", "collect", "intake", "hook.sh");
const ALLOW = '{"decision":"allow"}\n';
const EMPTY = "{}\n";

/** Every hook event name that these agents are known to use. */
const EVENTS = `
  SessionStart SessionEnd UserPromptSubmit PreToolUse PostToolUse PostToolUseFailure PostToolBatch Stop StopFailure
  SubagentStart SubagentStop PreCompact PostCompact Notification PermissionRequest QueryEnd PreModelRequest PostModelRequest
  Interrupt PreToolUseResult BeforeReadFile AfterFileEdit TurnStart TurnEnd PreInvocation PostInvocation
  BeforeTool AfterTool BeforeAgent AfterAgent BeforeModel AfterModel PreCompress
  TaskStart TaskResume TaskComplete TaskCancel AgentSpawn
  sessionStart sessionEnd beforeSubmitPrompt preToolUse postToolUse postToolUseFailure stop preCompact subagentStart
  subagentStop beforeShellExecution afterShellExecution beforeMCPExecution afterMCPExecution beforeReadFile afterFileEdit
  userPromptSubmitted agentStop errorOccurred agentSpawn userPromptSubmit promptSubmit
  pre_user_prompt pre_run_command post_run_command post_cascade_response agent-turn-complete
  tool.execute.before tool.execute.after session.start session.end prompt.submit tool.start tool.end pre post`
  .trim()
  .split(/\s+/);

/** Exact hook output by agent; none for all others: `{}` means a refusal in Goose, and Kiro passes it to the model. */
const ANSWERS: Readonly<Record<string, (event: string | undefined) => string>> = {
  cursor: () => EMPTY,
  "hook-contract": (event) =>
    /^(session(start|end)|stop|precompact|userpromptsubmit|subagent(start|stop))$/i.test(event ?? "") ? EMPTY : ALLOW,
};
const answerTo = (source: string, event: string | undefined): string => ANSWERS[source]?.(event) ?? "";
const bytesOf = (reply: string | undefined): string => (reply === undefined ? "" : `${reply}\n`);

const agents = await allAgents();
let home = "";
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), "openhook-replies-"));
});
afterAll(() => rmSync(home, { recursive: true, force: true, maxRetries: 10 }));

const run = (
  command: readonly [string, ...string[]],
  input: string,
): { status: number | null; stdout: string; stderr: string } => {
  const [program, ...args] = command;
  const { status, stdout, stderr } = spawnSync(program, args, {
    input,
    cwd: home,
    encoding: "utf8",
    env: { PATH: process.env["PATH"], HOME: home, OPENHOOK_OTEL_DRAIN: "off" },
  });
  return { status, stdout, stderr };
};

describe.each(agents.map(({ source }) => [source]))("%s", (source) => {
  test("has the reply of the table for every event", () => {
    for (const event of [undefined, "", "no such event", "__proto__", ...EVENTS]) {
      expect(bytesOf(replyOf(source, event)), event).toBe(answerTo(source, event));
    }
  });

  test("the hook program prints that reply for any input", () => {
    for (const event of ["SessionStart", "preToolUse", "stop"]) {
      const reply = replyOf(source, event);
      const command = ["/bin/sh", HOOK_SH, source, event, ...(reply === undefined ? [] : [reply])] as const;
      for (const input of ['{"hook_event_name":"x"}', "{not json", ""]) {
        expect(run(command, input), event).toEqual({ status: 0, stdout: answerTo(source, event), stderr: "" });
      }
    }
  });

  test("the hook program's Node twin prints that reply", async () => {
    const places = placesOf({ env: {}, home, platform: "linux" });
    for (const event of ["SessionStart", "preToolUse", "stop", undefined]) {
      let printed = "";
      await runHook(
        ["--source", source, ...(event === undefined ? [] : ["--event", event]), "--drain", "no"],
        {
          env: {},
          variables: [],
          stdin: Readable.from(["{}"]),
          cwd: home,
          pid: 1,
          ppid: 1,
          platform: "linux",
          write: (text) => {
            printed += text;
          },
          replyOf,
        },
        { stateDir: places.stateDir, inboxDir: places.inboxDir, nodePath: process.execPath, programPath: "/nowhere" },
      );
      expect(printed, event).toBe(answerTo(source, event));
    }
  });
});

const installable = agents.filter((agent) => agent.installer !== undefined);
describe.each(installable.map((agent) => [agent.source, agent] as const))(
  "the hooks registered for %s",
  (source, agent) => {
    test("print only that reply and exit with 0, with the program installed or removed", async () => {
      const place = join(home, source);
      const target = { home: place, project: join(place, "project"), env: { HOME: place, PATH: "/nowhere" } };
      // Agents whose hooks live in user-made files get one such file
      const custom = join(place, ".kiro", "agents", "acme.json");
      mkdirSync(dirname(custom), { recursive: true });
      writeFileSync(custom, '{"name":"acme"}');
      const places = placesOf({ env: {}, home: place, platform: "linux" });
      const made = new Map<string, string | undefined>();
      const lineOf = hookCommandOf(contextAt(places).context, "user");
      const command: HookCommand = (options) => {
        const line = lineOf(options);
        made.set(line, options.event);
        return line;
      };
      const installer = (await agent.installer?.())?.default;
      if (installer === undefined) throw new Error("there is no installer");
      for (const scope of installer.scopes) {
        const files = (await installer.paths(scope, target)).map((path) => ({
          path,
          text: path === custom ? '{"name":"acme"}' : undefined,
        }));
        installer.add(files, { scope, target, command, version: undefined });
      }
      const lines = [...made];
      const input = '{"hook_event_name":"x","session_id":"s"}';
      const shell = (line: string) =>
        spawnSync("/bin/sh", ["-c", line], {
          input,
          encoding: "utf8",
          env: { PATH: process.env["PATH"], HOME: place, OPENHOOK_OTEL_DRAIN: "off" },
        });
      for (const [line] of lines) {
        const { status, stdout, stderr } = shell(line);
        expect([status, stdout, stderr], `${line} (gone)`).toEqual([0, "", ""]);
      }
      mkdirSync(dirname(places.hookPath), { recursive: true });
      copyFileSync(HOOK_SH, places.hookPath);
      chmodSync(places.hookPath, 0o755);
      for (const [line, event] of lines) {
        const { status, stdout, stderr } = shell(line);
        expect([status, stdout, stderr], line).toEqual([0, answerTo(source, event), ""]);
      }
    });
  },
);
