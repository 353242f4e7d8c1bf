// Slow: only `npm run test:all` runs it. Several machines on one home; drain/instance.test.ts has the rules.
//
// One home shared by two machines, on a file system whose locks do not work; two homes of one user; two users.
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readMeta } from "#store/meta.ts";
import { readStore } from "#store/read-only.ts";
import { type Receiver, startReceiver } from "../receiver/receiver.ts";
import { ensureBuilt, PROGRAM, ROOT } from "../support/program.ts";
import { type RecordedCall, Replay } from "../support/replay.ts";
import { countersAndRows, summaryOf } from "../support/summary.ts";

beforeAll(ensureBuilt);

/** A file server without a lock service, as an NFS mount shows it: every lock fails, and statfs reports the type. */
const NO_LOCKS = `
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/vfs.h>
static int locked(const char *name, int fd, int cmd, void *arg) {
  if (cmd == F_SETLK || cmd == F_SETLKW || cmd == F_GETLK) { errno = ENOLCK; return -1; }
  return ((int (*)(int, int, void *))dlsym(RTLD_NEXT, name))(fd, cmd, arg);
}
int fcntl(int fd, int cmd, ...) { va_list a; va_start(a, cmd); void *p = va_arg(a, void *); va_end(a); return locked("fcntl", fd, cmd, p); }
int fcntl64(int fd, int cmd, ...) { va_list a; va_start(a, cmd); void *p = va_arg(a, void *); va_end(a); return locked("fcntl64", fd, cmd, p); }
int statfs(const char *path, struct statfs *to) {
  int said = ((int (*)(const char *, struct statfs *))dlsym(RTLD_NEXT, "statfs"))(path, to);
  if (said == 0) to->f_type = 0x6969;
  return said;
}
int statfs64(const char *path, struct statfs64 *to) {
  int said = ((int (*)(const char *, struct statfs64 *))dlsym(RTLD_NEXT, "statfs64"))(path, to);
  if (said == 0) to->f_type = 0x6969;
  return said;
}
`;

const folder = mkdtempSync(join(tmpdir(), "openhook-no-locks-"));
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
const shim = join(folder, "no-locks.so");
writeFileSync(join(folder, "no-locks.c"), NO_LOCKS);
const hasShim =
  process.platform === "linux" &&
  spawnSync("cc", ["-shared", "-fPIC", "-o", shim, join(folder, "no-locks.c"), "-ldl"]).status === 0;
if (!hasShim)
  console.warn(
    "SKIPPED: a home on a file server without locks; it is made with a C compiler (cc) on Linux. test/store/name-lock.test.ts shows the lock itself",
  );
const isRoot = process.getuid?.() === 0;
const hasHosts = isRoot && spawnSync("unshare", ["-u", "true"]).status === 0;
if (!hasHosts) console.warn("SKIPPED: the second machine has the first one's name; another needs root and unshare");
if (!isRoot) console.warn("SKIPPED: two users; it needs root");

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function run(
  command: readonly string[],
  options: { env: NodeJS.ProcessEnv; uid?: number; gid?: number; input?: string },
): Promise<Ended> {
  const [file = "", ...args] = command;
  const { input = "", ...how } = options;
  return new Promise((done, fail) => {
    const child = spawn(file, args, { ...how, cwd: "/" });
    const said = { stdout: "", stderr: "" };
    child.stdout.on("data", (data) => (said.stdout += data));
    child.stderr.on("data", (data) => (said.stderr += data));
    child.on("error", fail);
    child.on("close", (code) => done({ code, ...said }));
    // A drain without work closes it first
    child.stdin.on("error", () => {});
    child.stdin.end(input);
  });
}

const envOf = (home: string, receiver?: Receiver) => ({
  PATH: process.env["PATH"],
  HOME: home,
  ...(receiver !== undefined && { OPENHOOK_OTEL_OTLP_ENDPOINT: receiver.url }),
});

const instanceOf = (storePath: string) => readStore(storePath, (db) => readMeta(db, "instance.id"));

test.skipIf(!hasShim)("one home on a server without locks, drained by two machines at the same time", async () => {
  const [replay, receiver] = [new Replay("claude-code", "multi-turn"), await startReceiver()];
  try {
    const env = { ...envOf(replay.home, receiver), LD_PRELOAD: shim };
    const drain = (machine: number, ...args: string[]) => {
      const node = [process.execPath, PROGRAM, "drain", ...args];
      const elsewhere = ["unshare", "-u", "sh", "-c", 'hostname meadow && exec "$@"', "sh"];
      return run(machine === 1 && hasHosts ? [...elsewhere, ...node] : node, { env });
    };
    const share = Math.ceil(replay.calls.length / 4);
    for (let part = 0; part < 4; part++) {
      for (const call of replay.calls.slice(part * share, (part + 1) * share)) replay.put(call, Date.now());
      for (const { code, stderr } of await Promise.all([drain(0), drain(1)])) {
        // One of them can wait for the other, and says so
        expect(stderr.replace(/^openhook-otel: another drain is running \(process \d+ .*\n/, "")).toBe("");
        expect(code).toBe(0);
      }
    }
    expect((await drain(1, "--end-idle")).stdout).toContain("0 waiting");
    // The store needs no shared memory, and no lock file is left
    const files = readdirSync(replay.places.stateDir);
    expect(files.filter((name) => /-(wal|shm)$|\.name|^\.lock/.test(name))).toEqual([]);
    const doctor = await run([process.execPath, PROGRAM, "doctor"], { env: { ...env, COLUMNS: "1000" } });
    expect(doctor.stdout).toMatch(/file system without working locks \(nfs\)/);

    const sums = countersAndRows(replay.places.storePath);
    expect(sums.counters).toEqual(sums.rows);
    expect(sums.counters.calls).toBeGreaterThan(2);
    const ids = receiver.spans.map(({ spanId }) => spanId);
    expect(new Set(ids).size).toBe(ids.length);
    const instances = new Set(receiver.metricPoints.map(({ resource }) => resource["service.instance.id"]));
    expect(instances).toEqual(new Set([instanceOf(replay.places.storePath)]));
  } finally {
    replay.remove();
    await receiver.close();
  }
});

const toolOf = (session: string, n: number): RecordedCall[] =>
  ["UserPromptSubmit", "PreToolUse", "PostToolUse", "SessionEnd"].map((event, i) => ({
    received_at: new Date(Date.now() + i).toISOString(),
    event,
    stdin: {
      ...{ session_id: session, hook_event_name: event, prompt: "water the trees", reason: "other" },
      ...{ tool_name: "Read", tool_use_id: `toolu_${n}`, tool_input: {} },
    },
  }));

test("two homes of one user: each has its own state", async () => {
  const homes = [new Replay("claude-code", "basic"), new Replay("claude-code", "basic")];
  try {
    for (const [n, home] of homes.entries()) for (const call of toolOf(`session-${n}`, n)) home.hook(call);
    await Promise.all(
      homes.map((home) => run([process.execPath, PROGRAM, "drain", "--end-idle"], { env: envOf(home.home) })),
    );
    for (const [n, { places }] of homes.entries()) {
      expect(summaryOf(places.storePath, `session-${n}`)?.tools.map(({ id }) => id)).toEqual([`toolu_${n}`]);
      expect(summaryOf(places.storePath, `session-${1 - n}`)).toBeUndefined();
    }
    const [one, other] = homes.map(({ places }) => instanceOf(places.storePath));
    expect(one).not.toBe(other);
  } finally {
    for (const home of homes) home.remove();
  }
});

test.skipIf(!isRoot)("two users: neither sees the other's state, and both work at the same time", async () => {
  const users = [64_001, 64_002].map((uid) => {
    const replay = new Replay("claude-code", "basic");
    chownSync(replay.home, uid, uid);
    for (const path of readdirSync(replay.home, { recursive: true, encoding: "utf8" }))
      chownSync(join(replay.home, path), uid, uid);
    chmodSync(replay.home, 0o755);
    return { uid, replay };
  });
  // A build as it is installed, readable for everybody
  const program = join(folder, "installed");
  mkdirSync(program, { recursive: true });
  try {
    spawnSync("cp", ["-r", join(ROOT, "dist"), program]);
    mkdirSync(join(program, "node_modules"), { recursive: true });
    for (const name of ["libsql", "@libsql", "@neon-rs", "detect-libc"]) {
      spawnSync("cp", ["-rL", join(ROOT, "node_modules", name), join(program, "node_modules")]);
    }
    spawnSync("cp", ["-r", join(ROOT, "package.json"), program]);
    // Node may be installed where other users have no access
    const node = join(program, "node");
    spawnSync("cp", [process.execPath, node]);
    spawnSync("chmod", ["-R", "a+rX", folder]);
    chmodSync(dirname(program), 0o755);
    await Promise.all(
      users.map(async ({ uid, replay }, n) => {
        const as = { uid, gid: uid, env: envOf(replay.home) };
        for (const call of toolOf(`session-${n}`, n)) {
          const hook = ["/bin/sh", join(program, "dist", "hook.sh"), "claude-code", call.event];
          expect(await run(hook, { ...as, input: JSON.stringify(call.stdin) })).toEqual({
            code: 0,
            stdout: "",
            stderr: "",
          });
        }
        const { code, stderr } = await run(
          [node, join(program, "dist", "openhook-otel.cjs"), "drain", "--end-idle"],
          as,
        );
        expect([code, stderr]).toEqual([0, ""]);
      }),
    );
    for (const [n, { uid, replay }] of users.entries()) {
      expect(summaryOf(replay.places.storePath, `session-${n}`)?.tools.map(({ id }) => id)).toEqual([`toolu_${n}`]);
      const other = users[1 - n]?.replay.places;
      const peek = await run(["cat", other?.storePath ?? ""], { uid, gid: uid, env: envOf(replay.home) });
      expect(peek.code).not.toBe(0);
    }
  } finally {
    for (const { replay } of users) replay.remove();
  }
});
