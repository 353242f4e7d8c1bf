// Slow: only `npm run test:all` runs it. The built receiver under floods, killed at each write, on a full disk.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { RECEIVER_LIVE } from "#collect/intake/inbox-file.ts";
import { pendingNative } from "#collect/native/pending.ts";
import { addToReceiver, nativeDir, type Receiver } from "#collect/native/receiver-file.ts";
import { smallDisk } from "../faults/disk.ts";
import type { Fault } from "../faults/fault.ts";
import { FaultBuild } from "../faults/program.ts";
import { ensureBuilt, PROGRAM, ROOT, sleep, until } from "../support/program.ts";

/** As hooks start it. */
const FLAGS = ["--max-semi-space-size=2", "--optimize-for-size", "--initial-heap-size=48"];

interface Running {
  readonly stateDir: string;
  readonly receiver: Receiver;
  readonly child: ChildProcess;
}

const children = new Set<ChildProcess>();
afterEach(() => {
  for (const child of children) child.kill("SIGKILL");
  children.clear();
});

function started(args: readonly string[], env: NodeJS.ProcessEnv = {}): ChildProcess {
  const child = spawn(process.execPath, args, { stdio: "ignore", env: { ...process.env, ...env } });
  children.add(child);
  return child;
}

async function start({ program = PROGRAM, stateDir = "", env = {} } = {}): Promise<Running> {
  const folder = stateDir === "" ? mkdtempSync(join(tmpdir(), "native-")) : stateDir;
  const receiver = await addToReceiver(folder, "goose");
  const all = { OPENHOOK_OTEL_HOME: folder, OPENHOOK_OTEL_DRAIN: "off", NODE_OPTIONS: "", ...env };
  const child = started([...FLAGS, program, "receive", "--quiet"], all);
  const live = join(folder, RECEIVER_LIVE);
  await until("it listens", () => read(live).trim() === String(child.pid));
  return { stateDir: folder, receiver, child };
}

const read = (path: string): string => {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
};

/** @returns the status; the error's code if there is no answer */
const post = ({ receiver }: Running, body: string | Buffer, agent?: Agent): Promise<number | string> =>
  new Promise((resolve) => {
    const headers = { authorization: `Bearer ${receiver.token}`, "content-type": "application/json" };
    const to = { host: "127.0.0.1", port: receiver.port, path: "/goose/v1/traces", method: "POST", headers };
    const sent = request({ ...to, ...(agent && { agent }) }, (response) => {
      response.resume();
      response.on("end", () => resolve(response.statusCode ?? 0));
    });
    sent.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? "")).end(body);
  });

const kept = async (stateDir: string): Promise<readonly string[]> => {
  const texts: string[] = [];
  for await (const { bytes } of pendingNative(stateDir)) texts.push(bytes.toString());
  return texts;
};

describe.skipIf(process.platform !== "linux")("floods", () => {
  beforeAll(ensureBuilt);
  const peakMib = ({ pid }: ChildProcess): number =>
    Number(/^VmHWM:\s+(\d+) kB$/m.exec(read(`/proc/${pid}/status`))?.[1]) / 1024;
  const head = ({ receiver }: Running, line: string): string =>
    `POST /goose/v1/traces HTTP/1.1\r\nhost: 127.0.0.1:${receiver.port}\r\nauthorization: Bearer ${receiver.token}\r\n` +
    `content-type: application/json\r\n${line}\r\n\r\n`;
  const open = ({ receiver }: Running, first: string | Buffer): Socket => {
    const socket = connect(receiver.port, "127.0.0.1");
    socket.on("error", () => {}).on("data", () => {});
    socket.write(first);
    return socket;
  };
  const closed = (socket: Socket): Promise<void> =>
    new Promise((resolve) => (socket.closed ? resolve() : socket.on("close", () => resolve())));

  test("at most 20 MiB above bare Node, and agents are served before, between and after", async () => {
    const bare = started(["-e", "setTimeout(() => {}, 1e8)"]);
    await sleep(1_000);
    const bareMib = peakMib(bare);
    const running = await start();
    const isServed = async (after: string): Promise<void> => {
      await until(`it serves after ${after}`, async () => (await post(running, "{}")) === 200);
      expect(peakMib(running.child) - bareMib, after).toBeLessThan(20);
    };
    await isServed("its start");

    for (let i = 0; i < 5; i++) expect(await post(running, Buffer.alloc(39_000_000, 97))).toBe(200);
    await isServed("large bodies");

    const piece = Buffer.concat([Buffer.from("100000\r\n"), Buffer.alloc(1 << 20), Buffer.from("\r\n")]);
    for (const line of ["transfer-encoding: chunked", "content-length: 1000000000"]) {
      const socket = open(running, head(running, line));
      let pieces = 0;
      const more = (): void => {
        while (pieces++ < 1_000 && !socket.destroyed) if (!socket.write(piece)) return;
      };
      socket.on("drain", more);
      more();
      await closed(socket);
      expect(pieces, "it does not take a gigabyte").toBeLessThan(200);
      await isServed(`a gigabyte, ${line}`);
    }

    const half: Socket[] = [];
    for (let i = 0; i < 10_000; i++) {
      half.push(open(running, "POST /goose/v1/tra"));
      if (i % 200 === 0) await sleep(5);
    }
    await Promise.all(half.map((socket) => closed(socket)));
    await isServed("10,000 connections with half a request, all of which it closes");

    const slow = Array.from({ length: 60 }, () => open(running, head(running, "content-length: 39000000")));
    const timer = setInterval(() => {
      for (const socket of slow) if (!socket.destroyed) socket.write(Buffer.alloc(1 << 16));
    }, 20);
    await sleep(3_000);
    clearInterval(timer);
    for (const socket of slow) socket.destroy();
    await isServed("60 slow agents with large bodies");

    for (let i = 0; i < 300; i++) {
      const socket = open(running, Buffer.from(Array.from({ length: 3_000 }, (_, n) => (n * (i + 7) * 31) % 256)));
      socket.end();
      await closed(socket);
    }
    await isServed("rubbish");

    const agent = new Agent({ keepAlive: true, maxSockets: 8 });
    const many = Array.from({ length: 3_000 }, () => post(running, "x".repeat(20_000), agent));
    expect(new Set(await Promise.all(many))).toEqual(new Set([200]));
    agent.destroy();
    await isServed("3,000 small bodies");
    await until("nothing unfinished is left", () =>
      readdirSync(nativeDir(running.stateDir)).every((name) => !name.startsWith(".tmp-")),
    );
    process.stdout.write(`receiver: ${(peakMib(running.child) - bareMib).toFixed(1)} MiB above bare Node\n`);
  });
});

describe("killed at each write", () => {
  let build: FaultBuild;
  beforeAll(() => {
    build = new FaultBuild();
  });
  afterAll(() => build?.remove());
  const STEPS = ["native.create", "native.write", "native.keep"] as const;
  const faults = STEPS.flatMap((step) =>
    (["before", "after"] as const).map((when) => ({ step, when, occurrence: 2, kind: "kill" }) as const),
  );

  test.each(faults)("$when $step: what was answered is there, nothing is half", async (fault: Fault) => {
    const env = { NODE_PATH: join(ROOT, "node_modules") };
    const first = await start({ program: build.program, env: { ...env, OPENHOOK_FAULT: JSON.stringify(fault) } });
    expect(await post(first, "first")).toBe(200);
    expect(await post(first, "second"), "it is killed").toBe("ECONNRESET");
    const isWhole = fault.step === "native.keep" && fault.when === "after";
    expect(await kept(first.stateDir)).toEqual(["first", ...(isWhole ? ["second"] : [])]);
    const second = await start({ program: build.program, stateDir: first.stateDir, env });
    expect(await post(second, "second"), "the agent sends it again").toBe(200);
    // If it was whole before the kill it is there twice: its records have the same keys
    expect(new Set(await kept(first.stateDir))).toEqual(new Set(["first", "second"]));
    expect(readdirSync(nativeDir(first.stateDir)).filter((name) => name.startsWith(".tmp-"))).toEqual([]);
  });

  test.each(["ENOSPC", "EIO", "EACCES"] as const)(
    "%s at each write: 503, nothing is left, the next one is kept",
    async (kind) => {
      for (const step of STEPS) {
        const fault: Fault = { step, when: "before", occurrence: 1, kind };
        const running = await start({
          program: build.program,
          env: { NODE_PATH: join(ROOT, "node_modules"), OPENHOOK_FAULT: JSON.stringify(fault) },
        });
        expect(await post(running, "refused"), step).toBe(503);
        expect(await post(running, "kept"), step).toBe(200);
        expect(await kept(running.stateDir), step).toEqual(["kept"]);
        expect(readdirSync(nativeDir(running.stateDir)).filter((name) => name.startsWith(".tmp-"))).toEqual([]);
      }
    },
  );
});

test("a full disk: 503 until there is room", async ({ skip }) => {
  await ensureBuilt();
  const disk = smallDisk(4 << 20);
  if (typeof disk === "string") return skip(disk);
  try {
    const running = await start({ stateDir: disk.dir });
    disk.fill(64 << 10);
    expect(await post(running, Buffer.alloc(1 << 20, 97))).toBe(503);
    expect(await post(running, "small")).toBe(200);
    disk.free();
    expect(await post(running, Buffer.alloc(1 << 20, 98))).toBe(200);
    expect((await kept(disk.dir)).map((text) => text.length)).toEqual([5, 1 << 20]);
    running.child.kill("SIGKILL");
  } finally {
    disk.remove();
  }
});
