import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DrainReport } from "#collect/drain/context.ts";
import { formatEnd, formatHead } from "#collect/intake/inbox-file.ts";
import { loadConfig } from "#config/load.ts";
import { placesOf } from "#config/places.ts";
import type { Agent } from "#core/model/agent.ts";
import { Event } from "#core/model/event-schema.ts";
import { TranscriptEntry } from "#core/model/transcript.ts";
import { type DrainOptions, drain } from "#pipeline.ts";
import { removeFolder } from "./remove.ts";

/** An agent whose payloads are lists of events and entries: for behaviour that adapters allow but no recording shows. */
export const ACME: Agent = {
  source: "acme",
  title: "Acme",
  docs: "test/support/inbox-fixture.ts",
  emits: ["session.end"],
  tokens: "payload",
  capabilities: {
    basis: "documented",
    subagents: true,
    sessionIds: "native",
    callIds: "native",
    eventIds: "payload",
  },
  recognises: () => "certain",
  toEvents: (payload) => (payload as AcmePayload).events.map((event) => Event.parse(event)),
  toEntries: (payload) => ((payload as AcmePayload).entries ?? []).map((entry) => TranscriptEntry.parse(entry)),
};

export interface AcmePayload {
  readonly events: readonly unknown[];
  readonly entries?: readonly unknown[];
}

/** A temporary state directory: `put` writes payloads of `ACME` into its inbox, `drain` processes them. */
export class InboxFixture {
  readonly #home = mkdtempSync(join(tmpdir(), "openhook-inbox-"));
  readonly places = placesOf({ env: {}, home: this.#home, platform: "linux" });
  /** Variables that settings are read from. */
  env: Record<string, string> = {};
  #files = 0;

  put(payload: AcmePayload): void {
    mkdirSync(this.places.inboxDir, { recursive: true, mode: 0o700 });
    const head = formatHead({ source: "acme", ppid: 1, pid: ++this.#files, cwd: this.#home, env: {} });
    const path = join(this.places.inboxDir, `1-${this.#files}-0.evt`);
    writeFileSync(path, `${head}${JSON.stringify(payload)}${formatEnd("whole")}`);
  }

  async drain(
    options: DrainOptions = {},
    agents: readonly Agent[] = [ACME],
    now: () => number = Date.now,
  ): Promise<DrainReport> {
    const report = await drain(
      {
        places: this.places,
        loaded: await loadConfig({ env: this.env, places: this.places }),
        agents,
        version: "0.0.0-test",
        platform: "linux",
        arch: "x64",
        now,
        sleep: async () => {},
        log: () => {},
      },
      options,
    );
    if (report === undefined) throw new Error("another drain is running");
    return report;
  }

  remove(): void {
    removeFolder(this.#home);
  }
}
