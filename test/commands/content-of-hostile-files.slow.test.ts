// Prompts and calls are read from the agent's files while other programs write, replace and remove these.
import { spawn } from "node:child_process";
import { appendFileSync, copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { show } from "#commands/show.ts";
import { contextAt } from "../support/context.ts";
import { Replay } from "../support/replay.ts";

const HUGE_BYTES = 100_000_000;
const ROUNDS = 40;

let replay: Replay;
let file: string;
beforeEach(async () => {
  replay = new Replay("claude-code", "parallel-tools");
  for (const call of replay.calls) replay.put(call);
  await replay.drain({ endIdle: true });
  const names = readdirSync(replay.transcriptRoot, { recursive: true, encoding: "utf8" });
  file = join(replay.transcriptRoot, names.find((name) => name.endsWith(".jsonl")) ?? "");
});
afterEach(() => replay.remove());

test("a line of 100 MB, whole or without an end, takes nothing away, and not its size in memory", async () => {
  const whole = await shown();
  expect(whole).toMatch(/Turn 1 .*\S{3}/);
  const heapBefore = process.memoryUsage().heapUsed;
  const huge = `{"type":"user","uuid":"u","message":{"role":"user","content":"${"x".repeat(HUGE_BYTES)}"}}`;
  appendFileSync(file, `${huge}\n`);
  expect(linesOf(await shown())).toEqual(expect.arrayContaining([...linesOf(whole)]));
  appendFileSync(file, huge);
  expect(linesOf(await shown())).toEqual(expect.arrayContaining([...linesOf(whole)]));
  expect(process.memoryUsage().heapUsed - heapBefore).toBeLessThan(HUGE_BYTES);
});

test("a file that is replaced again and again, by links, folders and pipes, shows nothing of other files", async () => {
  const outside = join(replay.places.stateDir, "..", "outside");
  mkdirSync(outside, { recursive: true });
  const [original, other] = [join(outside, "original.jsonl"), join(outside, "other.jsonl")];
  const text = readFileSync(file, "utf8");
  writeFileSync(original, text);
  writeFileSync(other, text.replaceAll(/"content":"[^"]*"/g, '"content":"CANARY-OUTSIDE"'));
  expect(readFileSync(other, "utf8")).toContain("CANARY-OUTSIDE");
  const swapping = spawn(process.execPath, ["-e", SWAP, file, original, other], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    await new Promise((resolve) => swapping.stdout.once("data", resolve));
    for (let round = 0; round < ROUNDS; round++) {
      const now = await shown();
      expect(now).toContain("Turn 1");
      expect(now).not.toContain("CANARY-OUTSIDE");
    }
  } finally {
    const ended = new Promise((resolve) => swapping.once("exit", resolve));
    swapping.kill("SIGKILL");
    await ended;
  }
  rmSync(file, { recursive: true, force: true });
  copyFileSync(original, file);
  expect(await shown()).toContain("acme-shop");
});

// --- internal ---

/** Puts one thing after the other where the transcript is. */
const SWAP = `
const { copyFileSync, mkdirSync, renameSync, rmSync, symlinkSync, truncateSync } = require("node:fs");
const { execFileSync } = require("node:child_process");
const [file, original, other] = process.argv.slice(1);
const next = file + ".next";
const make = [
  () => copyFileSync(original, next),
  () => symlinkSync(other, next),
  () => copyFileSync(original, next),
  () => mkdirSync(next),
  () => { copyFileSync(original, next); truncateSync(next, 3000); },
  () => execFileSync("mkfifo", [next]),
];
for (let i = 0; ; i++) {
  rmSync(next, { recursive: true, force: true });
  make[i % make.length]();
  if (i % make.length === 3 || i % make.length === 4) rmSync(file, { recursive: true, force: true });
  renameSync(next, file);
  if (i === make.length) console.log("swapping");
}`;

async function shown(): Promise<string> {
  const { context, out } = contextAt(replay.places);
  expect(await show(undefined, { json: false, envelopes: false, titles: true }, context)).toBe(0);
  return out();
}

/** Without the sums above, which can have one more prompt. */
const linesOf = (text: string): readonly string[] => text.split("\n").filter((line) => /^\s*[├└│]/.test(line));
