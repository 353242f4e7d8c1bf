import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { nativeFindings } from "#check/health/checks/native.ts";
import type { Examined } from "#check/health/facts/examined.ts";
import { PORT_TAKEN, RECEIVER_LIVE } from "#collect/intake/inbox-file.ts";
import { bodyFileName } from "#collect/native/body-file.ts";
import { writeForwardState } from "#collect/native/forward-state.ts";
import { pendingNative } from "#collect/native/pending.ts";
import { addToReceiver, forwardDir, nativeDir } from "#collect/native/receiver-file.ts";
import { placesOf } from "#config/places.ts";
import { contextAt } from "../support/context.ts";

/** Only the count of records is looked at. */
const NO_RECORDS = { native_records: null } as Examined["facts"];
const places = () => placesOf({ env: {}, home: mkdtempSync(join(tmpdir(), "findings-")), platform: "linux" });
const texts = (at: ReturnType<typeof places>) =>
  [...nativeFindings({ ...contextAt(at), facts: NO_RECORDS })].map((one) =>
    "text" in one ? [one.level, one.text, one.inStatus !== undefined] : [],
  );

test("nothing is said while no agent exports to us", () => {
  expect(texts(places())).toEqual([]);
});

test("the receiver, and a program that has its port", async () => {
  const at = places();
  const { port } = await addToReceiver(at.stateDir, "goose");
  expect(texts(at)).toEqual([["ok", expect.stringContaining(`127.0.0.1:${port} from goose`), false]]);
  writeFileSync(join(at.stateDir, RECEIVER_LIVE), `${PORT_TAKEN}\n`);
  expect(texts(at)).toEqual([["remark", expect.stringContaining("another program has the port"), true]]);
});

test("what could not be read, what waits and what was dropped", async () => {
  const at = places();
  const name = bodyFileName({ source: "goose", signal: "logs", encoding: "json", isGzip: false }, 1);
  mkdirSync(forwardDir(at.stateDir), { recursive: true });
  writeFileSync(join(nativeDir(at.stateDir), name), "x");
  for await (const { reject } of pendingNative(at.stateDir)) await reject("rubbish");
  writeFileSync(join(forwardDir(at.stateDir), name), "x");
  const pause = { untilMs: 0, isAsked: false, failures: 1, reason: "no answer" };
  writeForwardState(at.stateDir, { sent: 4, dropped: 2, dropReason: "answered 400", pauses: { goose: pause } });
  expect(texts(at)).toEqual([
    ["remark", expect.stringMatching(/^1 body of agents' own telemetry could not be read; 1 of them are in /), true],
    [
      "remark",
      expect.stringMatching(/^native.forward: 1 body queued, goose is tried again after .*: no answer$/),
      true,
    ],
    ["remark", "native.forward: 2 bodies were dropped: answered 400", true],
  ]);
  writeForwardState(at.stateDir, { sent: 4, dropped: 0, pauses: {} });
  expect(texts(at).at(-1)).toEqual(["ok", "native.forward: 4 handed on, 1 body queued", false]);
});
