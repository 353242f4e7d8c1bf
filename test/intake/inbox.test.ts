import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  claim,
  INTAKE_ENDED_AFTER_MS,
  type InboxFile,
  type InboxProblem,
  type LostEvent,
  settle,
} from "#collect/intake/inbox.ts";
import { counts, ensureStateDirs } from "#collect/intake/inbox-dirs.ts";
import { formatEnd, formatHead, type PayloadEnd, parseInboxFile, processStart } from "#collect/intake/inbox-file.ts";
import { quarantine } from "#collect/intake/quarantine.ts";
import { killGroup } from "../support/kill-group.ts";
import { intakes, makeSandbox, onlyEvent, run, shellIntakes, sleepMs } from "./intakes.ts";

const NOW_MS = Date.parse("2026-11-21T10:00:00Z");

let stateDir: string;
let dirs: { stateDir: string; inboxDir: string; claimedDir: string; quarantineDir: string };
beforeEach(async () => {
  stateDir = mkdtempSync(join(tmpdir(), "openhook-inbox-"));
  dirs = dirsOf(stateDir);
  await ensureStateDirs(dirs);
});
afterEach(() => rmSync(stateDir, { recursive: true, force: true, maxRetries: 10 }));

const dirsOf = (dir: string) => ({
  stateDir: dir,
  inboxDir: join(dir, "inbox"),
  claimedDir: join(dir, "claimed"),
  quarantineDir: join(dir, "quarantine"),
});

const HEAD = {
  source: "claude-code",
  event: "Stop",
  ppid: 7,
  pid: 8,
  cwd: "/home/dev/shop",
  env: { CLAUDE_PID: "7" },
};

function put(
  name: string,
  payload: string,
  { end = "whole", ageMs = 1000, dir = dirs.inboxDir }: PutOptions = {},
): string {
  const path = join(dir, name);
  writeFileSync(path, formatHead(HEAD) + payload + (end === "none" ? "" : formatEnd(end, "204811")));
  utimesSync(path, (NOW_MS - ageMs) / 1000, (NOW_MS - ageMs) / 1000);
  return path;
}
interface PutOptions {
  readonly end?: PayloadEnd | "none";
  readonly ageMs?: number;
  readonly dir?: string;
}

async function claimAll(from = dirs): Promise<Claimed> {
  const [files, lost, problems]: [InboxFile[], LostEvent[], InboxProblem[]] = [[], [], []];
  const options = { now: () => NOW_MS, onProblem: (problem: InboxProblem) => problems.push(problem) };
  for await (const file of claim(from, options)) {
    if ("lostMs" in file) lost.push(file);
    else files.push(file);
  }
  return { files, lost, problems, texts: files.map(({ payload }) => payload.toString()) };
}

const textOf = (file: InboxFile | LostEvent): string => ("lostMs" in file ? "lost" : file.payload.toString());

interface Claimed {
  readonly files: readonly InboxFile[];
  readonly lost: readonly LostEvent[];
  readonly problems: readonly InboxProblem[];
  readonly texts: readonly string[];
}

const reasons = () =>
  readdirSync(dirs.quarantineDir)
    .filter((name) => name.endsWith(".reason"))
    .map((name) => JSON.parse(readFileSync(join(dirs.quarantineDir, name), "utf8")));

describe("claim", () => {
  test("yields events by time, then by name, with their facts", async () => {
    put("3-a.evt", "late", { ageMs: 1000 });
    put("1-b.evt", "early b", { ageMs: 3000 });
    put("1-a.evt", "early a", { ageMs: 3000 });
    put("2-a.evt", "middle", { ageMs: 2000 });
    const { files, texts, problems } = await claimAll();
    expect(texts).toEqual(["early a", "early b", "middle", "late"]);
    expect(problems).toEqual([]);
    expect(files[0]?.facts).toEqual({
      source: "claude-code",
      event: "Stop",
      cwd: "/home/dev/shop",
      parentPid: 7,
      parentStart: "204811",
      hookPid: 8,
      env: { CLAUDE_PID: "7" },
      timeMs: NOW_MS - 3000,
      payloadBytes: 7,
      truncated: false,
    });
    expect(readdirSync(dirs.inboxDir)).toEqual([]);
    // The new names have the same order
    expect(files.map(({ path }) => path)).toEqual(files.map(({ path }) => path).sort());
  });

  test("begins with the files that a killed drain had claimed, until they are settled", async () => {
    put("1.evt", "one", { ageMs: 9000 });
    put("2.evt", "two", { ageMs: 8000 });
    await claimAll();
    put("0.evt", "older, but not claimed yet", { ageMs: 20_000 });
    const again = await claimAll();
    expect(again.texts).toEqual(["one", "two", "older, but not claimed yet"]);
    for (const file of again.files) await settle(file);
    expect((await claimAll()).texts).toEqual([]);
    const [first] = again.files;
    if (first !== undefined) await expect(settle(first)).resolves.toBeUndefined();
  });

  test("loses nothing if the intake reuses a name while its first file is processed", async () => {
    put("5-6-0.evt", "first");
    const seen: string[] = [];
    const options = { now: () => NOW_MS, onProblem: () => {} };
    for await (const file of claim(dirs, options)) {
      put("5-6-0.evt", "second");
      seen.push(textOf(file));
      await settle(file);
    }
    for await (const file of claim(dirs, options)) seen.push(textOf(file));
    expect(seen).toEqual(["first", "second"]);
  });

  test("yields lost events once, and mistakes no other file for one", async () => {
    const lose = (name: string, ageMs: number): void => {
      writeFileSync(join(dirs.inboxDir, name), "");
      utimesSync(join(dirs.inboxDir, name), (NOW_MS - ageMs) / 1000, (NOW_MS - ageMs) / 1000);
    };
    put("5-6-0.evt", "came through", { ageMs: 2000 });
    lose("5-7-0.lost", 3000);
    lose("5-8-0.lost", 1000);
    writeFileSync(join(dirs.inboxDir, "foreign.lost"), "holds something");
    expect(await counts(dirs)).toMatchObject({ inbox: 2, lost: 2, lostMs: NOW_MS - 1000 });
    await claimAll();
    // As after a drain that died
    expect(await counts(dirs)).toMatchObject({ inbox: 0, claimed: 1, quarantined: 1, lost: 2 });
    const { texts, lost, problems } = await claimAll();
    expect(texts).toEqual(["came through"]);
    expect(lost.map(({ lostMs }) => lostMs)).toEqual([NOW_MS - 3000, NOW_MS - 1000]);
    expect(problems).toEqual([]);
    for (const file of lost) await settle(file);
    expect(await counts(dirs)).toMatchObject({ claimed: 1, lost: 0 });
  });

  test("skips a file without an end line while its intake may be running", async () => {
    put("1.evt", '{"half":', { end: "none", ageMs: INTAKE_ENDED_AFTER_MS - 1000 });
    writeFileSync(join(dirs.inboxDir, "2.evt"), "");
    utimesSync(join(dirs.inboxDir, "2.evt"), NOW_MS / 1000, NOW_MS / 1000);
    expect(await claimAll()).toMatchObject({ files: [], problems: [] });
    expect(readdirSync(dirs.inboxDir)).toHaveLength(2);
  });

  test("claims the file of a killed intake if the payload is complete, otherwise quarantines it", async () => {
    const ageMs = INTAKE_ENDED_AFTER_MS + 1000;
    put("1.evt", '{"whole":true}', { end: "none", ageMs });
    put("2.evt", '{"half":', { end: "none", ageMs });
    // The clock was set back since
    put("3.evt", "", { end: "none", ageMs: -ageMs });
    const { texts, problems } = await claimAll();
    expect(texts).toEqual(['{"whole":true}']);
    expect(problems.map(({ outcome }) => outcome)).toEqual(["quarantined", "quarantined"]);
    expect(reasons()[0]).toEqual({
      reason: "the intake died before the payload was whole",
      source: "claude-code",
      event: "Stop",
      at: "2026-11-21T10:00:00.000Z",
    });
    expect(await counts(dirs)).toMatchObject({ inbox: 0, claimed: 1, quarantined: 2 });
  });

  test("marks payloads that the intake cut", async () => {
    put("1.evt", "{", { end: "cut" });
    put("2.evt", "{}", { end: "late" });
    const { files } = await claimAll();
    expect(files.map(({ facts }) => facts.truncated)).toEqual([true, false]);
  });

  test("quarantines foreign files without opening them; dot files are skipped", async () => {
    const fifo = spawnSync("mkfifo", [join(dirs.inboxDir, "1.evt")]);
    expect(fifo.status).toBe(0);
    symlinkSync("/dev/zero", join(dirs.inboxDir, "2.evt"));
    mkdirSync(join(dirs.inboxDir, "3.evt"));
    writeFileSync(join(dirs.inboxDir, "3.evt", "kept"), "kept");
    writeFileSync(join(dirs.inboxDir, "notes.txt"), "kept");
    writeFileSync(join(dirs.inboxDir, ".nfs0001"), "");
    writeFileSync(join(dirs.inboxDir, "4.evt"), `not ours${formatEnd("whole")}`);
    writeFileSync(join(dirs.inboxDir, "5.evt"), "");
    truncateSync(join(dirs.inboxDir, "5.evt"), 3 * 1024 ** 3);
    utimesSync(join(dirs.inboxDir, "5.evt"), 1, 1);
    put("6.evt", "good");
    const { texts, problems } = await claimAll();
    expect(texts).toEqual(["good"]);
    expect(problems.map(({ reason }) => reason).sort()).toEqual([
      "not a regular file",
      "not a regular file",
      "not a regular file",
      "not an inbox file: its name does not end in .evt",
      'the file does not begin with "openhook-inbox 1"',
      "the file is larger than any the intake writes",
    ]);
    expect(readdirSync(dirs.inboxDir)).toEqual([".nfs0001"]);
    expect(await counts(dirs)).toMatchObject({ inbox: 0, quarantined: 6 });
    const directory = readdirSync(dirs.quarantineDir).find((name) => name.endsWith("-3.evt"));
    expect(readFileSync(join(dirs.quarantineDir, directory ?? "", "kept"), "utf8")).toBe("kept");
  });

  test("reports a file that it may not read, leaves it, and continues", async () => {
    chmodSync(put("1.evt", "forbidden", { ageMs: 2000 }), 0o000);
    put("2.evt", "allowed");
    const claimed = await asNobody(() => claimAll());
    expect(claimed.texts).toEqual(["allowed"]);
    expect(claimed.problems).toMatchObject([{ outcome: "left", reason: expect.stringMatching(/EACCES/) }]);
    expect(existsSync(join(dirs.inboxDir, "1.evt"))).toBe(true);
  });

  test("finds nothing without a directory", async () => {
    const nowhere = dirsOf(join(stateDir, "nowhere"));
    expect(await claimAll(nowhere)).toEqual({ files: [], lost: [], problems: [], texts: [] });
    expect(await counts(nowhere)).toEqual({ inbox: 0, claimed: 0, quarantined: 0, lost: 0 });
  });
});

describe("quarantine", () => {
  test("moves the file, with its reason beside it", async () => {
    put("1.evt", '{"odd":1}');
    const [file] = (await claimAll()).files;
    if (file === undefined) throw new Error("nothing was claimed");
    const path = await quarantine(dirs, file, "no card knows this payload", NOW_MS);
    const parsed = parseInboxFile(readFileSync(path), 0);
    expect(parsed.ok && parsed.payload.toString()).toBe('{"odd":1}');
    expect(reasons()).toMatchObject([{ reason: "no card knows this payload", source: "claude-code", event: "Stop" }]);
    expect(statSync(`${path}.reason`).mode & 0o777).toBe(0o600);
    expect(existsSync(file.path)).toBe(false);
  });
});

describe("ensureStateDirs", () => {
  test("removes the access of others", async () => {
    chmodSync(dirs.inboxDir, 0o755);
    chmodSync(dirs.stateDir, 0o777);
    rmSync(dirs.claimedDir, { recursive: true });
    await ensureStateDirs(dirs);
    for (const dir of Object.values(dirs)) expect(statSync(dir).mode & 0o777, dir).toBe(0o700);
  });
});

describe("counts", () => {
  test("returns the number of queued files and the oldest time", async () => {
    put("1.evt", "a", { ageMs: 9000, dir: dirs.claimedDir });
    put("2.evt", "b", { ageMs: 5000 });
    put("3.evt", "c", { ageMs: 4000 });
    expect(await counts(dirs)).toEqual({ inbox: 2, claimed: 1, quarantined: 0, oldestMs: NOW_MS - 9000, lost: 0 });
  });
});

describe("parseInboxFile", () => {
  test("returns a reason for every damaged header", () => {
    for (const [text, reason] of [
      ["", /does not begin/],
      ["openhook-inbox 2\n\n", /does not begin/],
      ["openhook-inbox 1\nsource=a\n", /has no end/],
      ["openhook-inbox 1\nsource\n\n{}", /has no "="/],
    ] as const) {
      expect(parseInboxFile(Buffer.from(text), 0)).toEqual({ ok: false, reason: expect.stringMatching(reason) });
    }
  });

  test("treats empty lines and end lines in the payload as payload", () => {
    const payload = "\n\nend=whole\n\nx=1\n";
    const parsed = parseInboxFile(Buffer.from(formatHead(HEAD) + payload + formatEnd("late")), 0);
    expect(parsed).toMatchObject({ ok: true, end: "late", facts: { payloadBytes: payload.length } });
    expect(parsed.ok && parsed.payload.toString()).toBe(payload);
  });

  test("parses a header without facts", () => {
    const parsed = parseInboxFile(Buffer.from(`openhook-inbox 1\n\n{}${formatEnd("whole")}`), 5);
    expect(parsed).toMatchObject({ ok: true, facts: { timeMs: 5, env: {}, payloadBytes: 2, truncated: false } });
  });
});

describe("processStart", () => {
  const stat = (name: string) =>
    `4101 (${name}) S 1 4101 4101 34816 4101 4194304 1 0 0 0 3 1 0 0 20 0 1 0 204811 0 0\n`;

  test("reads the start time after any process name", () => {
    for (const name of ["sh", "tmux: server", "a) R 1 2 3 (b", ") ", "two\nlines"]) {
      expect(processStart(stat(name)), JSON.stringify(name)).toBe("204811");
    }
    expect(processStart("")).toBeUndefined();
    expect(processStart("4101 (sh) S 1")).toBeUndefined();
  });

  test.runIf(process.platform === "linux")("the shell reads a parent with such a name in the same way", async () => {
    const sandbox = makeSandbox();
    const name = "x) R 1 (\n y";
    try {
      // The hook's parent, which has renamed itself; busybox has no writable comm
      const parent = [
        `process.title = "x";`,
        `require("node:fs").writeFileSync("/proc/self/comm", ${JSON.stringify(name)});`,
        `require("node:child_process").spawnSync(process.argv[1], process.argv.slice(2));`,
        `process.stdout.write(require("node:fs").readFileSync("/proc/self/stat", "latin1"));`,
      ].join("\n");
      for (const intake of intakes()) {
        const command = intake.command(sandbox, { source: "claude-code", drain: "no" });
        const { stdout } = await run([process.execPath, "-e", parent, ...command], { env: { HOME: sandbox.home } });
        expect(stdout, "the process could not set its name").toContain(`(${name})`);
        expect(onlyEvent(sandbox).facts.parentStart, intake.title).toBe(processStart(stdout));
        expect(processStart(stdout)).toMatch(/^\d+$/);
        rmSync(sandbox.inboxDir, { recursive: true });
      }
    } finally {
      sandbox.remove();
    }
  });
});

describe("an intake killed in the middle", () => {
  test.each(shellIntakes())("$title: the event is claimed once its intake has certainly ended", async (intake) => {
    const sandbox = makeSandbox();
    try {
      const command = intake.command(sandbox, { source: "claude-code", drain: "no" });
      const outcome = await run(command, {
        input: '{"session_id":"s-1"}',
        keepOpen: true,
        env: { HOME: sandbox.home },
        onSpawn: (child) => setTimeout(() => killGroup(child, "SIGKILL"), 200),
      });
      expect(outcome.signal).toBe("SIGKILL");
      await sleepMs(50);
      const own = dirsOf(sandbox.stateDir);
      await ensureStateDirs(own);
      const claimAt = async (nowMs: number) => {
        const texts: string[] = [];
        const onProblem = ({ reason }: InboxProblem) => texts.push(reason);
        for await (const file of claim(own, { now: () => nowMs, onProblem })) texts.push(textOf(file));
        return texts;
      };
      expect(await claimAt(Date.now())).toEqual([]);
      expect(await claimAt(Date.now() + INTAKE_ENDED_AFTER_MS + 1000)).toEqual(['{"session_id":"s-1"}']);
    } finally {
      sandbox.remove();
    }
  });
});

/** File modes do not restrict root: acts as another user if the tests run as root. */
async function asNobody<T>(action: () => Promise<T>): Promise<T> {
  const { geteuid, seteuid } = process;
  if (geteuid === undefined || seteuid === undefined || geteuid() !== 0) return action();
  const nobody = 65534;
  for (const dir of Object.values(dirs)) chownSync(dir, nobody, nobody);
  seteuid(nobody);
  try {
    return await action();
  } finally {
    seteuid(0);
  }
}
