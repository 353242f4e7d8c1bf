// Slow: only `npm run test:all` runs it. Copies that sync programs and users make of session files: each session stays one, with all lines of all its files.
// import/copies.test.ts has the same files in an import.
import { readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { type RecordedHome, recordedCases, recordedHome } from "../import/home.ts";
import { importInto } from "../import/run.ts";
import { storedTotals } from "../import/totals.ts";
import { locateAll } from "../support/located.ts";

const homes: RecordedHome[] = [];
afterEach(() => {
  for (const { replay } of homes.splice(0)) replay.remove();
});

/** How a copy is named, by the name without its ending. */
const COPIES: Readonly<Record<string, (stem: string) => string>> = {
  iCloud: (stem) => `${stem} 2`,
  browsers: (stem) => `${stem} (1)`,
  Dropbox: (stem) => `${stem} (ann's conflicted copy 2026-11-20)`,
  Nextcloud: (stem) => `${stem} (conflicted copy 2026-11-20 101500)`,
  Syncthing: (stem) => `${stem}.sync-conflict-20261120-101500-ABCDEFG`,
  OneDrive: (stem) => `${stem}-DESKTOP-4AB12CD`,
  Explorer: (stem) => `${stem} - Kopie`,
  Finder: (stem) => `${stem} copy`,
};

const CASES = (await recordedCases()).filter(({ name }) => name === "basic");

const copyOf = (path: string, nameOf: (stem: string) => string): string => {
  const [, stem = "", ending = ""] = /^(.*?)((?:\.messages)?\.[a-z]+(?:\.zst)?)$/.exec(basename(path)) ?? [];
  return join(dirname(path), `${nameOf(stem)}${ending}`);
};

async function opened(of: (typeof CASES)[number]) {
  const at = await recordedHome(of);
  homes.push(at);
  const [session] = (await locateAll(at.reader, at.home, at.roots)).sessions;
  if (session === undefined) return undefined;
  const files = await at.reader.files({ ...session, roots: at.roots });
  return { at, paths: [...new Set(files.map(({ path }) => path))] };
}

async function imported(at: RecordedHome, source: string) {
  const report = await importInto(at.replay, source);
  return { problems: report.problems, ...storedTotals(at.replay.places.storePath) };
}

describe.each(CASES)("$source", (of) => {
  test("copies beside its files change nothing, not even the number of sessions", async () => {
    const [without, at] = [await opened(of), await opened(of)];
    if (without === undefined || at === undefined) return expect(of.agent.sessionsBelow).toBeUndefined();
    const wanted = await imported(without.at, of.source);
    expect(wanted.sessions).toBeGreaterThan(0);
    for (const path of at.paths) {
      for (const nameOf of Object.values(COPIES)) writeFileSync(copyOf(path, nameOf), readFileSync(path));
    }
    expect(await imported(at.at, of.source)).toEqual({ ...wanted, problems: expect.any(Array) });
  });
});

/** Agents whose session is one file of lines that is named by its id. */
const IN_LINES = CASES.filter(({ source }) => ["claude-code", "codex", "pi", "qwen-code", "droid"].includes(source));

describe.each(IN_LINES)("$source", (of) => {
  const NAMES = Object.values(COPIES);

  test.each(["import", "hooks"])("by %s, lines that only a copy has count, and all lines once", async (way) => {
    const [without, at] = [await opened(of), await opened(of)];
    if (without === undefined || at === undefined) throw new Error("no session");
    const wanted = await imported(without.at, of.source);
    const [path = ""] = at.paths;
    const text = readFileSync(path, "utf8");
    const lines = text.trimEnd().split("\n");
    const half = `${lines.slice(0, Math.ceil(lines.length / 2)).join("\n")}\n`;
    for (const [index, nameOf] of NAMES.entries()) writeFileSync(copyOf(path, nameOf), index === 4 ? text : half);
    writeFileSync(path, half);
    if (way === "hooks") {
      for (const call of at.at.calls) at.at.replay.put(call);
      await at.at.replay.drain({ endIdle: true });
      const { calls, input, output, sessions } = wanted;
      expect(storedTotals(at.at.replay.places.storePath)).toMatchObject({ calls, input, output, sessions });
    } else expect(await imported(at.at, of.source)).toEqual(wanted);
  });
});
