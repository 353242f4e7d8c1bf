import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readOwn } from "#kit/own-file.ts";
import { readBodyFileName } from "./body-file.ts";
import { filesIn } from "./pending.ts";
import { forwardDir } from "./receiver-file.ts";

/** What `native.forward` did until now. Counts only grow. */
export interface ForwardState {
  readonly sent: number;
  readonly dropped: number;
  /** Why the last one was dropped. */
  readonly dropReason?: string;
  /** By agent: when its exporter is tried again, in milliseconds since the epoch, and why not before. */
  readonly pauses: Readonly<Record<string, ForwardPause>>;
}

export interface ForwardPause {
  readonly untilMs: number;
  /** The exporter asked for this time. */
  readonly isAsked: boolean;
  readonly failures: number;
  readonly reason: string;
}

/** Names of the bodies that wait, oldest first. @throws what the file system throws */
export const waitingBodies = (stateDir: string): readonly string[] =>
  filesIn(forwardDir(stateDir)).filter((name) => readBodyFileName(name) !== undefined);

/** Zero and no pauses if nothing was sent yet, or the file is damaged. Never throws. */
export function readForwardState(stateDir: string): ForwardState {
  const none = { sent: 0, dropped: 0, pauses: {} };
  try {
    const found: ForwardState = JSON.parse(readOwn(statePath(stateDir)).toString());
    return typeof found.sent === "number" && typeof found.dropped === "number" ? { ...none, ...found } : none;
  } catch {
    return none;
  }
}

/** @throws what the file system throws */
export function writeForwardState(stateDir: string, state: ForwardState): void {
  const path = statePath(stateDir);
  writeFileSync(`${path}.tmp`, JSON.stringify(state), { mode: 0o600 });
  renameSync(`${path}.tmp`, path);
}

// --- internal ---

const statePath = (stateDir: string): string => join(forwardDir(stateDir), "state.json");
