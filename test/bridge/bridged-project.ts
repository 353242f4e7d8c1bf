import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach } from "vitest";
import { allow } from "#collect/bridge/consent.ts";
import { keptVariables } from "#collect/bridge/environment.ts";
import { readRegistrationFile } from "#collect/bridge/registration-file.ts";
import type { DrainDeps } from "#collect/drain/context.ts";
import type { DrainOptions } from "#pipeline.ts";
import { type BridgeCommandState, bridgeCommandStates } from "#store/bridge.ts";
import { readStore } from "#store/read-only.ts";
import { Replay } from "../support/replay.ts";

/** The envelopes of the recording, by type. */
export const TYPES = [
  "session.start",
  "prompt.submit",
  "tool.start",
  "tool.end",
  "tool.start",
  "tool.end",
  "session.end",
];

/** A command that keeps what it gets. */
export const APPEND = 'cat >> "$HOME/got.jsonl"';

export interface Hook {
  readonly command: string;
  readonly events?: readonly string[];
  readonly async?: boolean;
}

/** A recorded session in a project with a registration file. */
export class BridgedProject {
  readonly replay = new Replay("claude-code", "basic");
  readonly folder = join(this.replay.home, "acme-shop");
  readonly file = join(this.folder, ".openhook.json");

  constructor() {
    mkdirSync(this.folder);
  }

  write(hooks: readonly Hook[], path = this.file): void {
    writeFileSync(path, JSON.stringify({ openhook: "0.1", hooks }));
  }

  async allow(path = this.file, environment: NodeJS.ProcessEnv = process.env): Promise<void> {
    const found = readRegistrationFile(path, { uid: process.getuid?.() });
    if (found === undefined || "problem" in found) throw new Error(`${path}: ${found?.problem}`);
    mkdirSync(this.replay.places.stateDir, { recursive: true, mode: 0o700 });
    await allow(this.replay.places, found, Date.now(), keptVariables(environment));
  }

  putAll(): void {
    for (const call of this.replay.calls) this.replay.put(call);
  }

  drain(options: DrainOptions = {}, deps: Partial<DrainDeps> = {}) {
    return this.replay.drain(options, { env: { PATH: process.env["PATH"], AWS_SECRET: "s3cret" }, ...deps });
  }

  /** The envelopes that a command kept. */
  got(name = "got.jsonl"): readonly Record<string, unknown>[] {
    const path = join(this.replay.home, name);
    if (!existsSync(path)) return [];
    const lines = readFileSync(path, "utf8").split("\n");
    return lines.filter((line) => line !== "").map((line) => JSON.parse(line));
  }

  types(name?: string): readonly unknown[] {
    return this.got(name).map(({ type }) => type);
  }

  states(): readonly BridgeCommandState[] {
    return readStore(this.replay.places.storePath, bridgeCommandStates) ?? [];
  }
}

/** A fresh project for each test. */
export function bridgedProjects(): () => BridgedProject {
  let project: BridgedProject | undefined;
  beforeEach(() => {
    project = new BridgedProject();
  });
  afterEach(() => project?.replay.remove());
  return () => {
    if (project === undefined) throw new Error("no test is running");
    return project;
  };
}
