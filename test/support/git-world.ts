import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { removeFolder } from "./remove.ts";

/** A hook call of an agent, as it would arrive in the inbox. */
export interface HookCall {
  readonly source: AgentName;
  readonly timeMs: number;
  readonly cwd: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

export type AgentName = "claude-code" | "codex";

const SECOND = 1_000;
const DAY_MS = 86_400_000;

/**
 * A home with repositories that real git makes, and a clock. Users and agents work in them; what agents do is also recorded as the hook
 * calls that they would send.
 */
export class GitWorld {
  readonly home = mkdtempSync(join(tmpdir(), "openhook-git-"));
  readonly calls: HookCall[] = [];
  /** Label → full id of a commit. */
  readonly commits = new Map<string, string>();
  nowMs: number;
  #sessions = 0;

  constructor(startMs = Date.parse("2026-10-05T09:00:00Z")) {
    this.nowMs = startMs;
    writeFileSync(
      join(this.home, ".gitconfig"),
      "[user]\n\tname = Dev\n\temail = dev@example.com\n[init]\n\tdefaultBranch = main\n[advice]\n\tdetachedHead = false\n" +
        '[protocol "file"]\n\tallow = always\n[commit]\n\tgpgSign = false\n',
    );
  }

  path(name: string): string {
    return join(this.home, name);
  }

  /** A repository with a commit of the user on `main`. */
  repository(name = "shop"): Checkout {
    const folder = this.path(name);
    mkdirSync(folder);
    const repo = new Checkout(this, folder);
    repo.git("init", "-q");
    repo.write("README.md", lines("readme", 5)).write("src/cart.js", lines("cart", 30));
    repo.git("add", ".");
    repo.git("commit", "-qm", "Begin");
    return repo;
  }

  /** A bare repository with `main`, and a clone of it. */
  cloned(name = "shop", ...options: readonly string[]): Checkout {
    const origin = this.repository(`${name}-first`);
    origin.git("clone", "-q", "--bare", origin.folder, this.path(`${name}.git`));
    return this.clone(`${name}.git`, name, ...options);
  }

  clone(from: string, name: string, ...options: readonly string[]): Checkout {
    this.git(this.home, "clone", "-q", ...options, `file://${this.path(from)}`, this.path(name));
    return new Checkout(this, this.path(name));
  }

  session(source: AgentName, at: Checkout): AgentSession {
    return new AgentSession(
      this,
      source,
      at.folder,
      `0199a000-0000-7000-8000-${String(++this.#sessions).padStart(12, "0")}`,
    );
  }

  days(count: number): void {
    this.nowMs += count * DAY_MS;
  }

  /** Runs git. @returns both of its output streams, and its exit code */
  run(folder: string, args: readonly string[]): { readonly output: string; readonly code: number } {
    this.nowMs += SECOND;
    try {
      const output = execFileSync("git", args, {
        cwd: folder,
        env: this.#env(),
        encoding: "utf8",
        stdio: ["ignore", "pipe", "pipe"],
      });
      return { output, code: 0 };
    } catch (error) {
      const { stdout = "", stderr = "", status = 1 } = error as { stdout?: string; stderr?: string; status?: number };
      return { output: stdout + stderr, code: status };
    }
  }

  git(folder: string, ...args: readonly string[]): string {
    const { output, code } = this.run(folder, args);
    if (code !== 0) throw new Error(`git ${args.join(" ")}: ${output}`);
    return output.trim();
  }

  /** Makes a file executable, as a command that prints nothing. */
  chmod(path: string): { readonly output: string; readonly code: number } {
    chmodSync(path, 0o755);
    return { output: "", code: 0 };
  }

  /** A folder as the user's place of work. */
  checkout(name: string): Checkout {
    return new Checkout(this, this.path(name));
  }

  remove(): void {
    removeFolder(this.home);
  }

  // --- internal ---

  #env(): Record<string, string> {
    const date = `@${Math.floor(this.nowMs / SECOND)} +0000`;
    return {
      HOME: this.home,
      PATH: process.env["PATH"] ?? "",
      GIT_AUTHOR_DATE: date,
      GIT_COMMITTER_DATE: date,
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_EDITOR: "true",
      GIT_MERGE_AUTOEDIT: "no",
    };
  }
}

/** A working tree, and the user who works in it. */
export class Checkout {
  readonly world: GitWorld;
  readonly folder: string;

  constructor(world: GitWorld, folder: string) {
    this.world = world;
    this.folder = folder;
  }

  git(...args: readonly string[]): string {
    return this.world.git(this.folder, ...args);
  }

  write(path: string, content: string): this {
    const at = join(this.folder, path);
    mkdirSync(dirname(at), { recursive: true });
    writeFileSync(at, content);
    return this;
  }

  append(path: string, content: string): this {
    appendFileSync(join(this.folder, path), content);
    return this;
  }

  read(path: string): string {
    return readFileSync(join(this.folder, path), "utf8");
  }

  move(from: string, to: string): this {
    mkdirSync(dirname(join(this.folder, to)), { recursive: true });
    renameSync(join(this.folder, from), join(this.folder, to));
    return this;
  }

  delete(path: string): this {
    rmSync(join(this.folder, path), { recursive: true });
    return this;
  }

  /** Commits everything as the user. */
  commit(label: string, message = label): this {
    this.git("add", "-A");
    this.git("commit", "-qm", message);
    return this.mark(label);
  }

  /** Gives a commit a label. */
  mark(label: string, revision = "HEAD"): this {
    this.world.commits.set(label, this.git("rev-parse", revision));
    return this;
  }

  worktree(name: string, branch: string): Checkout {
    const folder = this.world.path(name);
    this.git("worktree", "add", "-q", "-b", branch, folder);
    return new Checkout(this.world, folder);
  }
}

/** An agent at work in a folder. Each method is a tool call, with the hook calls that it causes. */
export class AgentSession {
  readonly world: GitWorld;
  readonly source: AgentName;
  readonly id: string;
  readonly #cwd: string;
  #calls = 0;
  #turns = 0;
  #subagent: string | undefined;

  constructor(world: GitWorld, source: AgentName, cwd: string, id: string) {
    this.world = world;
    this.source = source;
    this.#cwd = cwd;
    this.id = id;
    this.#send("SessionStart", { source: "startup" });
  }

  /** A turn: a prompt, tool calls, and the answer. */
  turn(work: (agent: this) => void): this {
    this.#turns++;
    this.#send("UserPromptSubmit", { prompt: "Go on" });
    work(this);
    this.#send("Stop", { stop_hook_active: false });
    return this;
  }

  /** The work of a subagent within a turn. */
  subagent(work: (agent: this) => void): this {
    this.#subagent = `a${String(this.#calls).padStart(16, "0")}`;
    this.#send("SubagentStart", {});
    work(this);
    this.#send("SubagentStop", { stop_hook_active: false });
    this.#subagent = undefined;
    return this;
  }

  /** Writes a whole file with the agent's tool for that. */
  write(path: string, content: string, folder = this.#cwd): this {
    const file = join(folder, path);
    const former = existsSync(file) ? readFileSync(file, "utf8") : undefined;
    const act = (): void => {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, content);
    };
    if (this.source === "codex") {
      const body = content
        .trimEnd()
        .split("\n")
        .map((line) => `+${line}`)
        .join("\n");
      const command = `*** Begin Patch\n*** Add File: ${file}\n${body}\n*** End Patch\n`;
      const tool_response = `Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess. Updated the following files:\nA ${file}\n`;
      this.#tool("apply_patch", { command }, act, () => tool_response);
    } else {
      const tool_response = {
        type: former === undefined ? "create" : "update",
        filePath: file,
        content,
        structuredPatch: [],
        originalFile: former ?? null,
        userModified: false,
      };
      this.#tool("Write", { file_path: file, content }, act, () => tool_response);
    }
    return this;
  }

  /** Runs git in the agent's shell, in the session's folder. */
  git(...args: readonly string[]): this {
    return this.gitIn(this.#cwd, ...args);
  }

  /** Runs git in another folder, as `cd folder && git …`. */
  gitIn(folder: string, ...args: readonly string[]): this {
    const line = `git ${args.map((arg) => (/^[\w./=:@^~-]+$/.test(arg) ? arg : `'${arg}'`)).join(" ")}`;
    const command = folder === this.#cwd ? line : `cd ${folder} && ${line}`;
    this.shell(command, () => this.world.run(folder, args));
    return this;
  }

  /** A command of the agent's shell, with what it prints and its exit code. */
  shell(command: string, act: () => { readonly output: string; readonly code: number }): this {
    this.#tool("Bash", { command }, act, ({ output, code }) => {
      if (this.source === "codex") return output;
      return code === 0
        ? { stdout: output.trimEnd(), stderr: "", interrupted: false, isImage: false }
        : new Error(`Exit code ${code}\n${output}`);
    });
    return this;
  }

  /** Adds everything and commits, in two calls as agents often do. */
  commit(label: string, message = label, folder = this.#cwd): this {
    this.gitIn(folder, "add", "-A");
    this.gitIn(folder, "commit", "-m", message);
    this.world.commits.set(label, this.world.git(folder, "rev-parse", "HEAD"));
    return this;
  }

  end(): this {
    this.#send("SessionEnd", { reason: "other" });
    return this;
  }

  // --- internal ---

  #tool<T>(tool_name: string, tool_input: unknown, act: () => T, responseOf: (result: T) => unknown): void {
    const prefix = this.source === "codex" ? "call_" : "toolu_";
    const tool_use_id = `${prefix}${this.id.slice(-4)}${String(++this.#calls).padStart(8, "0")}`;
    this.#send("PreToolUse", { tool_name, tool_input, tool_use_id });
    const tool_response = responseOf(act());
    this.world.nowMs += 50;
    if (tool_response instanceof Error) {
      this.#send("PostToolUseFailure", {
        tool_name,
        tool_input,
        tool_use_id,
        error: tool_response.message,
        is_interrupt: false,
      });
    } else this.#send("PostToolUse", { tool_name, tool_input, tool_response, tool_use_id });
  }

  #send(event: string, more: Readonly<Record<string, unknown>>): void {
    // Codex has no end of a session, and does not report that a tool failed
    if (this.source === "codex" && ["SessionEnd", "PostToolUseFailure"].includes(event)) return;
    this.world.nowMs += 20;
    const turn = `0199a000-0000-7000-8000-${this.id.slice(-4)}${String(this.#turns).padStart(8, "0")}`;
    const payload = {
      session_id: this.id,
      ...(this.#turns > 0 && (this.source === "codex" ? { turn_id: turn } : { prompt_id: turn })),
      transcript_path: null,
      cwd: this.#cwd,
      permission_mode: "bypassPermissions",
      ...(this.#subagent !== undefined && { agent_id: this.#subagent, agent_type: "general-purpose" }),
      ...(this.source === "codex" && { model: "gpt-6-sol" }),
      hook_event_name: event,
      ...more,
    };
    this.world.calls.push({ source: this.source, timeMs: this.world.nowMs, cwd: this.#cwd, payload });
  }
}

/** `count` different lines. */
export const lines = (word: string, count: number): string =>
  Array.from({ length: count }, (_, at) => `${word} ${at + 1}\n`).join("");
