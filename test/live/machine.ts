import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Places, placesOf } from "#config/places.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { ROOT } from "../support/program.ts";
import { removeFolder } from "../support/remove.ts";
import type { Installed } from "./install.ts";
import { type Extensions, type Place, type Program, SERVER, SKILLS } from "./programs/program.ts";

/** Result of a process. */
export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly wallMs: number;
}

/** A user's machine with only one agent and our program. */
export class Machine {
  readonly home = realpathSync(mkdtempSync(join(tmpdir(), "openhook-live-")));
  readonly project = join(this.home, "shop");
  readonly places: Places = placesOf({ env: {}, home: this.home, platform: process.platform });
  readonly #openhook: string;
  readonly #binDir: string;
  /** Further variables of all processes. */
  variables: Readonly<Record<string, string>> = {};

  /** @param openhook the built program */
  constructor(openhook: string, { binDir }: Pick<Installed, "binDir">) {
    this.#openhook = openhook;
    this.#binDir = binDir;
    for (const [name, text] of Object.entries(PROJECT)) writeBelow(this.project, name, text);
    const git = (...args: string[]): void => {
      execFileSync("git", args, { cwd: this.project, env: { ...this.env, ...GIT_AUTHOR } });
    };
    git("init", "--quiet", "--initial-branch=main");
    git("add", "--all");
    git("commit", "--quiet", "--message=Shop");
  }

  /** The complete environment of processes here: nothing is inherited from the test runner. */
  get env(): Readonly<Record<string, string>> {
    return {
      HOME: this.home,
      USER: "dev",
      LOGNAME: "dev",
      SHELL: "/bin/sh",
      LANG: "C.UTF-8",
      TERM: "xterm",
      PATH: [
        this.#binDir,
        join(this.home, "bin"),
        dirname(process.execPath),
        "/usr/local/bin",
        "/usr/bin",
        "/bin",
      ].join(":"),
      NO_PROXY: "127.0.0.1,localhost",
      ...this.variables,
    };
  }

  settle(program: Program, place: Place, { modules }: Installed, extensions?: Extensions): void {
    const files = { ...program.settings(place) };
    const server = { name: SERVER, command: process.execPath, args: [join(ROOT, "test", "live", "mcp-server.mjs")] };
    for (const [name, more] of Object.entries(extensions?.settings(server) ?? {})) {
      const before = files[name];
      files[name] =
        typeof more === "string" ? `${before ?? ""}${more}` : { ...(before as object), ...(more as object) };
    }
    for (const skill of extensions === undefined ? [] : SKILLS) {
      const head = `---\nname: ${skill}\ndescription: How to do the ${skill}\n---\n`;
      writeBelow(this.home, join(extensions?.skillsIn ?? "", skill, "SKILL.md"), `${head}Read the README.\n`);
    }
    for (const [name, value] of Object.entries(files)) {
      writeBelow(this.home, name, typeof value === "string" ? value : `${JSON.stringify(value, null, 2)}\n`);
    }
    if (program.packagesAt === undefined) return;
    const [own = "", ...others] = program.packages;
    const isOwn = (path: string): boolean => path.startsWith(join(modules, own.replace(/-ai$/, "")));
    cpSync(modules, join(this.home, program.packagesAt, "node_modules"), {
      recursive: true,
      filter: (path) => !isOwn(path) && !path.endsWith(".bin"),
    });
    const dependencies = Object.fromEntries(others.map((name) => [name, program.version]));
    writeBelow(this.home, join(program.packagesAt, "package.json"), JSON.stringify({ dependencies }));
  }

  /** `openhook-otel <args>`, as a user types it. @returns stdout @throws if the exit code is not 0 */
  async openhook(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.start(process.execPath, [this.#openhook, ...args]).finished;
    if (code !== 0) throw new Error(`openhook-otel ${args.join(" ")} ended with ${code}: ${stderr || stdout}`);
    return stdout;
  }

  /** Runs a program in a separate process group. */
  start(command: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): Started {
    return new Started(
      spawn(command, args, {
        cwd: this.project,
        env: { ...this.env, ...env },
        detached: true,
        stdio: ["ignore", "pipe", "pipe"],
      }),
    );
  }

  /** Waits until the hooks and the drains they started have ended. */
  async drained(): Promise<void> {
    const isOurs = /openhook-otel\/hook | drain --quiet/;
    const endMs = Date.now() + DRAIN_MS;
    for (let looks = 0; looks < STILL_LOOKS; looks++) {
      if (this.#running(isOurs).length > 0) looks = -1;
      if (Date.now() > endMs) throw new Error(`a hook or a drain runs for more than ${DRAIN_MS / 1000} s`);
      await sleep(50);
    }
  }

  /** Waits until no process runs here: agents can outlive the one that started them. */
  async idle(): Promise<void> {
    const endMs = Date.now() + DRAIN_MS;
    while (this.#running(/./).length > 0) {
      if (Date.now() > endMs) throw new Error(`a process runs for more than ${DRAIN_MS / 1000} s`);
      await sleep(50);
    }
  }

  /** The events that no drain has read, and the drains' log. For the report of a failed test. */
  queuedEventsAndLog(): string {
    const { inboxDir, stateDir } = this.places;
    const events = existsSync(inboxDir) ? readdirSync(inboxDir) : [];
    const log = join(stateDir, "drain.log");
    return [
      `${events.length} events in the inbox`,
      ...events,
      existsSync(log) ? readFileSync(log, "utf8") : "no drain.log",
    ].join("\n");
  }

  /** Ends all processes that still run here. */
  stop(): void {
    for (const pid of this.#running(/./)) kill(pid);
  }

  /** Removes it with all its files. */
  remove(): void {
    this.stop();
    removeFolder(this.home);
  }

  /** Ids of processes of this machine, by their command lines in `ps`. */
  #running(what: RegExp): readonly number[] {
    const list = execFileSync("ps", ["axeww", "-o", "pid=,args="], { encoding: "utf8", maxBuffer: 1 << 27 });
    return list
      .split("\n")
      .filter((line) => what.test(line) && new RegExp(`\\sHOME=${this.home}(\\s|$)`).test(line))
      .map((line) => Number.parseInt(line, 10));
  }
}

export class Started {
  readonly finished: Promise<Finished>;
  readonly #child: ChildProcess;

  constructor(child: ChildProcess, limitMs = PROGRAM_MS) {
    this.#child = child;
    const startMs = performance.now();
    const printed = { stdout: "", stderr: "" };
    for (const stream of ["stdout", "stderr"] as const) {
      child[stream]?.setEncoding("utf8").on("data", (text: string) => {
        printed[stream] += text;
      });
    }
    this.finished = new Promise((done, failed) => {
      const timer = setTimeout(() => {
        this.kill();
        failed(new Error(`${child.spawnargs.join(" ")} ran for more than ${limitMs / 1000} s: ${printed.stderr}`));
      }, limitMs);
      child.on("error", failed);
      child.on("exit", (code) => {
        clearTimeout(timer);
        const wallMs = performance.now() - startMs;
        const finish = (): void => done({ code, ...printed, wallMs });
        child.on("close", finish);
        // a killed agent's children may hold the pipes
        setTimeout(finish, 1000).unref();
      });
    });
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Ends it with its children, except those in another process group. */
  kill(): void {
    if (this.#child.pid !== undefined) kill(-this.#child.pid);
  }
}

export function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // has ended already
  }
}

// --- internal ---

const DRAIN_MS = PATIENCE_MS;
/** `ps` shows neither arguments nor environment of a process that is being loaded, so one check can miss it. */
const STILL_LOOKS = 8;
/** Only against hanging: a program's first start can take minutes on a machine that does other work too. */
const PROGRAM_MS = 5 * PATIENCE_MS;

const PROJECT = {
  "README.md": "# Shop\n\nA small shop.\n",
  "src/price.js": "export const price = (euros) => euros * 100;\n",
};
const GIT_AUTHOR = {
  GIT_AUTHOR_NAME: "Dev",
  GIT_AUTHOR_EMAIL: "dev@example.com",
  GIT_COMMITTER_NAME: "Dev",
  GIT_COMMITTER_EMAIL: "dev@example.com",
};

function writeBelow(folder: string, name: string, text: string): void {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text, { mode: text.startsWith("#!") ? 0o755 : 0o644 });
}
