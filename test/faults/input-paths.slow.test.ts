// Slow: only `npm run test:all` runs it. Transcript paths in payloads that lead elsewhere; agents/links.test.ts has links.
//
// A transcript's path comes from a payload: it is read only if it is where the agent keeps its sessions, and only if it is a
// file of this user; anything else is refused with a reason, without delay.

import { spawnSync } from "node:child_process";
import { chownSync, linkSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { allAgents } from "#agents/registry.ts";
import { openRegular, readSmall, refusalOf } from "#kit/open.ts";
import { locateAll } from "../support/located.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { InputWorld } from "./input-world.ts";
import { record } from "./record.ts";

const HAMMERED_MS = 15_000;
const isRoot = process.getuid?.() === 0;

let world: InputWorld;
let projects = "";
beforeEach(() => {
  world = new InputWorld();
  projects = join(world.home, ".claude", "projects", "-home-dev-acme-shop");
  mkdirSync(projects, { recursive: true });
});
afterEach(() => world.remove());

/** A turn of 7 input tokens. */
const turn = (sessionId: string): string => {
  const base = { sessionId, cwd: "/home/dev/acme-shop", version: "2.1.329", isSidechain: false };
  const time = (s: number): string => new Date(Date.UTC(2026, 10, 21, 8, 0, s)).toISOString();
  const usage = { input_tokens: 7, output_tokens: 3, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 };
  const answer = { id: "msg_1", type: "message", role: "assistant", model: "m", stop_reason: "end_turn", usage };
  return [
    { ...base, type: "user", uuid: "u1", promptId: "p1", timestamp: time(1), message: { role: "user", content: "hi" } },
    {
      ...base,
      type: "assistant",
      uuid: "u2",
      timestamp: time(2),
      requestId: "req_1",
      message: { ...answer, content: [{ type: "text", text: "hello" }] },
    },
  ]
    .map((line) => `${JSON.stringify(line)}\n`)
    .join("");
};

function putStart(sessionId: string, path: unknown, env: Readonly<Record<string, string>> = {}): void {
  const payload = { hook_event_name: "SessionEnd", session_id: sessionId, transcript_path: path, reason: "other" };
  world.put("claude-code", "SessionEnd", JSON.stringify(payload), env);
}

const tokensOf = (sessionId: string): number =>
  Number(
    world.rows(
      "SELECT sum(m.input) AS n FROM model_calls m JOIN sessions s ON s.id = m.session WHERE s.session_id = ?",
      sessionId,
    )[0]?.["n"] ?? 0,
  );

/** The target of a path reported for session `s`, and the reason for refusing it. `undefined`: no file. */
const LED: Readonly<Record<string, (path: string) => readonly [string, RegExp]>> = {
  "the system's passwords": () => ["/etc/shadow", /outside this agent's session folders/],
  "a private key": () => {
    const path = join(world.home, ".ssh", "id_rsa");
    mkdirSync(dirname(path));
    writeFileSync(path, turn("s"));
    return [path, /outside this agent's session folders/];
  },
  "a way up out of the folder": (path) => {
    writeFileSync(join(world.home, ".claude", "s.jsonl"), turn("s"));
    return [`${dirname(path)}/../../s.jsonl`, /outside/];
  },
  "a device without an end": () => ["/dev/zero", /a system folder/],
  "our own standard input": () => ["/dev/stdin", /a system folder|is not read/],
  "our own memory": () => ["/proc/self/mem", /a system folder/],
  "the kernel's messages": () => ["/proc/kmsg", /a system folder/],
  "a directory": (path) => {
    mkdirSync(path);
    return [path, /not a regular file but a directory/];
  },
  "a FIFO": (path) => {
    expect(spawnSync("mkfifo", [path]).status).toBe(0);
    return [path, /not a regular file but a FIFO/];
  },
  "a link out of the folder": (path) => {
    const elsewhere = join(world.home, "elsewhere.jsonl");
    writeFileSync(elsewhere, turn("s"));
    symlinkSync(elsewhere, path);
    return [path, /a link that leads elsewhere: its target is outside/];
  },
  "a link to a device": (path) => {
    symlinkSync("/dev/zero", path);
    return [path, /a system folder/];
  },
  "a folder that is a link out": (path) => {
    const elsewhere = join(world.home, "elsewhere");
    mkdirSync(elsewhere);
    writeFileSync(join(elsewhere, "s.jsonl"), turn("s"));
    symlinkSync(elsewhere, join(dirname(path), "linked"));
    return [join(dirname(path), "linked", "s.jsonl"), /a link that leads elsewhere: its target is outside/];
  },
  "links in a circle": (path) => {
    symlinkSync(path, `${path}.2`);
    symlinkSync(`${path}.2`, path);
    return [path, /form a cycle/];
  },
  "a relative path": () => ["s.jsonl", /not an absolute path/],
};

test("paths that lead elsewhere are refused with a reason, and affect no other session", async () => {
  const expected: [string, string, RegExp][] = [];
  for (const [at, [what, lead]] of Object.entries(LED).entries()) {
    const [path, reason] = lead(join(projects, `s-${at}.jsonl`));
    putStart(`s-${at}`, path);
    expected.push([what, path, reason]);
  }
  writeFileSync(join(projects, "whole.jsonl"), turn("whole"));
  putStart("whole", join(projects, "whole.jsonl"));
  const startMs = performance.now();
  const report = await world.drain();
  expect(performance.now() - startMs).toBeLessThan(PATIENCE_MS);
  for (const [what, path, reason] of expected) {
    const line = report.problems.find((problem) => problem.includes(JSON.stringify(path)));
    expect(line, what).toMatch(reason);
  }
  expect(tokensOf("whole")).toBe(7);
  expect(world.rows("SELECT count(*) AS n FROM model_calls")[0]?.["n"]).toBe(1);
  record({ area: "input", fault: "transcript paths that lead elsewhere", runs: expected.length, lost: 0 });
});

test.skipIf(!isRoot)(
  "another user's file is refused, even as a hard link (needs root: skipped for others)",
  async () => {
    const foreign = join(world.home, "foreign.jsonl");
    writeFileSync(foreign, turn("s"));
    chownSync(foreign, 12_345, 12_345);
    const path = join(projects, "s.jsonl");
    linkSync(foreign, path);
    expect(await refusalOf(path, [join(world.home, ".claude", "projects")])).toMatch(/belongs to another user/);
    // One's own hard link, as backups create them, is an ordinary file
    chownSync(foreign, process.getuid?.() ?? 0, 0);
    expect(await refusalOf(path, [join(world.home, ".claude", "projects")])).toBeUndefined();
  },
);

test("a socket is refused", async () => {
  const path = join(projects, "s.jsonl");
  const server = createServer();
  await new Promise<void>((done) => server.listen(path, done));
  try {
    await expect(openRegular(path, [projects])).rejects.toThrow(/not a regular file but a socket/);
  } finally {
    await new Promise((done) => server.close(done));
  }
});

test("a path that changes between check and opening is never followed", async () => {
  const secret = join(world.home, "secret");
  writeFileSync(secret, "secret");
  const path = join(projects, "s.jsonl");
  const put = (make: (at: string) => void): void => {
    make(`${path}.new`);
    renameSync(`${path}.new`, path);
  };
  // Another process, so that it acts between any two of our steps
  const script = `const wait = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
    for (let n = 0; ; n++) { try {
      fs.symlinkSync(${JSON.stringify(secret)}, p + ".l"); fs.renameSync(p + ".l", p); wait(n % 4);
      fs.writeFileSync(p + ".f", "own"); fs.renameSync(p + ".f", p); wait(n % 3);
      child.spawnSync("mkfifo", [p + ".o"]); fs.renameSync(p + ".o", p); wait(n % 2);
    } catch {} }`;
  put((at) => writeFileSync(at, "own"));
  const { spawn } = await import("node:child_process");
  const racer = spawn(process.execPath, [
    "-e",
    `const fs=require("fs"),child=require("child_process"),p=process.argv[1];${script}`,
    path,
  ]);
  try {
    const seen = new Map<string, number>();
    // The other process needs time to start; from the first refusal on it is running
    const endMs = performance.now() + HAMMERED_MS;
    for (let left = 500; left > 0 && performance.now() < endMs; left -= seen.has("refused") ? 1 : 0) {
      const read = await readSmall(path, 1024, [join(world.home, ".claude", "projects")]);
      const text = read?.bytes.toString("utf8") ?? "refused";
      seen.set(text, (seen.get(text) ?? 0) + 1);
    }
    expect([...seen.keys()].filter((text) => text !== "refused" && text !== "own" && text !== "")).toEqual([]);
    expect([...seen.keys()]).toEqual(expect.arrayContaining(["own", "refused"]));
    record({ area: "input", fault: "a transcript that is exchanged while it is opened", runs: 500, lost: 0 });
  } finally {
    racer.kill("SIGKILL");
    await new Promise((done) => racer.on("close", done));
  }
});

describe("folders of agents that were moved are read", () => {
  test("if the agent's variable names the new folder, as the hook recorded it", async () => {
    const moved = join(world.home, "moved", "projects", "p");
    mkdirSync(moved, { recursive: true });
    writeFileSync(join(moved, "s.jsonl"), turn("s"));
    putStart("s", join(moved, "s.jsonl"), { CLAUDE_CONFIG_DIR: join(world.home, "moved") });
    expect((await world.drain()).problems).toEqual([]);
    expect(tokensOf("s")).toBe(7);
    // Once recorded, hooks without the variable may use the folder too: some hosts do not pass it on
    writeFileSync(join(moved, "s2.jsonl"), turn("s2").replaceAll("_1", "_2"));
    putStart("s2", join(moved, "s2.jsonl"));
    await world.drain();
    expect(tokensOf("s2")).toBe(7);
  });

  test.each(["/", "", ".", ".."])("a variable with the value %j moves nothing", async (value) => {
    writeFileSync(join(world.home, "s.jsonl"), turn("s"));
    putStart("s", join(world.home, "s.jsonl"), { CLAUDE_CONFIG_DIR: value, CLINE_SESSION_DATA_DIR: value });
    expect((await world.drain()).problems.join()).toMatch(/outside this agent's session folders/);
    expect(tokensOf("s")).toBe(0);
  });

  test("except the home folder or one above it, which would allow any file", async () => {
    const put = (taskId: string, folder: string): void => {
      const payload = { clineVersion: "3.0.65", hookName: "agent_start", taskId };
      world.put("cline", "agent_start", JSON.stringify(payload), { CLINE_SESSION_DATA_DIR: folder });
    };
    const roots = (): unknown => world.rows("SELECT value FROM meta WHERE key = 'roots.cline'")[0]?.["value"];
    for (const [at, folder] of [world.home, `${world.home}/`, dirname(world.home), "/"].entries())
      put(`s${at}`, folder);
    await world.drain();
    expect(roots()).toBeUndefined();
    put("moved", join(world.home, "moved"));
    await world.drain();
    expect(roots()).toBe(JSON.stringify([join(world.home, "moved")]));
  });

  test("if the user's settings name the new folder, or a link replaces the agent's folder", async () => {
    const disk = mkdtempSync(join(tmpdir(), "openhook-disk-"));
    try {
      writeFileSync(join(disk, "s.jsonl"), turn("s"));
      putStart("s", join(disk, "s.jsonl"));
      expect((await world.drain()).problems.join()).toMatch(/outside this agent's session folders/);
      await world.drain({}, { OPENHOOK_OTEL_TRANSCRIPTS_FOLDERS: `/nowhere:${disk}` });
      expect(tokensOf("s")).toBe(7);

      rmSync(join(world.home, ".claude"), { recursive: true });
      mkdirSync(join(disk, "dotfiles", "projects", "p"), { recursive: true });
      writeFileSync(join(disk, "dotfiles", "projects", "p", "t.jsonl"), turn("t").replaceAll("_1", "_2"));
      symlinkSync(join(disk, "dotfiles"), join(world.home, ".claude"));
      putStart("t", join(world.home, ".claude", "projects", "p", "t.jsonl"));
      await world.drain();
      expect(tokensOf("t")).toBe(7);
    } finally {
      rmSync(disk, { recursive: true, force: true, maxRetries: 10 });
    }
  });
});

test("a FIFO in an agent's folder, under any name that its reader reads, blocks nothing", async () => {
  for (const agent of await allAgents()) {
    const reader = (await agent.transcript?.())?.default;
    if (reader === undefined) continue;
    const own = reader.roots(world.home, {});
    // Of programs without a card the user names the folder
    const [root = join(world.home, "allowed")] = own;
    const roots = own.length > 0 ? own : [root];
    const sessionId = "0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b";
    const names = [
      `${sessionId}.jsonl`,
      `${sessionId}.json`,
      `rollout-2026-11-21T08-00-00-${sessionId}.jsonl`,
      `session-2026-11-21T08-00-${sessionId.slice(0, 8)}.jsonl`,
      "events.jsonl",
      `${sessionId}.messages.json`,
      "opencode.db",
      "kilo.db",
      "agent-x.jsonl",
    ];
    for (const folder of [root, join(root, sessionId), join(root, "p", "chats")]) {
      mkdirSync(folder, { recursive: true });
      for (const name of names) expect(spawnSync("mkfifo", [join(folder, name)]).status).toBe(0);
      for (const name of names) {
        const query = { sessionId, home: world.home, roots, path: join(folder, name) };
        for (const file of await reader.files(query).catch(() => [])) {
          const read = async (): Promise<void> => {
            for await (const _ of reader.read({ ...file, roots }, { bytes: 0, memo: {} })) break;
          };
          await expect(read(), `${agent.source} ${file.path}`).rejects.toThrow(/not a regular file/);
        }
      }
    }
    // Nothing is found, without delay; a database that cannot be read is reported
    const { sessions, problems } = await locateAll(reader, world.home);
    expect(sessions, agent.source).toEqual([]);
    const messages = problems.map(({ error }) => error.message);
    expect(messages, agent.source).toEqual(
      ["opencode", "kilo"].includes(agent.source) ? [expect.stringMatching(/not a regular file/)] : [],
    );
  }
});
