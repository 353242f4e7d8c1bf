import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { PORT_TAKEN, RECEIVER_LIVE } from "#collect/intake/inbox-file.ts";
import { addToReceiver, nativeDir, type Receiver, readReceiver, receiverPath } from "#collect/native/receiver-file.ts";
import { runReceiver, TIMES } from "#collect/native/run-receiver.ts";
import { until } from "../support/program.ts";

let stateDir: string;
let receiver: Receiver;
let drains: string;
beforeEach(async () => {
  stateDir = mkdtempSync(join(tmpdir(), "run-receiver-"));
  receiver = await addToReceiver(stateDir, "claude-code");
  drains = join(stateDir, "drains");
  writeFileSync(
    join(stateDir, "program.cjs"),
    `require("fs").appendFileSync(${JSON.stringify(drains)}, process.argv.slice(2).join(" ") + "\\n")`,
  );
});

const start = (times: Partial<typeof TIMES> = {}) => {
  let isListening = false;
  const end = runReceiver({
    stateDir,
    nodePath: process.execPath,
    programPath: join(stateDir, "program.cjs"),
    env: {},
    times: { ...TIMES, look: 10, ...times },
    onListening: () => {
      isListening = true;
    },
  });
  return { end, listens: () => until("it listens", () => isListening) };
};

const post = (body: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${receiver.token}`, "content-type": "application/json" };
    const to = { host: "127.0.0.1", port: receiver.port, path: "/claude-code/v1/logs", method: "POST", headers };
    const sent = request(to, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    sent.on("error", reject).end(body);
  });

const live = (): string | undefined =>
  existsSync(join(stateDir, RECEIVER_LIVE)) ? readFileSync(join(stateDir, RECEIVER_LIVE), "utf8").trim() : undefined;

test("no agent exports: it ends at once", async () => {
  rmSync(receiverPath(stateDir));
  expect(await start().end).toBe("off");
  expect(live()).toBeUndefined();
});

test("it ends after the idle time, counted from the last request, and takes its mark with it", async () => {
  const { end, listens } = start({ idle: 400 });
  await listens();
  expect(live()).toBe(String(process.pid));
  const beganMs = performance.now();
  await new Promise((done) => setTimeout(done, 300));
  expect(await post("{}")).toBe(200);
  expect(await end).toBe("ended");
  expect(performance.now() - beganMs).toBeGreaterThan(690);
  expect(live()).toBeUndefined();
  expect(TIMES.idle).toBe(600_000);
});

test("it ends when the last agent does not export any more", async () => {
  const { end, listens } = start();
  await listens();
  rmSync(receiverPath(stateDir));
  expect(await end).toBe("ended");
});

test("a second start finds the first, says so, and puts its process into the mark again", async () => {
  const first = start();
  await first.listens();
  // The hook that started the second one wrote its process
  writeFileSync(join(stateDir, RECEIVER_LIVE), "1\n");
  expect(await start().end).toBe("running");
  expect(live()).toBe(String(process.pid));
  expect(await post("{}")).toBe(200);
  rmSync(receiverPath(stateDir));
  await first.end;
});

test("bodies that a killed receiver did not finish are removed", async () => {
  writeFileSync(join(nativeDir(stateDir), ".tmp-0123456789abcdef"), "half");
  const { end, listens } = start();
  await listens();
  await until("it is gone", () => !readdirSync(nativeDir(stateDir)).some((name) => name.startsWith(".tmp-")));
  expect(await post("{}")).toBe(200);
  rmSync(receiverPath(stateDir));
  await end;
});

test("after bodies have come and a pause, it starts one drain", async () => {
  const { end, listens } = start({ quiet: 50, betweenDrains: 300 });
  await listens();
  for (let i = 0; i < 5; i++) await post("{}");
  await until("a drain", () => existsSync(drains));
  for (let i = 0; i < 5; i++) await post("{}");
  await until("a second drain", () => readFileSync(drains, "utf8").split("\n").length === 3);
  expect(readFileSync(drains, "utf8")).toBe("drain --quiet\ndrain --quiet\n");
  rmSync(receiverPath(stateDir));
  await end;
});

describe("another program has the port", () => {
  test.each(["answers everything", "repeats the question", "says nothing", "closes", "floods"])("%s", async (how) => {
    const seen: string[] = [];
    const squatter = createServer((asked, response) => {
      seen.push(JSON.stringify([asked.method, asked.url, asked.headers]));
      if (how === "answers everything") response.end("{}");
      if (how === "repeats the question") response.end(String(asked.headers["openhook-challenge"]));
      if (how === "closes") asked.socket.destroy();
      if (how === "floods") response.write("x".repeat(1 << 20));
    });
    await new Promise<void>((resolve) => squatter.listen(receiver.port, "127.0.0.1", resolve));
    expect(await start().end).toBe("taken");
    expect(live(), "hooks see it").toBe(PORT_TAKEN);
    expect(seen.length).toBeGreaterThan(0);
    expect(seen.join(), "it does not get the token from us").not.toContain(receiver.token);
    squatter.closeAllConnections();
    await new Promise((resolve) => squatter.close(resolve));
    const { end, listens } = start();
    await listens();
    expect(live()).toBe(String(process.pid));
    rmSync(receiverPath(stateDir));
    await end;
    expect(readReceiver(stateDir)).toBeUndefined();
  });
});
