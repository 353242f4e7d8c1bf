import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { allAgents } from "#agents/registry.ts";
import type { DrainDeps, DrainReport } from "#collect/drain/context.ts";
import { formatEnd, formatHead } from "#collect/intake/inbox-file.ts";
import { loadConfig } from "#config/load.ts";
import { type Places, placesOf } from "#config/places.ts";
import { type DrainOptions, drain } from "#pipeline.ts";
import { openDatabase } from "#store/database.ts";
import { recordedEnv } from "../support/recorded-env.ts";

/** A home with inbox files as the hook writes them, of any agent and with any content. */
export class InputWorld {
  readonly home: string;
  readonly places: Places;
  readonly log: string[] = [];
  #put = 0;

  constructor(home = mkdtempSync(join(tmpdir(), "openhook-input-"))) {
    this.home = home;
    this.places = placesOf({ env: {}, home, platform: "linux" });
  }

  /** @returns the number of files so far */
  put(source: string | undefined, event: string | undefined, payload: string | Buffer, env: Env = {}): number {
    const pid = 1000 + ++this.#put;
    const head = formatHead({
      source,
      event,
      ppid: 3131,
      pid,
      cwd: this.home,
      env: recordedEnv({ HOME: this.home, ...env }),
    });
    mkdirSync(this.places.inboxDir, { recursive: true, mode: 0o700 });
    const path = join(this.places.inboxDir, `3131-${pid}-0.evt`);
    writeFileSync(path, Buffer.concat([Buffer.from(head), Buffer.from(payload), Buffer.from(formatEnd("whole"))]));
    const time = new Date(Date.now() - 60_000 + this.#put);
    utimesSync(path, time, time);
    return this.#put;
  }

  async drain(options: DrainOptions = {}, env: Env = {}, more: Partial<DrainDeps> = {}): Promise<DrainReport> {
    const report = await drain(
      {
        places: this.places,
        loaded: await loadConfig({ env, places: this.places }),
        agents: await allAgents(),
        version: "0.0.0-test",
        platform: "linux",
        arch: "x64",
        now: Date.now,
        sleep: (ms) => new Promise((done) => setTimeout(done, ms)),
        log: (line) => this.log.push(line),
        ...more,
      },
      options,
    );
    if (report === undefined) throw new Error("another drain is running");
    return report;
  }

  /** Rows in the store. */
  rows(sql: string, ...values: readonly (string | number)[]): readonly Readonly<Record<string, unknown>>[] {
    const db = openDatabase(this.places.storePath);
    try {
      return db.prepare(sql).all(...values) as readonly Readonly<Record<string, unknown>>[];
    } finally {
      db.close();
    }
  }

  /** Quarantined files by name, with their reasons. */
  quarantined(): readonly { readonly name: string; readonly reason: string }[] {
    const { quarantineDir } = this.places;
    return readdirSync(quarantineDir)
      .filter((name) => !name.endsWith(".reason"))
      .map((name) => ({
        name,
        reason: String(JSON.parse(readFileSync(join(quarantineDir, `${name}.reason`), "utf8")).reason),
      }));
  }

  /** Everything in the home outside the state directory. */
  outside(): readonly string[] {
    const state = this.places.stateDir.slice(this.home.length + 1);
    return readdirSync(this.home, { recursive: true, encoding: "utf8" })
      .filter((path) => !path.startsWith(state) && !state.startsWith(path))
      .sort();
  }

  remove(): void {
    rmSync(this.home, { recursive: true, force: true, maxRetries: 10 });
  }
}

type Env = Readonly<Record<string, string>>;
