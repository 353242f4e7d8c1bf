import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chmodSync, mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PROGRAM } from "../support/program.ts";
import { copyProgram } from "../support/program-copy.ts";
import { removeFolder } from "../support/remove.ts";
import type { Installed } from "./install.ts";
import { Machine, type Started } from "./machine.ts";

/** A machine with an administrator: /etc and /usr/local are overlays in a mount namespace and end with it. Needs root. */
export class ManagedMachine {
  readonly #folder = realpathSync(mkdtempSync(join(tmpdir(), "openhook-managed-live-")));
  readonly #holder: ChildProcess;

  constructor() {
    chmodSync(this.#folder, 0o755);
    copyProgram(this.#folder);
    this.#holder = spawn("unshare", ["--mount", "sleep", "600"], { stdio: "ignore" });
    // Wait until the process is in its namespace
    while (this.#inside("readlink /proc/self/ns/mnt") === execFileSync("readlink", ["/proc/self/ns/mnt"]).toString()) {
      execFileSync("sleep", ["0.05"]);
    }
    this.#inside(MOUNTS, this.#folder, process.execPath);
  }

  /** `openhook-otel <args>` as root. @returns stdout */
  openhook(...args: string[]): string {
    return this.#inside(`exec ${AT}/node ${AT}/openhook-otel/dist/openhook-otel.cjs "$@"`, ...args);
  }

  /** Writes a file of the administrator. */
  put(path: string, text: string): void {
    this.#inside('mkdir -p "$(dirname "$1")"; printf %s "$2" > "$1"', path, text);
  }

  /** The same machine as a user sees it, with the user's own home folder. */
  userWith(uid: number, installed: Installed): Machine {
    return new UsersMachine(uid, this.#holder.pid ?? 0, installed);
  }

  remove(): void {
    this.#holder.kill();
    removeFolder(this.#folder);
  }

  #inside(script: string, ...args: string[]): string {
    const target = ["--mount", `--target=${this.#holder.pid}`];
    const env = { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", HOME: "/root" };
    return execFileSync("nsenter", [...target, "sh", "-euc", script, "sh", ...args], { encoding: "utf8", env });
  }
}

// --- internal ---

/** Where the administrator installed our program. */
const AT = "/usr/local/lib/openhook-test";

const MOUNTS = `mount -t tmpfs -o mode=755 tmpfs /mnt; mkdir /mnt/etc /mnt/etc-work /mnt/usr /mnt/usr-work
mount -t overlay -o lowerdir=/etc,upperdir=/mnt/etc,workdir=/mnt/etc-work overlay /etc
mount -t overlay -o lowerdir=/usr/local,upperdir=/mnt/usr,workdir=/mnt/usr-work overlay /usr/local
mkdir -p ${AT}; cp -r "$1/lib/." ${AT}/; cp "$(readlink -f "$2")" ${AT}/node
chown -R 0:0 ${AT}; chmod -R go+rX-w ${AT}`;

class UsersMachine extends Machine {
  readonly #uid: number;
  readonly #holderPid: number;

  constructor(uid: number, holderPid: number, installed: Installed) {
    super(PROGRAM, installed);
    this.#uid = uid;
    this.#holderPid = holderPid;
  }

  override start(command: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): Started {
    // The test, which is root, wrote the agent's settings
    execFileSync("chown", ["--recursive", `${this.#uid}:${this.#uid}`, this.home]);
    const user = `--reuid=${this.#uid} --regid=${this.#uid} --clear-groups`;
    const script = `cd "$0" && exec setpriv ${user} "$@"`;
    const target = ["--mount", `--target=${this.#holderPid}`];
    return super.start("nsenter", [...target, "sh", "-c", script, this.project, command, ...args], env);
  }
}
