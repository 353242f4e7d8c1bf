import {
  closeSync,
  existsSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { filesOf } from "#store/database.ts";
import type { State } from "./world.ts";

/** Damage to store.db or its log while no drain runs. */
export interface Damage {
  readonly name: string;
  readonly to: "store" | "log";
  readonly inflict: (state: State) => void;
}

/** SQLite's page size in the files of these tests. */
export const PAGE_BYTES = 4096;

/** The same garbage every time, so that failures can be reproduced. */
export function garbage(bytes: number, seed: number): Buffer {
  const made = Buffer.alloc(bytes);
  for (let i = 0, x = seed * 2_654_435_761 + 1; i < bytes; i++) {
    x = (Math.imul(x, 1_103_515_245) + 12_345) >>> 0;
    made[i] = x >>> 16;
  }
  return made;
}

export const overwritten = (to: Damage["to"], name: string, at: (size: number) => number, bytes: Buffer): Damage => ({
  name,
  to,
  inflict: (state) => {
    const file = openSync(pathOf(state, to), "r+");
    try {
      writeSync(file, bytes, 0, bytes.length, at(statSync(pathOf(state, to)).size));
    } finally {
      closeSync(file);
    }
  },
});

export const truncated = (to: Damage["to"], share: number, beyondPage = 0): Damage => ({
  name: `truncated to ${Math.round(share * 100)} % ${beyondPage === 0 ? "" : "in the middle of a page"}`.trim(),
  to,
  inflict: (state) => {
    const path = pathOf(state, to);
    const file = openSync(path, "r+");
    ftruncateSync(file, Math.floor((statSync(path).size * share) / PAGE_BYTES) * PAGE_BYTES + beyondPage);
    closeSync(file);
  },
});

export const replacedByDirectory: Damage = {
  name: "replaced by a directory",
  to: "store",
  inflict: (state) => {
    for (const file of filesOf(state.places.storePath)) rmSync(file, { force: true });
    mkdirSync(state.places.storePath);
  },
};

export const deleted = (to: Damage["to"]): Damage => ({
  name: "deleted",
  to,
  inflict: (state) => rmSync(pathOf(state, to), { force: true }),
});

/** Bytes of the main file or its log; 0 without one. There is a log only while a drain runs, or after one was killed. */
export const sizeOf = (state: State, of: Damage["to"]): number => {
  const path = pathOf(state, of);
  return existsSync(path) ? statSync(path).size : 0;
};

/** The number of pages of store.db. */
export const pagesIn = (state: State): number => Math.floor(readFileSync(state.places.storePath).length / PAGE_BYTES);

// --- internal ---

const pathOf = ({ places }: State, to: Damage["to"]): string => filesOf(places.storePath)[to === "store" ? 0 : 1];
