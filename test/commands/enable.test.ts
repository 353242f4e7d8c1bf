import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { PassThrough, Writable } from "node:stream";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import claudeInstaller from "#agents/claude-code/installer.ts";
import { isOurCommand } from "#agents/shared/settings/settings.ts";
import { disable } from "#commands/disable.ts";
import { enable } from "#commands/enable.ts";
import type { Context } from "#config/context.ts";
import { placesOf } from "#config/places.ts";
import type { Agent } from "#core/model/agent.ts";
import type { SettingsText } from "#core/model/installer.ts";
import { UserError } from "#kit/errors.ts";
import { hookCommandOf } from "#setup/registration/hook-program.ts";
import type { AgentLookup } from "#setup/registration/settings.ts";
import fc from "../support/properties.ts";
import { hasShell } from "../support/shells.ts";
import { firstOf, runs } from "../support/whole.ts";

const card = {
  docs: "https://code.claude.com/docs/en/hooks",
  emits: [],
  tokens: "transcript",
  capabilities: {
    basis: "documented",
    subagents: false,
    sessionIds: "native",
    callIds: "native",
    eventIds: "payload",
  },
  recognises: () => "no",
  toEvents: () => [],
} satisfies Partial<Agent>;
const claude: Agent = {
  ...card,
  source: "claude-code",
  title: "Claude Code",
  installer: async () => ({ default: claudeInstaller }),
};
const wrapper: Agent = { ...card, source: "cli-wrapper", title: "Wrapped tools" };

/** An agent with two files: hooks in one, trust in them in the other. Each file has lines; ours begin with `ours `. */
const rover: Agent = {
  ...card,
  source: "rover",
  title: "Rover",
  installer: async () => ({
    default: {
      scopes: ["user", "project"],
      paths: async (scope, { home, project }) => {
        const folder = join(scope === "user" ? home : project, ".rover");
        return [join(folder, "hooks.toml"), join(folder, "trust.json")];
      },
      add: (files, { command, version }) =>
        files.map(({ path, text = "" }, index) => {
          const line =
            index === 0 ? command({ source: "rover", event: "end", drain: "yes" }) : `openhook-otel/hook ${version}`;
          return { path, text: `${foreign(text)}ours ${line}\n` };
        }),
      remove: (files) =>
        files.map(({ path, text }) => ({ path, text: text === undefined ? undefined : foreign(text) || undefined })),
      registered: ([hooks]) => (hooks?.text?.includes("ours ") === true ? ["end"] : []),
      check: async ([hooks, trust]) =>
        hooks?.text?.includes("ours ") === true && trust?.text?.includes("nobody") === true
          ? [
              { level: "broken", text: "Rover trusts nobody: take that line out of trust.json" },
              { level: "remark", text: "Rover asks once at its next start: answer yes" },
            ]
          : [],
      detect: async ({ home }) =>
        existsSync(join(home, ".rover")) ? { present: true, version: "7.1.0" } : { present: false },
    },
  }),
};
const foreign = (text: string): string => text.replaceAll(/^ours .*\n/gm, "");

/** An agent whose trust for every project is in the user's own file. */
const lander: Agent = {
  ...card,
  source: "lander",
  title: "Lander",
  installer: async () => ({
    default: {
      scopes: ["user", "project"],
      paths: async (scope, { home, project }) => [
        join(home, ".lander", "trust"),
        join(scope === "user" ? home : project, ".lander", "hooks"),
      ],
      add: (files) =>
        files.map(({ path, text = "" }, index) => {
          const line = index === 0 ? trustOf(files) : "ours openhook-otel/hook";
          return { path, text: text.includes(line) ? text : `${text}${line}\n` };
        }),
      remove: (files) =>
        files.map(({ path, text }, index) => {
          const left = text?.replace(`${index === 0 ? trustOf(files) : "ours openhook-otel/hook"}\n`, "");
          return { path, text: left || undefined };
        }),
      registered: ([, hooks]) => (hooks?.text?.includes("ours ") === true ? ["end"] : []),
      detect: async () => ({ present: false }),
    },
  }),
};
const trustOf = ([, hooks]: readonly SettingsText[]): string => `openhook-otel/hook in ${hooks?.path}`;

const AGENTS: readonly Agent[] = [claude, rover, lander, wrapper];
const agents: AgentLookup = {
  list: async () => AGENTS,
  find: async (source) => AGENTS.find((agent) => agent.source === source),
};

let root = "";
let home = "";
let project = "";
let hookSource = "";
let printed = "";

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "openhook-enable-"));
  home = join(root, "home");
  project = join(home, "acme");
  mkdirSync(project, { recursive: true });
  hookSource = join(root, "hook.sh");
  // Where a shell reads it, the first word is its path, and it ends the shell, as hook.sh does
  writeFileSync(hookSource, '#!/bin/sh\ncase $1 in /*) shift ;; esac\necho "ran $*"\nexit\n');
  printed = "";
});
afterEach(() => rmSync(root, { recursive: true, force: true, maxRetries: 10 }));

const settledContext = (change: Partial<Context> = {}): Context => {
  // PATH is empty: a Claude Code on this machine must not affect a test
  const env = { HOME: home, PATH: join(root, "bin"), ...change.env };
  return {
    cwd: project,
    arch: "x64",
    platform: "linux",
    places: placesOf({ env, home, platform: "linux" }),
    stdin: Object.assign(new PassThrough(), { isTTY: false }),
    stdout: { write: (text) => (printed += text) },
    stderr: { write: () => {} },
    now: () => Date.UTC(2026, 10, 21),
    nodePath: "/usr/bin/node",
    programPath: "/opt/it's here/openhook-otel.cjs",
    ...change,
    env,
  };
};
const options = { scope: "user", yes: true, dryRun: false } as const;
const on = (change: object = {}, context = settledContext(), names = ["claude-code"]) =>
  enable(names, { ...options, hookSource, ...change }, context, agents);
const off = (change: object = {}, context = settledContext(), names = ["claude-code"]) =>
  disable(names, { ...options, ...change }, context, agents);

const userSettings = () => join(home, ".claude", "settings.json");
const projectSettings = () => join(project, ".claude", "settings.json");
const put = (path: string, content: string | Buffer, mode = 0o644) => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  chmodSync(path, mode);
};
const refusal = async (run: Promise<number>): Promise<UserError> => {
  const error = await run.then(
    (code) => new Error(`exit ${code}`),
    (reason: unknown) => reason,
  );
  if (!(error instanceof UserError)) throw error;
  expect(error.message).not.toContain("\n");
  return error;
};
/** Every path below the test's folder with type, mode and content. */
const snapshot = (dir = root): readonly string[] =>
  readdirSync(dir)
    .sort()
    .flatMap((name) => {
      const path = join(dir, name);
      const is = lstatSync(path);
      const facts = `${path} ${is.mode.toString(8)}`;
      if (is.isSymbolicLink()) return [`${facts} → ${readlinkSync(path)}`];
      if (is.isDirectory()) return [facts, ...snapshot(path)];
      return [`${facts} ${createHash("sha256").update(readFileSync(path)).digest("hex")}`];
    });

const SETTINGS = `{
  // the user's own file
  "model": "opus",
  "hooks": {
    "Stop": [{ "hooks": [{ "type": "command", "command": "say done" }] }],
  },
}
`;

describe("the command line that an agent runs", () => {
  it("is short for a user, and contains no home directory in both scopes", async () => {
    const command = hookCommandOf(settledContext(), "user");
    for (const drain of ["yes", "if-waiting", "no"] as const)
      for (const shell of [undefined, "sh"] as const) {
        const line = command({ source: "claude-code", drain, ...(shell && { shell }) });
        expect(line.length).toBeLessThan(shell === "sh" ? 220 : 110);
        expect(line).not.toContain(home);
      }
    await on();
    await on({ scope: "project" });
    const commandOf = (path: string) => JSON.parse(readFileSync(path, "utf8")).hooks.Stop[0].hooks[0].command;
    expect(commandOf(userSettings())).toBe(command({ source: "claude-code", drain: "yes", shell: "sh" }));
    expect(commandOf(projectSettings())).not.toContain(home);
  });

  it.each(firstOf(["sh", "fish", "zsh", "dash", "bash", "ksh", "tcsh"], 2))(
    "runs in the shell %s, and does nothing if the program is missing",
    async (shell) => {
      const moved = join(root, "it's moved");
      for (const env of [{ SHELL: `/bin/${shell}` }, { SHELL: `/bin/${shell}`, OPENHOOK_OTEL_HOME: moved }]) {
        const context = { ...settledContext({ env }), places: placesOf({ env, home, platform: "linux" }) };
        await on({}, context);
        const command = hookCommandOf(context, "user");
        const line = command({ source: "kiro", event: "agent", drain: "yes" });
        // For agents that run sh, and some of them this shell
        const read = command({ source: "kiro", event: "agent", drain: "yes", shell: "sh" });
        expect([line, read].map(isOurCommand)).toEqual([true, true]);
        // A path with quotes is not read
        expect(read === line).toBe(env.OPENHOOK_OTEL_HOME !== undefined);
        // fish, even if it is not installed here, cannot parse these
        expect(line).not.toMatch(/^\w+=|\$\{/);
        if (!hasShell(shell, "a hook's command in a user's own shell")) continue;
        const run = (text: string, program = shell) =>
          spawnSync(program, ["-c", text], { env: { HOME: home, PATH: "/usr/bin:/bin" }, encoding: "utf8" });
        const runs = () => [run(line), run(read), run(read, "sh")];
        for (const one of runs()) expect(one).toMatchObject({ stdout: "ran -d kiro agent\n", stderr: "", status: 0 });
        // Settings are shared with a machine that has an older version, whose program can only be started
        rmSync(`${context.places.hookPath}.sh`);
        for (const one of runs()) expect(one).toMatchObject({ stdout: "ran -d kiro agent\n", stderr: "", status: 0 });
        rmSync(context.places.hookPath);
        for (const one of runs()) expect(one).toMatchObject({ stdout: "", stderr: "", status: 0 });
      }
    },
  );

  it("is run by sh if the user's shell has no ||, as nushell", async () => {
    const context = settledContext({ env: { SHELL: "/usr/local/bin/nu" } });
    await on({}, context);
    const line = hookCommandOf(context, "user")({ source: "codex", drain: "yes" });
    // A command and its words, without any syntax of a shell outside the quotes
    const [, script = ""] = /^sh -c "([^"\\$`!]*! -x [^"\\$`!]*)"$/.exec(line) ?? [];
    expect(isOurCommand(line)).toBe(true);
    const run = () => spawnSync("sh", ["-c", script], { env: { HOME: home, PATH: "/usr/bin:/bin" }, encoding: "utf8" });
    expect(run()).toMatchObject({ stdout: "ran -d codex\n", stderr: "", status: 0 });
    rmSync(context.places.hookPath);
    expect(run()).toMatchObject({ stdout: "", stderr: "", status: 0 });
    const odd = settledContext({ env: { SHELL: "/usr/local/bin/nu", OPENHOOK_OTEL_HOME: join(root, "$HOME") } });
    const places = placesOf({ env: odd.env, home, platform: "linux" });
    expect((await refusal(on({}, { ...odd, places }))).message).toMatch(/nu cannot run .* set OPENHOOK_OTEL_HOME/);
  });

  it("runs from a moved home whose name needs quoting, and is still recognised as ours", async () => {
    const moved = join(root, 'it\'s "$HOME" moved');
    const context = settledContext({ env: { OPENHOOK_OTEL_HOME: moved } });
    const places = placesOf({ env: context.env, home, platform: "linux" });
    await on({}, { ...context, places });
    const text = readFileSync(userSettings(), "utf8");
    const line = JSON.parse(text).hooks.SessionStart[0].hooks[0].command;
    expect(execFileSync("sh", ["-c", line], { encoding: "utf8" })).toBe("ran -w claude-code\n");
    expect(claudeInstaller.registered([{ path: "settings.json", text }])).toContain("SessionStart");
    // back at the standard place: replaced, not duplicated
    await on();
    expect(readFileSync(userSettings(), "utf8")).not.toContain("moved");
    expect(JSON.parse(readFileSync(userSettings(), "utf8")).hooks.Stop).toHaveLength(1);
  });

  it("passes the event and the reply as plain words if the payload does not contain them", async () => {
    writeFileSync(hookSource, "#!/bin/sh\nfor word; do printf '<%s>' \"$word\"; done\n");
    await on();
    const command = hookCommandOf(settledContext(), "user");
    const run = (options: Partial<Parameters<typeof command>[0]>) => {
      const line = command({ source: "cursor", drain: "no", ...options });
      return { line, words: execFileSync("sh", ["-c", line], { env: { HOME: home }, encoding: "utf8" }) };
    };
    expect(run({ event: "beforeSubmitPrompt" }).words).toBe("<cursor><beforeSubmitPrompt>");
    const reply = run({ reply: "{}", drain: "yes" });
    expect(reply.words).toBe("<-d><cursor><><{}>");
    expect(reply.line).toMatch(/ -d cursor '' '\{\}'$/);
    expect(reply.line.length).toBeLessThan(110);
    expect(run({ event: "stop", reply: '{"decision":"allow"}' }).words).toBe('<cursor><stop><{"decision":"allow"}>');
    expect(run({ event: "it's $HOME", reply: "a b" }).words).toBe("<cursor><it's $HOME><a b>");
  });

  it("is one for all shells on Windows", () => {
    const context = settledContext({ platform: "win32", nodePath: "C:\\nvm4w\\nodejs\\node.exe" });
    const places = { ...context.places, hookPath: "C:\\Users\\dev\\AppData\\Local\\openhook-otel\\hook.cjs" };
    const env = { LOCALAPPDATA: "C:\\Users\\dev\\AppData\\Local" };
    const command = hookCommandOf({ ...context, places, env }, "user");
    const line = command({ source: "cursor", event: "stop", reply: "{}", drain: "yes" });
    expect(line).toBe(
      "C:\\\\nvm4w\\\\nodejs\\\\node.exe C:/Users/dev/AppData/Local/openhook-otel/hook.cjs" +
        " --source cursor --drain yes --event stop ;exit 0 #openhook-otel& exit 0",
    );
    expect(isOurCommand(line)).toBe(true);
  });
});

describe("enable", () => {
  it("installs the program, its configuration, and private directories", async () => {
    expect(await on()).toBe(0);
    const { places } = settledContext();
    expect(readFileSync(places.hookPath, "utf8")).toBe(readFileSync(hookSource, "utf8"));
    expect(statSync(places.hookPath).mode & 0o777).toBe(0o755);
    for (const dir of [places.stateDir, places.inboxDir, places.claimedDir, places.quarantineDir, places.backupDir]) {
      expect(statSync(dir).mode & 0o777, dir).toBe(0o700);
    }
    const read = `. "${places.hookConfPath}"; printf '%s\\n' "$state" "$node" "$program"`;
    expect(execFileSync("sh", ["-c", read], { encoding: "utf8" })).toBe(
      `${places.stateDir}\n/usr/bin/node\n/opt/it's here/openhook-otel.cjs\n`,
    );
    expect(printed).toMatch(/^Claude Code: enabled in .*settings.json \(7 events\)\nThe next session is collected\./);
  });

  it("warns if the agent's hooks are switched off", async () => {
    put(userSettings(), JSON.stringify({ disableAllHooks: true }));
    expect(await on()).toBe(0);
    expect(printed).toMatch(/\(7 events\)\n {2}✗ hooks are switched off: .*\nUntil then nothing is collected\./);
    expect(printed).not.toContain("The next session");
  });

  it("a second run reports it and changes nothing", async () => {
    put(userSettings(), SETTINGS);
    await on();
    const before = snapshot();
    printed = "";
    expect(await on({ yes: false })).toBe(0);
    expect(printed).toBe(`Claude Code: already enabled in ${userSettings()}\n`);
    expect(snapshot()).toEqual(before);
  });

  it("registers for the detected version; in a project for any version", async () => {
    put(join(root, "bin", "claude"), "#!/bin/sh\necho '2.1.329 (Claude Code)'\n", 0o755);
    await on();
    await on({ scope: "project" });
    expect(JSON.parse(readFileSync(userSettings(), "utf8")).hooks).toHaveProperty("StopFailure");
    expect(JSON.parse(readFileSync(projectSettings(), "utf8")).hooks).not.toHaveProperty("StopFailure");
    expect(printed).toContain("10 events of Claude Code 2.1.329");
  });

  it("without a name enables the agents on this machine", async () => {
    const error = await refusal(on({}, settledContext(), []));
    expect(error).toMatchObject({ exitCode: 2, message: expect.stringContaining("no agent was found") });
    mkdirSync(join(home, ".claude"));
    expect(await on({}, settledContext(), [])).toBe(0);
    expect(existsSync(userSettings())).toBe(true);
    printed = "";
    expect(await off({}, settledContext(), [])).toBe(0);
    expect(existsSync(userSettings())).toBe(false);
    // the folder existed before
    expect(existsSync(join(home, ".claude"))).toBe(true);
    printed = "";
    expect(await off({}, settledContext(), [])).toBe(0);
    expect(printed).toBe("No agent is enabled in its user settings.\n");
  });

  it("--dry-run shows a diff and writes nothing", async () => {
    put(userSettings(), SETTINGS);
    const before = snapshot();
    expect(await on({ dryRun: true, yes: false })).toBe(0);
    expect(snapshot()).toEqual(before);
    expect(printed).toContain(`--- ${userSettings()}\n+++ ${userSettings()}\n@@ `);
    expect(printed).toContain("+    ]");
    // the foreign group is on one line, and ours is added after it on that line
    expect(printed.match(/^-[^-].*/gm)).toEqual([expect.stringContaining('"say done" }] }],')]);
    expect(printed).toContain('+    "Stop": [{ "hooks": [{ "type": "command", "command": "say done" }] }, {"hooks"');

    await on();
    const enabled = snapshot();
    printed = "";
    expect(await off({ dryRun: true, yes: false })).toBe(0);
    expect(snapshot()).toEqual(enabled);
    expect(printed).toMatch(/^-.*openhook-otel\/hook/m);
  });

  it("enables a named agent without a prompt, for scripts", async () => {
    expect(await on({ yes: false })).toBe(0);
    expect(existsSync(userSettings())).toBe(true);
  });

  it("an unknown name is answered with the agent that was probably meant", async () => {
    for (const [name, meant] of [
      ["claude", "claude-code"],
      ["rovre", "rover"],
    ] as const) {
      const error = await refusal(on({}, settledContext(), [name]));
      expect(error.message).toMatch(new RegExp(`^unknown agent "${name}" \\(did you mean ${meant}\\?\\); known are: `));
    }
    expect((await refusal(on({}, settledContext(), ["zeppelin"]))).message).toMatch(/^unknown agent "zeppelin"; known/);
  });

  it("an agent without an installer is explained, with the command to paste", async () => {
    const { message } = await refusal(on({}, settledContext(), ["cli-wrapper"]));
    expect(message).toMatch(
      / \(https:\S+\), paste this command for each event, .*: \S+ hook --source cli-wrapper --event <event>$/,
    );
  });

  it("without a name and without a terminal it refuses, and names the agents found", async () => {
    mkdirSync(join(home, ".claude"));
    mkdirSync(join(home, ".rover"));
    expect(await refusal(on({ yes: false }, settledContext(), []))).toMatchObject({
      exitCode: 2,
      message: expect.stringMatching(/^found claude-code, rover: .*pass --yes/),
    });
    expect(existsSync(userSettings())).toBe(false);
  });

  describe("on a terminal, without a name, the user chooses", () => {
    const answer = async (...keys: readonly string[]) => {
      const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => {} });
      let shown = "";
      const stdout = Object.assign(
        new Writable({
          write(chunk, _encoding, done) {
            shown += String(chunk);
            done();
          },
        }),
        { isTTY: true, columns: 120 },
      );
      const running = on({ yes: false }, settledContext({ stdin, stdout }), []);
      while (!shown.includes("Register the hook")) await new Promise((wake) => setTimeout(wake, 10));
      for (const key of keys) {
        stdin.write(key);
        await new Promise((wake) => setTimeout(wake, 30));
      }
      return { code: await running, shown };
    };
    const rovers = () => join(home, ".rover", "hooks.toml");
    beforeEach(() => {
      mkdirSync(join(home, ".claude"));
      mkdirSync(join(home, ".rover"));
    });

    it("all of them by Enter", async () => {
      const { code, shown } = await answer("\r");
      expect(code).toBe(0);
      expect(shown).toContain("Rover 7.1.0");
      expect([existsSync(userSettings()), existsSync(rovers())]).toEqual([true, true]);
    });

    it("some of them", async () => {
      expect((await answer(" ", "\r")).code).toBe(0);
      expect([existsSync(userSettings()), existsSync(rovers())]).toEqual([false, true]);
    });

    it.each([
      ["none of them", [" ", "j", " ", "\r"]],
      ["cancelled", ["\u0003"]],
    ])("%s", async (_name, keys) => {
      const { code, shown } = await answer(...keys);
      expect(code).toBe(1);
      expect(shown).toContain("Nothing was changed.");
      expect([existsSync(userSettings()), existsSync(rovers())]).toEqual([false, false]);
      expect(existsSync(settledContext().places.hookPath)).toBe(false);
    });
  });

  it("one agent that cannot be enabled does not stop the others", async () => {
    put(userSettings(), "{ broken");
    mkdirSync(join(home, ".rover"));
    let complaints = "";
    const context = settledContext({ stderr: { write: (text) => (complaints += text) } });
    expect(await on({}, context, [])).toBe(1);
    expect(complaints).toMatch(/^openhook-otel: \S+settings\.json, line 1, .*nothing was changed\n$/);
    expect(printed).toMatch(/^Rover: enabled in /);
    // a named agent that cannot be enabled is still an error
    expect((await refusal(on({}, settledContext(), ["claude-code"]))).exitCode).toBe(2);
  });
});

describe("an agent with several files", () => {
  const folder = () => join(home, ".rover");
  const hooks = () => join(folder(), "hooks.toml");
  const trust = () => join(folder(), "trust.json");
  const rovers = ["rover"];

  it("edits all files, each with its own mode, and restores them byte for byte", async () => {
    put(hooks(), "mine = 1\r\n", 0o640);
    put(trust(), "ask\n", 0o600);
    expect(await on({}, settledContext(), rovers)).toBe(0);
    expect(printed).toContain(`Rover: enabled in ${hooks()} and ${trust()} (1 event of Rover 7.1.0)\n`);
    expect(readFileSync(hooks(), "utf8")).toMatch(/^mine = 1\r\nours \[ ! -x ~.* -d rover end\n$/);
    expect(readFileSync(trust(), "utf8")).toBe("ask\nours openhook-otel/hook 7.1.0\n");
    const before = snapshot();
    printed = "";
    expect(await on({}, settledContext(), rovers)).toBe(0);
    expect(printed).toBe(`Rover: already enabled in ${hooks()} and ${trust()}\n`);
    expect(snapshot()).toEqual(before);
    printed = "";
    expect(await off({}, settledContext(), rovers)).toBe(0);
    expect(printed).toContain(`Rover: disabled, restored ${hooks()} and ${trust()}\n`);
    expect([readFileSync(hooks(), "utf8"), readFileSync(trust(), "utf8")]).toEqual(["mine = 1\r\n", "ask\n"]);
    expect(statSync(hooks()).mode & 0o777).toBe(0o640);
    expect(existsSync(settledContext().places.backupDir)).toBe(false);
  });

  it("--dry-run shows every file's diff", async () => {
    put(trust(), "ask\n");
    expect(await on({ dryRun: true }, settledContext(), rovers)).toBe(0);
    expect(printed).toContain(`--- /dev/null\n+++ ${hooks()}\n`);
    expect(printed).toContain(`--- ${trust()}\n+++ ${trust()}\n`);
    expect(existsSync(hooks())).toBe(false);
    await on({}, settledContext(), rovers);
    printed = "";
    await off({ dryRun: true }, settledContext(), rovers);
    expect(printed).toContain(`--- ${hooks()}\n+++ /dev/null\n`);
    expect(printed).toContain("-ours openhook-otel/hook 7.1.0\n");
  });

  it("a project's files are shared: without a version, readable by all", async () => {
    await on({ scope: "project" }, settledContext(), rovers);
    expect(readFileSync(join(project, ".rover", "trust.json"), "utf8")).toContain("undefined");
    expect(statSync(join(project, ".rover", "trust.json")).mode & 0o777).toBe(0o644);
    await off({ scope: "project" }, settledContext(), rovers);
    expect(existsSync(join(project, ".rover"))).toBe(false);
  });

  it("if the second file cannot be written, the first is undone: file, record, folder", async () => {
    put(trust(), "ask\n", 0o444);
    const settings = () => snapshot().filter((line) => line.includes(".rover"));
    const before = settings();
    expect((await refusal(on({}, settledContext(), rovers))).message).toMatch(/trust\.json.* it is read-only/);
    expect(settings()).toEqual(before);
    expect(existsSync(settledContext().places.backupDir)).toBe(false);
    // a failed upgrade keeps the previous registration, and what disable restores
    rmSync(trust());
    put(hooks(), "mine\n", 0o600);
    await on({}, settledContext(), rovers);
    const enabled = settings();
    const records = () => snapshot(settledContext().places.backupDir);
    const kept = records();
    chmodSync(trust(), 0o444);
    const moved = settledContext({ env: { OPENHOOK_OTEL_HOME: join(root, "elsewhere") } });
    const places = {
      ...moved.places,
      hookPath: join(root, "openhook-otel", "hook"),
      hookConfPath: join(root, "openhook-otel", "hook.conf"),
    };
    put(trust(), "ours openhook-otel/hook 6\n", 0o444);
    const changed = settings();
    await refusal(on({}, { ...moved, places }, rovers));
    expect(settings()).toEqual(changed);
    expect(enabled).not.toEqual(changed);
    expect(records()).toEqual(kept);
  });

  it("if disabling one fails, the other stays registered", async () => {
    put(hooks(), "mine\n");
    put(trust(), "ask\n");
    await on({}, settledContext(), rovers);
    const before = snapshot().filter((line) => line.includes(".rover") || line.includes("backup"));
    // the last is removed first, then the first cannot be written
    chmodSync(hooks(), 0o444);
    expect((await refusal(off({}, settledContext(), rovers))).message).toMatch(/hooks\.toml.* it is read-only/);
    chmodSync(hooks(), 0o644);
    expect(snapshot().filter((line) => line.includes(".rover") || line.includes("backup"))).toEqual(before);
    expect(await off({}, settledContext(), rovers)).toBe(0);
  });

  it("keeps later changes by others, file by file", async () => {
    put(hooks(), "mine\n");
    put(trust(), "ask\n");
    await on({}, settledContext(), rovers);
    put(trust(), `${readFileSync(trust(), "utf8")}nobody\n`);
    await off({}, settledContext(), rovers);
    expect([readFileSync(hooks(), "utf8"), readFileSync(trust(), "utf8")]).toEqual(["mine\n", "ask\nnobody\n"]);
  });

  it("files that contained only our entries are left as empty documents", async () => {
    put(hooks(), "ours x/openhook-otel/hook\n");
    put(trust(), "ours openhook-otel/hook 1\n");
    expect(await off({}, settledContext(), rovers)).toBe(0);
    expect([readFileSync(hooks(), "utf8"), readFileSync(trust(), "utf8")]).toEqual(["", "{}\n"]);
  });

  it("two scopes sharing a file: the other's entries stay, and the last disable restores the original bytes", async () => {
    const shared = join(home, ".lander", "trust");
    const run = (does: typeof off, scope: string, cwd = project) =>
      does({ scope }, settledContext({ cwd }), ["lander"]);
    const other = join(home, "other");
    mkdirSync(other);
    put(shared, "mine\n", 0o600);
    for (const order of [
      ["user", "project"],
      ["project", "user"],
    ]) {
      await run(on, "user");
      await run(on, "project");
      expect(readFileSync(shared, "utf8").split("\n")).toHaveLength(4);
      // a project without a registration has nothing to restore
      printed = "";
      await run(off, "project", other);
      expect(printed).toMatch(/^Lander: not enabled in /);
      expect(readFileSync(shared, "utf8").split("\n")).toHaveLength(4);
      for (const [index, scope] of order.entries()) {
        expect(existsSync(settledContext().places.hookPath)).toBe(true);
        expect(await run(off, scope)).toBe(0);
        expect(readFileSync(shared, "utf8").split("\n")).toHaveLength(3 - index);
      }
      expect(readFileSync(shared, "utf8")).toBe("mine\n");
      expect(existsSync(settledContext().places.hookPath)).toBe(false);
      expect(existsSync(settledContext().places.backupDir)).toBe(false);
    }
  });

  it("reports what still prevents the registration from running", async () => {
    put(trust(), "nobody\n");
    await on({}, settledContext(), rovers);
    expect(printed).toContain(
      "  ✗ Rover trusts nobody: take that line out of trust.json\n  ! Rover asks once at its next start: answer yes\n",
    );
    printed = "";
    await on({}, settledContext(), rovers);
    expect(printed).toContain("already enabled");
    expect(printed).toContain("✗ Rover trusts nobody");
  });
});

describe("errors are one line, and no edit is left half done", () => {
  it("unknown names", async () => {
    expect(await refusal(on({}, settledContext(), ["claude"]))).toMatchObject({
      exitCode: 2,
      message: 'unknown agent "claude" (did you mean claude-code?); known are: claude-code, rover, lander',
    });
    expect((await refusal(on({}, settledContext(), ["cli-wrapper"]))).exitCode).toBe(2);
    expect((await refusal(off({}, settledContext(), ["claude"]))).exitCode).toBe(2);
  });

  it.each<[string, () => void, number, RegExp]>([
    [
      "invalid JSON",
      () => put(userSettings(), '{\n  "a": \n}'),
      2,
      /settings\.json, line 3, column 1: not valid JSON: .*nothing was changed$/,
    ],
    [
      "hooks of a wrong type",
      () => put(userSettings(), '{ "hooks": [] }'),
      2,
      /line 1, column 12: "hooks" is an array/,
    ],
    ["UTF-16", () => put(userSettings(), Buffer.from("\ufeff{}", "utf16le")), 2, /is UTF-16, .*save it as UTF-8/],
    ["no UTF-8", () => put(userSettings(), Buffer.from([0x7b, 0xff, 0xfe, 0x7d])), 2, /not UTF-8 text/],
    ["a directory", () => mkdirSync(userSettings(), { recursive: true }), 1, /it is a directory/],
    ["a parent that is a file", () => put(join(home, ".claude"), ""), 1, /a part of its path is a file/],
    ["a read-only file", () => put(userSettings(), SETTINGS, 0o444), 1, /it is read-only/],
    [
      "a circle of links",
      () => {
        mkdirSync(join(home, ".claude"));
        symlinkSync("settings.json", userSettings());
      },
      1,
      /settings\.json/,
    ],
    [
      "a state directory that cannot be made",
      () => put(join(home, ".local", "state"), ""),
      1,
      /cannot create the directory ".+": .*; remove the file in its place, or set OPENHOOK_OTEL_HOME to another folder/,
    ],
    ["a missing hook program", () => rmSync(hookSource), 1, /is missing: build or install openhook-otel again/],
  ])("%s", async (_name, prepare, exitCode, message) => {
    prepare();
    const settings = () => snapshot().filter((line) => line.includes(".claude"));
    const before = settings();
    expect(await refusal(on())).toMatchObject({ exitCode, message: expect.stringMatching(message) });
    expect(settings()).toEqual(before);
    const { backupDir } = settledContext().places;
    expect(existsSync(backupDir) ? readdirSync(backupDir) : []).toEqual([]);
  });

  it("a settings file that became invalid after enabling is left for the user to fix", async () => {
    put(userSettings(), SETTINGS);
    await on();
    const broken = readFileSync(userSettings(), "utf8").slice(0, -4);
    put(userSettings(), broken);
    expect(await refusal(off())).toMatchObject({ exitCode: 2, message: expect.stringContaining("not valid JSON") });
    expect(readFileSync(userSettings(), "utf8")).toBe(broken);
    expect(existsSync(settledContext().places.hookPath)).toBe(true);
  });
});

describe("disable", () => {
  it("restores any file byte for byte, with its mode", async () => {
    const odd = fc.constantFrom(
      SETTINGS,
      SETTINGS.replaceAll("\n", "\r\n"),
      SETTINGS.replaceAll("  ", "\t"),
      SETTINGS.trimEnd(),
      `\uFEFF${SETTINGS}`,
      '{"model":"opus"}',
      '{ "hooks": { }, }',
      "{\n}\n",
      "{}",
      "",
      " \n",
      '{ "hooks": { "Stop": [ /* later */ ] } } // end',
    );
    const mode = fc.constantFrom(0o600, 0o644, 0o660);
    await fc.assert(
      fc.asyncProperty(
        odd,
        mode,
        fc.constantFrom("user", "project"),
        fc.boolean(),
        async (text, bits, scope, twice) => {
          const path = scope === "user" ? userSettings() : projectSettings();
          put(path, text, bits);
          await on({ scope });
          if (twice) await on({ scope });
          expect(readFileSync(path, "utf8")).toContain("openhook-otel");
          expect(statSync(path).mode & 0o777).toBe(bits);
          expect(await off({ scope })).toBe(0);
          expect(readFileSync(path, "utf8")).toBe(text);
          expect(statSync(path).mode & 0o777).toBe(bits);
        },
      ),
      { numRuns: runs(60) },
    );
  });

  it("disabling all agents continues after a failure and reports it", async () => {
    let complaints = "";
    const context = settledContext({ stderr: { write: (text) => (complaints += text) } });
    put(userSettings(), SETTINGS);
    await on({}, context, ["claude-code", "rover"]);
    const hooks = join(home, ".rover", "hooks.toml");
    put(hooks, Buffer.from(`\ufeff${readFileSync(hooks, "utf8")}`, "utf16le"));
    for (const dryRun of [true, false]) {
      complaints = "";
      expect(await off({ dryRun }, context, [])).toBe(1);
      expect(complaints).toMatch(/^openhook-otel: .*hooks\.toml.*UTF-8.*\n$/);
      expect(existsSync(context.places.hookPath)).toBe(true);
    }
    expect(readFileSync(userSettings(), "utf8")).toBe(SETTINGS);
    await expect(off({}, context, ["rover", "claude-code"])).rejects.toThrow("UTF-8");
    rmSync(hooks);
    expect(await off({}, context, [])).toBe(0);
    expect(existsSync(context.places.hookPath)).toBe(false);
  });

  it("disabling all agents does not touch files that never contained our entries", async () => {
    await on();
    put(join(home, ".rover", "hooks.toml"), Buffer.from([0xff, 0xfe, 0, 1]));
    expect(await off({}, settledContext(), [])).toBe(0);
    expect(existsSync(settledContext().places.hookPath)).toBe(false);
  });

  it("reports why the hook program stays after the last user-scope registration", async () => {
    await on({ scope: "project" });
    await on();
    expect(await off({ scope: "project" })).toBe(0);
    expect(printed).not.toContain("The hook program stays");
    await on({ scope: "project" });
    const stays = `The hook program stays for the settings of ${project} (there: openhook-otel disable --scope project).\n`;
    for (const elsewhere of [root, root]) {
      printed = "";
      expect(await off({}, settledContext({ cwd: elsewhere }), [])).toBe(0);
      expect(printed).toContain(stays);
    }
    expect(printed).toContain("No agent is enabled in its user settings.\n");
    expect(existsSync(settledContext().places.hookPath)).toBe(true);
    printed = "";
    await off({ scope: "project" });
    expect(printed).toContain("The hook program is removed");
  });

  it("removes what enable created: file, folder, program; never the state", async () => {
    rmSync(project, { recursive: true });
    mkdirSync(project);
    await on({ scope: "project" });
    await on();
    expect(await off({ scope: "project" })).toBe(0);
    expect(readdirSync(project)).toEqual([]);
    const { places } = settledContext();
    // the user scope is still enabled
    expect(existsSync(places.hookPath)).toBe(true);
    put(places.storePath, "data");
    printed = "";
    expect(await off()).toBe(0);
    expect(existsSync(join(home, ".claude"))).toBe(false);
    expect(existsSync(dirname(places.hookPath))).toBe(false);
    expect(existsSync(places.backupDir)).toBe(false);
    expect(readFileSync(places.storePath, "utf8")).toBe("data");
    expect(printed).toContain(`Collected data stays in ${places.stateDir}: openhook-otel uninstall --purge removes it`);
  });

  it("edits the target of a link and keeps the link", async () => {
    put(join(home, "dotfiles", "claude.json"), SETTINGS, 0o600);
    mkdirSync(join(home, ".claude"));
    symlinkSync("../dotfiles/claude.json", userSettings());
    await on();
    expect(readFileSync(join(home, "dotfiles", "claude.json"), "utf8")).toContain("openhook-otel");
    await off();
    expect(readlinkSync(userSettings())).toBe("../dotfiles/claude.json");
    expect(readFileSync(join(home, "dotfiles", "claude.json"), "utf8")).toBe(SETTINGS);
    expect(statSync(userSettings()).mode & 0o777).toBe(0o600);
  });

  it("keeps later changes by others and removes only our entries", async () => {
    put(userSettings(), SETTINGS);
    await on();
    put(userSettings(), readFileSync(userSettings(), "utf8").replace('"opus"', '"sonnet"'));
    expect(await off()).toBe(0);
    expect(readFileSync(userSettings(), "utf8")).toBe(SETTINGS.replace('"opus"', '"sonnet"'));
  });

  it("keeps changes by others between two enables", async () => {
    put(userSettings(), SETTINGS);
    await on();
    put(userSettings(), readFileSync(userSettings(), "utf8").replace('"opus"', '"sonnet"'));
    put(join(root, "bin", "claude"), "#!/bin/sh\necho 2.1.329\n", 0o755);
    await on();
    await off();
    expect(readFileSync(userSettings(), "utf8")).toBe(SETTINGS.replace('"opus"', '"sonnet"'));
  });

  it("restores the original bytes even after an upgrade in between", async () => {
    const text = '{ "a" : 1 ,\n\n "hooks":{ } }';
    put(userSettings(), text);
    await on();
    put(join(root, "bin", "claude"), "#!/bin/sh\necho 2.1.329\n", 0o755);
    await on();
    expect(readFileSync(userSettings(), "utf8")).toContain("StopFailure");
    await off();
    expect(readFileSync(userSettings(), "utf8")).toBe(text);
  });

  it("removes our entries from a file that already had them (a teammate's project settings)", async () => {
    await on({ scope: "project" });
    const shared = readFileSync(projectSettings());
    await off({ scope: "project" });
    put(projectSettings(), shared);
    await on({ scope: "project" });
    expect(printed).toContain("already enabled");
    await off({ scope: "project" });
    expect(readFileSync(projectSettings(), "utf8")).toBe("{}\n");
  });

  it("works without its backup, and with a damaged backup", async () => {
    put(userSettings(), SETTINGS);
    const { backupDir } = settledContext().places;
    await on();
    for (const name of readdirSync(backupDir)) if (name.endsWith(".bak")) put(join(backupDir, name), "spoiled");
    await off();
    expect(readFileSync(userSettings(), "utf8")).toBe(SETTINGS);
    await on();
    rmSync(backupDir, { recursive: true });
    await off();
    expect(readFileSync(userSettings(), "utf8")).toBe(SETTINGS);
  });

  it("reports that nothing is enabled, and leaves other entries alone", async () => {
    expect(await off({ yes: false })).toBe(0);
    expect(printed).toBe(`Claude Code: not enabled in ${userSettings()}\n`);
    put(userSettings(), "{ broken");
    const before = snapshot();
    expect(await off()).toBe(0);
    expect(snapshot()).toEqual(before);
  });

  it("drops the record of a deleted file", async () => {
    await on();
    rmSync(join(home, ".claude"), { recursive: true });
    expect(await off()).toBe(0);
    expect(printed).toContain("our entries were already gone");
    expect(existsSync(join(home, ".claude"))).toBe(false);
    expect(existsSync(settledContext().places.hookPath)).toBe(false);
  });

  it("prompts if no agent is named, and refuses without a terminal", async () => {
    await on();
    expect(await refusal(off({ yes: false }, settledContext(), []))).toMatchObject({ exitCode: 2 });
    expect(existsSync(userSettings())).toBe(true);
    expect(await off({ yes: false })).toBe(0);
    expect(existsSync(userSettings())).toBe(false);
  });
});
