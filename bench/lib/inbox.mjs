import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Writes payloads into the inbox the way the hook does, with the given times. */
export class Inbox {
  #inboxDir;
  #home;
  #files = 0;

  constructor(stateDir, home) {
    this.#home = home;
    this.#inboxDir = join(stateDir, "inbox");
    mkdirSync(this.#inboxDir, { recursive: true, mode: 0o700 });
  }

  /** @param payload what the agent writes to the hook's stdin */
  put(source, payload, ms) {
    const parent = 4242;
    const head = {
      source,
      ppid: parent,
      pid: 5000 + this.#files,
      cwd: payload.cwd,
      "env.HOME": this.#home,
      "env.CLAUDE_PID": parent,
    };
    const lines = Object.entries(head).map(([name, value]) => `${name}=${value}\n`);
    const path = join(this.#inboxDir, `${parent}-${5000 + this.#files++}-0.evt`);
    writeFileSync(path, `openhook-inbox 1\n${lines.join("")}\n${JSON.stringify(payload)}\nend=whole\n`, {
      mode: 0o600,
    });
    // The file's time is the event's
    utimesSync(path, ms / 1000, ms / 1000);
  }
}
