import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { wrap } from "#commands/wrap.ts";
import { placesOf } from "#config/places.ts";
import { readInbox, until } from "../../intake/intakes.ts";
import { contextAt } from "../../support/context.ts";
import { removeFolder } from "../../support/remove.ts";
import { hasShell } from "../../support/shells.ts";

/** How the wrapper runs: in which shell, with or without an `env` that restores signals. */
export interface Setup {
  readonly title: string;
  /** The first line of the script, without `#!`. */
  readonly interpreter: string;
  readonly hasEnv: boolean;
}

const programOf = (name: string): string =>
  spawnSync("sh", ["-c", 'command -v "$1"', "sh", name], { encoding: "utf8" }).stdout.trim();
const hasGnuEnv =
  spawnSync("/usr/bin/env", ["--default-signal=INT", "/bin/sh", "-c", "exit 7"], { stdio: "ignore" }).status === 7;

/** Every installed shell. Shells that cannot restore signals run without `env`, and with it if it is GNU's. */
export const setups: readonly Setup[] = [["dash"], ["bash"], ["busybox", "sh"]]
  .filter(([name = ""]) => hasShell(name, "wrapped commands"))
  .flatMap(([name = "", ...rest]) => {
    const interpreter = [programOf(name), ...rest].join(" ");
    const ways = name === "bash" ? [false] : hasGnuEnv ? [true, false] : [false];
    return ways.map((hasEnv) => ({ title: `${name}${hasEnv ? " and env" : ""}`, interpreter, hasEnv }));
  });

/** True if a signal sent only to the wrapper reaches the program unchanged. */
export const passesOn = ({ interpreter, hasEnv }: Setup): boolean => hasEnv || interpreter.endsWith("bash");

/** A temporary home with wrapped programs. */
export class Wrapped {
  readonly root = mkdtempSync(join(realpathSync(tmpdir()), "openhook wrapped's "));
  readonly home = join(this.root, "home");
  readonly places = placesOf({ env: {}, home: this.home, platform: "linux" });
  /** The wrapper's folder, first in PATH. */
  readonly bin = join(this.home, ".local", "bin");
  /** The folder of the real programs. */
  readonly real = join(this.root, "usr bin");

  constructor() {
    for (const directory of [this.bin, this.real]) mkdirSync(directory, { recursive: true });
  }

  get path(): string {
    return `${this.bin}:${this.real}:${process.env["PATH"] ?? ""}`;
  }

  get env(): Readonly<Record<string, string>> {
    return { PATH: this.path, HOME: this.home, OPENHOOK_OTEL_DRAIN: "off" };
  }

  /** Creates a program. */
  program(name: string, text: string, directory = this.real): string {
    const path = join(directory, name);
    mkdirSync(directory, { recursive: true });
    writeFileSync(path, text);
    chmodSync(path, 0o755);
    return path;
  }

  /** Wraps programs with the `wrap` command, and sets the wrapper's shell. */
  async wrap(names: readonly string[], setup: Setup | undefined = setups[0]): Promise<void> {
    const { context } = contextAt(this.places, { env: this.env });
    const hookSource = resolve("src/collect/intake/hook.sh");
    await wrap(names, { dryRun: false, hookSource }, context);
    const program = join(dirname(this.places.hookPath), "wrapper");
    let text = readFileSync(program, "utf8");
    if (setup !== undefined) text = text.replace(/^#!.*/, `#!${setup.interpreter}`);
    if (setup?.hasEnv === false) text = text.replace(/^w_env='[^']*'/m, "w_env=''");
    writeFileSync(program, text);
  }

  /** Waits for this many payloads in the inbox. @returns them, `pre` before `post` */
  async payloads(count: number): Promise<readonly ReportedPayload[]> {
    const read = () =>
      readInbox(this.places).flatMap((file) =>
        file.ok && file.end !== undefined
          ? [{ ...(JSON.parse(file.payload.toString()) as Payload), source: file.facts.source, env: file.facts.env }]
          : [],
      );
    await until(() => (read().length >= count ? true : undefined));
    return [...read()].sort((a, b) => (a.phase < b.phase ? 1 : -1));
  }

  remove(): void {
    removeFolder(this.root);
  }
}

export interface Payload {
  readonly cli: string;
  readonly args: readonly string[];
  readonly phase: "pre" | "post";
  readonly exit_code?: number;
  readonly call: string;
  readonly shell: string;
}

export type ReportedPayload = Payload & {
  readonly source: string | undefined;
  readonly env: Readonly<Record<string, string>>;
};
