// Which hooks start the receiver; a fake program stands for it.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { PORT_TAKEN, RECEIVER, RECEIVER_LIVE } from "#collect/intake/inbox-file.ts";
import { intakes, makeSandbox, readInbox, run, type Sandbox, sleepMs, until } from "../intake/intakes.ts";

let sandbox: Sandbox;
let started: string;
const pids = new Set<number>();
beforeEach(() => {
  sandbox = makeSandbox();
  started = join(sandbox.root, "started");
  mkdirSync(started);
  // Stays until it is killed
  const [made, whole] = [JSON.stringify(`${sandbox.root}/`), JSON.stringify(`${started}/`)];
  const note = `const fs = require("fs"); fs.writeFileSync(${made} + process.pid, process.argv.slice(2).join(" "));
    fs.renameSync(${made} + process.pid, ${whole} + process.pid)`;
  writeFileSync(sandbox.programPath, `${note}; if (process.argv[2] === "receive") setInterval(() => {}, 1e9)`);
});
afterEach(() => {
  for (const pid of [...pids]) {
    process.kill(pid, "SIGKILL");
    pids.delete(pid);
  }
  sandbox.remove();
});

const switchOn = (): void => {
  mkdirSync(join(sandbox.stateDir, "native"), { recursive: true });
  writeFileSync(join(sandbox.stateDir, RECEIVER), "{}");
};

const live = (): string => readFileSync(join(sandbox.stateDir, RECEIVER_LIVE), "utf8").trim();

/** What was started since the last call, once there are so many. */
async function startedPrograms(count: number): Promise<readonly string[]> {
  await until(() => (readdirSync(started).length >= count ? true : undefined));
  // One more would be there by now
  if (count === 0) await sleepMs(300);
  return readdirSync(started)
    .map((pid) => {
      const line = readFileSync(join(started, pid), "utf8");
      if (line.startsWith("receive")) pids.add(Number(pid));
      rmSync(join(started, pid));
      return line;
    })
    .sort();
}

describe.each(intakes())("$title", (intake) => {
  const fire = async (event: string, drain: "yes" | "if-waiting" | "no" = "no") => {
    const { code, stdout, stderr } = await run(
      intake.command(sandbox, { source: "goose", event, drain, reply: "{}" }),
      {
        input: "{}",
      },
    );
    expect([code, stdout, stderr]).toEqual([0, "{}\n", ""]);
  };

  test("without an agent that exports, nothing is started and nothing is created", async () => {
    await fire("SessionStart", "if-waiting");
    await fire("PreToolUse");
    expect(await startedPrograms(0)).toEqual([]);
    expect(existsSync(join(sandbox.stateDir, "native"))).toBe(false);
  });

  test("the first event of any kind starts it, no other does while it runs, and the next one after it was killed", async () => {
    switchOn();
    await fire("UserPromptSubmit");
    expect(await startedPrograms(1)).toEqual(["receive --quiet"]);
    const [pid = 0] = [...pids];
    expect(live()).toBe(String(pid));
    await fire("PreToolUse");
    await fire("PostToolUse");
    expect(await startedPrograms(0)).toEqual([]);
    process.kill(pid, "SIGKILL");
    pids.delete(pid);
    await until(() => (isGone(pid) ? true : undefined));
    await fire("Stop", "yes");
    expect(await startedPrograms(2)).toEqual(["drain --quiet", "receive --quiet"]);
    expect(readInbox(sandbox).length).toBe(4);
  });

  test("if another program has the port, only what starts a drain tries again", async () => {
    switchOn();
    writeFileSync(join(sandbox.stateDir, RECEIVER_LIVE), `${PORT_TAKEN}\n`);
    await fire("PreToolUse");
    expect(await startedPrograms(0)).toEqual([]);
    await fire("Stop", "yes");
    expect(await startedPrograms(2)).toEqual(["drain --quiet", "receive --quiet"]);
  });
});

const isGone = (pid: number): boolean => {
  try {
    return readFileSync(`/proc/${pid}/stat`, "latin1").includes(") Z ");
  } catch {
    return true;
  }
};
