// A store that is damaged between two drains. Whatever the damage: the drain continues, reports what it did, keeps the damaged
// files, and salvages what can be read. The losses are counted.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Receiver, startReceiver } from "../../receiver/receiver.ts";
import {
  type Damage,
  deleted,
  garbage,
  overwritten,
  PAGE_BYTES,
  pagesIn,
  replacedByDirectory,
  truncated,
} from "../damage.ts";
import type { Fault } from "../fault.ts";
import type { Outcome } from "../outcome.ts";
import { FaultBuild } from "../program.ts";
import { damaged, type Rebuilt, rebuilt } from "../rebuilt.ts";
import { record } from "../record.ts";
import { World } from "../world.ts";

let build: FaultBuild;
let world: World;
let receiver: Receiver;
let reference: Outcome;
let pages = 0;

beforeAll(async () => {
  build = new FaultBuild();
  world = new World();
  receiver = await startReceiver();
  const whole = await damaged(build, world, receiver, undefined);
  expect(whole.problems).toEqual([]);
  reference = whole.outcome;
  pages = pagesIn(whole.state);
  whole.state.remove();
}, 120_000);
afterAll(async () => {
  await receiver?.close();
  world?.remove();
  build?.remove();
});

const spread = (count: number): readonly number[] =>
  Array.from({ length: Math.min(count, pages - 1) }, (_, i) => 1 + Math.floor((i * (pages - 1)) / count));

async function each(damages: readonly Damage[], kill?: Fault): Promise<readonly Rebuilt[]> {
  const done: Rebuilt[] = [];
  for (const damage of damages) done.push(await rebuilt(build, world, receiver, reference, damage, kill));
  expect(done.flatMap((one) => one.problems)).toEqual([]);
  return done;
}

function report(fault: string, done: readonly Rebuilt[], note: string): void {
  const sum = (of: (one: Rebuilt) => number): number => done.reduce((n, one) => n + of(one), 0);
  record({
    area: "drain",
    fault,
    runs: done.length,
    eventsIn: done.length * world.events,
    lost: sum((one) => one.lost),
    duplicates: done.filter((one) => one.tokens.twice > 0).length,
    recoveryMs: Math.ceil(Math.max(...done.map((one) => one.recoveryMs))),
    note,
    figures: {
      spans: done.length * reference.spans.size,
      sentAgain: sum((one) => one.again),
      tokens: done.length * reference.tokens,
      tokensMissing: sum((one) => one.tokens.missing),
      tokensTwice: sum((one) => one.tokens.twice),
    },
  });
}

const PAGE = Buffer.alloc(PAGE_BYTES);

describe("store.db", () => {
  test("with one page zeroed or garbage: most runs lose nothing, and the losses are counted", async () => {
    const done = await each([
      ...spread(14).map((page) => overwritten("store", `page ${page} zeroed`, () => page * PAGE_BYTES, PAGE)),
      ...spread(6).map((page) =>
        overwritten("store", `page ${page} garbage`, () => page * PAGE_BYTES, garbage(PAGE_BYTES, page)),
      ),
    ]);
    expect(done.filter((one) => one.lost === 0).length).toBeGreaterThan(done.length * 0.6);
    expect(done.filter((one) => one.wasSetAside).length).toBeGreaterThan(2);
    report(
      "store.db: one page zeroed or garbage",
      done,
      "lost: data on that page of the open session that only hooks had reported",
    );
  });

  test("without a readable header: the drain starts with an empty store and reads the files again", async () => {
    const done = await each([
      overwritten("store", "header zeroed", () => 0, Buffer.alloc(100)),
      overwritten("store", "header garbage", () => 0, garbage(100, 1)),
      overwritten("store", "first page zeroed", () => 0, PAGE),
      truncated("store", 0),
      replacedByDirectory,
      deleted("store"),
    ]);
    report(
      "store.db: header gone, empty, deleted, or a directory",
      done,
      "nothing can be read; lost: data of the open session that only hooks had reported",
    );
  });

  test("truncated: what is left in the file is salvaged", async () => {
    const shares = [0.05, 0.35, 0.65, 0.8, 0.9, 0.97];
    const done = await each([
      ...shares.map((share) => truncated("store", share)),
      ...shares.slice(2, 4).map((share) => truncated("store", share, 1_000)),
    ]);
    // Little of the file is missing
    expect(done.filter(({ damage }) => /(80|90|97) %$/.test(damage)).map(({ lost }) => lost)).toEqual([0, 0, 0]);
    expect(done.every((one) => one.wasSetAside)).toBe(true);
    report(
      "store.db: truncated, at the end of a page and within one",
      done,
      "lost: the same, as far as it was truncated",
    );
  });
});

describe("store.db-wal, after a kill", () => {
  const KILLS: readonly Fault[] = [
    { step: "inbox.settle", occurrence: 60, when: "after", kind: "kill" },
    { step: "commit.session", occurrence: 3, when: "after", kind: "kill" },
    { step: "commit.metrics", occurrence: 2, when: "after", kind: "kill" },
  ];
  test.each(KILLS)("$when $step, deleted, truncated or garbage: nothing is lost", async (kill) => {
    const done = await each(
      [
        deleted("log"),
        ...[0, 0.3, 0.7, 0.9].map((share) => truncated("log", share, 17)),
        overwritten("log", "header garbage", () => 0, garbage(32, 3)),
        overwritten("log", "garbage in the middle", (size) => Math.floor(size / 2), garbage(3_000, 4)),
        overwritten("log", "zeroed at the end", (size) => Math.max(0, size - PAGE_BYTES), PAGE),
      ],
      kill,
    );
    // Everything that is only in the log can be read again
    expect(done.flatMap(({ damage, lost, added, tokens }) => ({ damage, lost, added, ...tokens }))).toEqual(
      done.map(({ damage }) => ({ damage, lost: 0, added: 0, missing: 0, twice: 0 })),
    );
    report(
      `store.db-wal: deleted, truncated, garbage, after SIGKILL ${kill.when} ${kill.step}`,
      done,
      "rebuilt from the main file",
    );
  });
});
