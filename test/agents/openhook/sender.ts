import { mkdirSync, mkdtempSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { allAgents } from "#agents/registry.ts";
import type { DrainReport } from "#collect/drain/context.ts";
import { formatEnd, formatHead } from "#collect/intake/inbox-file.ts";
import { loadConfig } from "#config/load.ts";
import { placesOf } from "#config/places.ts";
import { type DrainOptions, drain } from "#pipeline.ts";
import { sumsJson } from "#show/report/session-json.ts";
import { summarise } from "#show/report/session-summary.ts";
import { usage } from "#show/report/usage.ts";
import { openDatabase } from "#store/database.ts";
import { readShapes } from "#store/positions.ts";
import { findSessions, settledCalls, settledToolCalls } from "#store/queries.ts";
import { removeFolder } from "../../support/remove.ts";

export const agents = await allAgents();

/** A machine with a program that speaks OpenHook; its transcripts are in `logs`, which is allowed unless `folders` says otherwise. */
export class Sender {
  readonly home = mkdtempSync(join(tmpdir(), "openhook-sender-"));
  readonly logs = join(this.home, "logs");
  readonly places = placesOf({ env: {}, home: this.home, platform: "linux" });
  readonly log: string[] = [];
  folders: string | undefined = this.logs;
  nowMs = Date.parse("2026-11-28T10:01:00Z");
  /** When transcripts are written. */
  writtenMs = Date.parse("2026-11-28T10:00:20Z");
  #events = 0;

  constructor() {
    mkdirSync(this.logs, { recursive: true });
  }

  /** Writes a transcript. @returns its path */
  write(name: string, text: string): string {
    const path = join(this.logs, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    utimesSync(path, new Date(this.writtenMs), new Date(this.writtenMs));
    return path;
  }

  envelope(
    type: string,
    session: string,
    data: object = {},
    source = "acme-agent",
    time = "2026-11-28T10:00:30Z",
  ): void {
    mkdirSync(this.places.inboxDir, { recursive: true, mode: 0o700 });
    const n = String(++this.#events).padStart(12, "0");
    const head = formatHead({ source: "openhook", ppid: 1, pid: this.#events, cwd: this.home, env: {} });
    const id = `00000000-0000-4000-8000-${n}`;
    const body = { openhook: "0.1", id, source, type, time, session_id: session, cwd: this.home, data };
    writeFileSync(
      join(this.places.inboxDir, `1-${this.#events}-0.evt`),
      `${head}${JSON.stringify(body)}${formatEnd("whole")}`,
    );
  }

  end(session: string, path: string, source?: string): void {
    this.envelope("session.end", session, { transcript_path: path }, source);
  }

  async drain(options: DrainOptions = {}): Promise<DrainReport> {
    const env = this.folders === undefined ? {} : { OPENHOOK_OTEL_TRANSCRIPTS_FOLDERS: this.folders };
    const report = await drain(
      {
        places: this.places,
        loaded: await loadConfig({ env, places: this.places }),
        agents,
        version: "0.0.0-test",
        platform: "linux",
        arch: "x64",
        now: () => this.nowMs,
        sleep: async () => {},
        log: (line) => this.log.push(line),
      },
      options,
    );
    if (report === undefined) throw new Error("another drain is running");
    return report;
  }

  /** What the store says of a session. */
  session(name: string) {
    const db = openDatabase(this.places.storePath);
    try {
      const [stored] = findSessions(db, name, 2);
      if (stored === undefined) throw new Error(`no session ${name}`);
      const summary = summarise(db, stored, { agents });
      const calls = settledCalls(db, stored.id);
      const [row] = usage(db, { agents }, { by: ["session"], session: stored.id });
      return {
        totals: sumsJson(summary.sums, summary.facts),
        isUnknown: summary.facts.usageUnknown === true,
        models: [...new Set(calls.flatMap(({ call }) => call.model ?? []))].sort(),
        tools: settledToolCalls(db, stored.id).map(({ tool }) => [tool.name, tool.status] as const),
        calls,
        shapes: readShapes(db, stored.id),
        row,
      };
    } finally {
      db.close();
    }
  }

  remove(): void {
    removeFolder(this.home);
  }
}
