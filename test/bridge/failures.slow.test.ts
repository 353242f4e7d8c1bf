// Slow: only `npm run test:all` runs it. Commands that fail, levels, changed files; bridge/deliver.test.ts delivers once.
//
// What a command gets, when it runs and what follows if it fails; deliver.test.ts has the usual case.
import { createHash } from "node:crypto";
import { chmodSync, existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { consentPath, revoke } from "#collect/bridge/consent.ts";
import { MAX_ATTEMPTS } from "#collect/bridge/host.ts";
import { APPEND, bridgedProjects, TYPES } from "./bridged-project.ts";

const at = bridgedProjects();

describe("capture levels", () => {
  const levels: readonly (readonly [string, boolean])[] = [
    ["none", false],
    ["metadata", false],
    ["redacted", true],
    ["full", true],
  ];
  test.each(levels)("at %s, extensions are handed over: %s", async (level, hasExtensions) => {
    at().replay.env = { OPENHOOK_OTEL_CAPTURE: level };
    at().write([{ command: APPEND }]);
    await at().allow();
    at().putAll();
    await at().drain();
    expect(at().types()).toEqual(TYPES);
    const members = new Set(
      at()
        .got()
        .flatMap((envelope) => Object.keys(envelope)),
    );
    expect(members.has("extensions")).toBe(hasExtensions);
    if (level === "none") expect(members.has("cwd")).toBe(false);
  });

  test("a project that lowers the level hands over no extensions", async () => {
    at().replay.env = { OPENHOOK_OTEL_CAPTURE: "full" };
    at().write([{ command: APPEND }]);
    await at().allow();
    writeFileSync(join(at().folder, ".openhook-otel.json"), '{"capture":"metadata"}');
    at().putAll();
    await at().drain();
    expect(
      at()
        .got()
        .filter((envelope) => "extensions" in envelope),
    ).toEqual([]);
    expect(at().got()).toHaveLength(TYPES.length);
  });

  test("an excluded project hands over nothing", async () => {
    at().write([{ command: APPEND }]);
    await at().allow();
    writeFileSync(join(at().folder, ".openhook-otel.json"), '{"disabled":true}');
    at().putAll();
    await at().drain();
    expect(at().got()).toEqual([]);
  });
});

describe("consent", () => {
  const changes: readonly (readonly [string, () => void])[] = [
    ["its text changed", () => at().write([{ command: `${APPEND}; touch "$HOME/evil"` }])],
    [
      "it became a link to the same text",
      () => {
        writeFileSync(join(at().folder, "same.json"), readFileSync(at().file));
        rmSync(at().file);
        symlinkSync("same.json", at().file);
      },
    ],
    ["everyone can write to its folder", () => chmodSync(at().folder, 0o777)],
    ["it is gone", () => rmSync(at().file)],
    ["the record of consent is damaged", () => writeFileSync(consentPath(at().replay.places), "{")],
    [
      "the consent is to another owner's file",
      () => {
        const digest = createHash("sha256").update(readFileSync(at().file)).digest("hex");
        const allowed = [{ path: at().file, digest, owner: 4_711, atMs: 0 }];
        writeFileSync(consentPath(at().replay.places), JSON.stringify({ allowed }));
      },
    ],
  ];
  test.each(changes)("an allowed file runs nothing once %s", async (_, change) => {
    at().write([{ command: APPEND }]);
    await at().allow();
    change();
    at().putAll();
    await at().drain();
    expect(at().got()).toEqual([]);
    expect(existsSync(join(at().replay.home, "evil"))).toBe(false);
  });

  test("a command whose first run removes it from the file does not run for the next envelope", async () => {
    at().write([{ command: `${APPEND}; echo '{"openhook":"0.1","hooks":[]}' > .openhook.json` }]);
    await at().allow();
    at().putAll();
    await at().drain();
    expect(at().types()).toEqual(["session.start"]);
  });

  test("what is queued for a revoked file is dropped and counted", async () => {
    at().write([{ command: APPEND }]);
    await at().allow();
    at().putAll();
    await at().drain({ deliver: async () => {} });
    await revoke(at().replay.places, () => true);
    expect(existsSync(consentPath(at().replay.places))).toBe(false);
    await at().drain();
    expect(at().got()).toEqual([]);
    expect(at().states()).toMatchObject([{ queued: 0, dropped: TYPES.length }]);
  });
});

describe("failures", () => {
  let nowMs = Date.now();
  const clock = (ms: number) => ({ now: () => (nowMs = ms) });
  beforeEach(() => {
    nowMs = Date.now();
  });

  test("a command that failed gets the same envelope again after a delay, and the order stays", async () => {
    at().write([{ command: `[ -e "$HOME/well" ] || exit 2; ${APPEND}` }]);
    await at().allow();
    at().putAll();
    const startMs = nowMs;
    await at().drain({}, clock(startMs));
    await at().drain({}, clock(startMs + 500));
    expect(at().states()).toMatchObject([{ failures: 1, queued: TYPES.length, lastReason: "exit code 2" }]);
    await at().drain({}, clock(startMs + 1_001));
    expect(at().states()).toMatchObject([{ failures: 2 }]);
    writeFileSync(join(at().replay.home, "well"), "");
    await at().drain({}, clock(startMs + 1_500));
    expect(at().got(), "not due").toEqual([]);
    await at().drain({}, clock(startMs + 10_000));
    expect(at().types()).toEqual(TYPES);
    expect(at().states()).toMatchObject([{ failures: 0, queued: 0, delivered: TYPES.length, dropped: 0 }]);
  });

  test("a drain that the user starts retries immediately", async () => {
    at().write([{ command: `[ -e "$HOME/well" ] || exit 2; ${APPEND}` }]);
    await at().allow();
    at().putAll();
    await at().drain();
    writeFileSync(join(at().replay.home, "well"), "");
    await at().drain({ isEager: true });
    expect(at().types()).toEqual(TYPES);
  });

  test("an envelope that always fails is dropped after ten attempts, and the next ones go on", async () => {
    at().write([
      { command: `read -r line; case $line in *prompt.submit*) exit 1;; esac; echo "$line" >> "$HOME/got.jsonl"` },
    ]);
    await at().allow();
    at().putAll();
    for (let n = 0; n <= MAX_ATTEMPTS; n++) await at().drain({ isEager: true });
    expect(at().types()).toEqual(TYPES.filter((type) => type !== "prompt.submit"));
    expect(at().states()).toMatchObject([{ dropped: 1, queued: 0, delivered: TYPES.length - 1 }]);
  });

  test("a command that hangs is killed, other commands and the export go on", async () => {
    at().replay.env = { OPENHOOK_OTEL_BRIDGE_TIMEOUT_MS: "4000" };
    at().write([{ command: "sleep 60" }, { command: APPEND }]);
    await at().allow();
    at().putAll();
    const { spans } = await at().drain();
    expect(spans).toBeGreaterThan(0);
    expect(at().types()).toEqual(TYPES);
    expect(at().states()).toMatchObject([
      { queued: TYPES.length, failures: 1, lastReason: "it took longer than 4000 ms" },
      { queued: 0, delivered: TYPES.length },
    ]);
  });

  test("beyond the limits the oldest are dropped and counted", async () => {
    at().replay.env = { OPENHOOK_OTEL_BRIDGE_MAX_QUEUED: "3" };
    at().write([{ command: "exit 1" }]);
    await at().allow();
    at().putAll();
    await at().drain();
    await at().drain();
    expect(at().states()).toMatchObject([{ queued: 3, dropped: TYPES.length - 3 }]);
    at().replay.env = { OPENHOOK_OTEL_BRIDGE_MAX_AGE_DAYS: "1" };
    await at().drain({}, clock(Date.now() + 86_500_000));
    expect(at().states()).toMatchObject([{ queued: 0, dropped: TYPES.length }]);
  });
});
