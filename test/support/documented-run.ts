import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { allAgents } from "#agents/registry.ts";
import type { DrainReport } from "#collect/drain/context.ts";
import { loadConfig } from "#config/load.ts";
import { placesOf } from "#config/places.ts";
import { drain } from "#pipeline.ts";
import type { DocumentedCall } from "./documented.ts";
import { removeFolder } from "./remove.ts";
import { ROOT } from "./replay.ts";

/** A temporary home directory: documented calls go through the real hook program, then a drain processes them. */
export class DocumentedRun {
  readonly home = mkdtempSync(join(tmpdir(), "openhook-documented-"));
  readonly places = placesOf({ env: {}, home: this.home, platform: "linux" });
  readonly log: string[] = [];

  /** Runs the hook program with `flags` and the call's own arguments. `stdin_stays_open` leaves stdin open. */
  async hook(
    call: DocumentedCall & { readonly stdin_stays_open?: boolean },
    flags: readonly string[] = [],
  ): Promise<void> {
    const { inboxDir } = this.places;
    const before = new Set(existsSync(inboxDir) ? readdirSync(inboxDir) : []);
    const at = (name: string) => (call.argv.includes(name) ? [call.argv[call.argv.indexOf(name) + 1] ?? ""] : []);
    const args = [join(ROOT, "src", "collect", "intake", "hook.sh"), ...flags, ...at("--source"), ...at("--event")];
    const child = spawn("/bin/sh", args, {
      cwd: this.home,
      env: { PATH: process.env["PATH"], HOME: this.home, OPENHOOK_OTEL_DRAIN: "off", ...call.env },
    });
    const output: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => output.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => output.push(chunk));
    const text = call.stdin_raw ?? JSON.stringify(call.stdin);
    child.stdin.on("error", () => {});
    if (call.stdin_stays_open === true) child.stdin.write(text);
    else child.stdin.end(text);
    const status = await new Promise((done) => child.on("close", done));
    child.stdin.destroy();
    if (status !== 0 || output.length > 0)
      throw new Error(`the hook exited with ${status} and printed ${Buffer.concat(output)}`);
    const time = new Date(call.received_at ?? Date.now());
    for (const name of readdirSync(inboxDir)) if (!before.has(name)) utimesSync(join(inboxDir, name), time, time);
  }

  /** @param nowMs the drain's clock; the drain ends every idle session */
  async drain(nowMs: number): Promise<DrainReport> {
    const report = await drain(
      {
        places: this.places,
        loaded: await loadConfig({ env: {}, places: this.places }),
        agents: await allAgents(),
        version: "0.0.0-test",
        platform: "linux",
        arch: "x64",
        now: () => nowMs,
        sleep: async () => {},
        log: (line) => this.log.push(line),
      },
      { endIdle: true },
    );
    if (report === undefined) throw new Error("another drain is running");
    return report;
  }

  remove(): void {
    removeFolder(this.home);
  }
}
