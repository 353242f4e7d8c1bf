// Everything recorded or documented of every agent, with planted values in all texts, at every level; the redactor with every
// adversary; its cost; and its rules as Go's own engine reads them.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { CaptureLevel } from "#core/model/capture.ts";
import type { SpanRecord } from "#core/model/telemetry.ts";
import { redactSpan } from "#core/privacy/records.ts";
import { redactorOf } from "#core/privacy/redact.ts";
import { EMAIL_RULE, HOME_RULES, re2, SECRET_RULES } from "#core/privacy/rules.ts";
import { openDatabase } from "#store/database.ts";
import { canaryRun, recordedCases } from "../../privacy/canary.ts";
import { CANARY, foundIn, Planter, SECRET, withoutPaths } from "../../privacy/plant.ts";
import { ADVERSARIES, FAMILIES, newSeed, SETTINGS_OF_A_SECRET } from "../../privacy/secrets.ts";
import { type Receiver, startReceiver } from "../../receiver/receiver.ts";
import { type DocumentedCall, linesOf } from "../../support/documented.ts";
import { DocumentedRun } from "../../support/documented-run.ts";
import { CASES, Replay } from "../../support/replay.ts";
import { record } from "../record.ts";

let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(() => receiver.close());

describe("planted in every text of every recorded session", () => {
  test.each(["none", "metadata", "redacted"] as const satisfies readonly CaptureLevel[])(
    "with capture %s, no secret is sent, stored, logged or shown",
    async (level) => {
      const cases = recordedCases();
      expect(cases.length).toBeGreaterThan(90);
      const findings: string[] = [];
      const empty: string[] = [];
      let [planted, spans, arrived] = [0, 0, 0];
      for (const [source, name] of cases) {
        const run = await canaryRun(source, name, level, receiver);
        findings.push(...run.findings.map((finding) => `${source}/${name}: ${finding}`));
        if (run.spans === 0) empty.push(`${source}/${name}`);
        planted += run.planted;
        spans += run.spans;
        arrived += run.arrived;
      }
      expect(findings).toEqual([]);
      // A planted payload that no agent recognises proves nothing
      expect(empty.length, empty.join(", ")).toBeLessThan(cases.length / 20);
      expect(planted).toBeGreaterThan(5_000);
      if (level === "redacted") expect(arrived).toBeGreaterThan(1_000);
      record({
        area: "privacy",
        fault: `a secret and a word in every text of every recorded session, capture ${level}`,
        runs: cases.length,
        lost: 0,
        note: `${planted} planted; none of them was sent, stored, logged or shown${level === "redacted" ? ", except the words that redacted allows" : ""}`,
        figures: { planted, spans },
      });
    },
    400_000,
  );
});

describe("planted in every documented payload", () => {
  test("at the default level, no secret is stored or logged", async () => {
    const folders = documentedCases();
    expect(folders.length).toBeGreaterThan(8);
    const findings: string[] = [];
    const planter = new Planter();
    let calls = 0;
    for (const folder of folders) {
      const run = new DocumentedRun();
      try {
        for (const call of linesOf<DocumentedCall>(join(folder, "calls.jsonl"))) {
          const stdin = planter.plant(call.stdin, "", false);
          const env = { ...call.env, MY_TOKEN: `${CANARY} ${SECRET}001` };
          await run.hook({ ...call, env, ...(call.stdin !== undefined && { stdin }) });
          calls++;
        }
        await run.drain(Date.parse("2027-01-01T00:00:00Z"));
        const left = readdirSync(run.places.stateDir, { recursive: true, encoding: "utf8" })
          .map((name) => join(run.places.stateDir, name))
          .filter((path) => statSync(path).isFile() && !path.startsWith(run.places.quarantineDir));
        for (const path of left) {
          const text = readFileSync(path, "latin1");
          // One agent names a written file in the text of its answer, at whose end the word is planted
          findings.push(...foundIn(path, text, [SECRET]), ...foundIn(path, withoutPaths(text), [CANARY]));
        }
        findings.push(...foundIn("log", run.log.join("\n"), [CANARY, SECRET]));
      } finally {
        run.remove();
      }
    }
    expect(findings).toEqual([]);
    record({
      area: "privacy",
      fault: "a secret and a word in every text of every documented payload, capture metadata",
      runs: folders.length,
      eventsIn: calls,
      lost: 0,
      note: `${planter.texts + planter.names} planted`,
    });
  }, 200_000);
});

describe("the redactor", () => {
  test("redacts every value of every family, in any setting", () => {
    const clean = redactorOf();
    const left: string[] = [];
    let runs = 0;
    for (let i = 0; i < 40; i++) {
      for (const [family, familyOf] of Object.entries(FAMILIES)) {
        const { text, core } = familyOf(`${newSeed()}/${i}`);
        for (const [name, settingOf] of Object.entries(SETTINGS_OF_A_SECRET)) {
          runs++;
          if (clean(settingOf(text)).includes(core.slice(0, 12))) left.push(`${family}, ${name}: ${settingOf(text)}`);
        }
      }
    }
    expect(left).toEqual([]);
    record({
      area: "privacy",
      fault: "secrets of every family in prose, JSON, shell, URLs, escapes, base64",
      runs,
      lost: 0,
    });
  }, 120_000);

  test("takes time that grows linearly with the text", () => {
    let worst = 0;
    let slowestUs = 0;
    for (const unit of Object.values(ADVERSARIES)) {
      const tookMs = (length: number): number => {
        const text = unit.repeat(Math.ceil(length / unit.length));
        const clean = redactorOf();
        const startedMs = performance.now();
        clean(text);
        return performance.now() - startedMs;
      };
      tookMs(2_000);
      // The fastest of several runs: other load only adds time
      const quickest = (length: number): number => Math.min(...Array.from({ length: 5 }, () => tookMs(length)));
      const [short, long] = [quickest(25_000), quickest(200_000)];
      worst = Math.max(worst, long / Math.max(short, 2));
      slowestUs = Math.max(slowestUs, (long * 1000) / 200_000);
    }
    // Quadratic would be 64
    expect(worst).toBeLessThan(32);
    record({
      area: "privacy",
      fault: "texts that try to slow down the redactor, at eight times the length",
      runs: Object.keys(ADVERSARIES).length,
      figures: {
        timesTheTime: Math.round(worst * 10) / 10,
        microsecondsPerCharacter: Math.round(slowestUs * 100) / 100,
      },
    });
  }, 200_000);

  test("costs little per span", async () => {
    const replay = new Replay("claude-code", "multi-turn");
    try {
      for (const call of replay.calls) replay.put(call);
      await replay.drain({ endIdle: true });
      const db = openDatabase(replay.places.storePath);
      const records = db
        .prepare("SELECT record FROM spans")
        .all()
        .map((row) => JSON.parse(String(row["record"])) as SpanRecord);
      db.close();
      const clean = redactorOf();
      const all = Array.from({ length: 200 }, (_, i) =>
        records.map((one) => ({ ...one, attributes: { ...one.attributes, run: `run ${i}` } })),
      ).flat();
      for (const one of all) redactSpan(one, clean);
      const startedMs = performance.now();
      for (const one of all) redactSpan(one, clean);
      const us = ((performance.now() - startedMs) * 1000) / all.length;
      expect(us).toBeLessThan(2_000);
      record({
        area: "privacy",
        fault: "spans through the redactor",
        runs: all.length,
        figures: { microsecondsPerSpan: Math.round(us * 10) / 10 },
      });
    } finally {
      replay.remove();
    }
  });

  test("has rules that Go compiles and applies in the same way", (context) => {
    if (spawnSync("go", ["version"]).status !== 0) {
      console.warn("SKIPPED: no go on this machine; test/privacy/rules.test.ts compares with an RE2 in JavaScript");
      return context.skip();
    }
    const rules = [...SECRET_RULES, EMAIL_RULE, ...HOME_RULES];
    const seed = newSeed();
    const texts = Object.values(FAMILIES).flatMap((familyOf) =>
      Object.values(SETTINGS_OF_A_SECRET).map((settingOf) => settingOf(familyOf(seed).text)),
    );
    const theirs = inGo(rules.map(re2), texts);
    for (const [i, rule] of rules.entries()) {
      const pattern = new RegExp(rule.pattern, rule.ignoreCase === true ? "giu" : "gu");
      const ours = texts.map((text) => [...text.matchAll(pattern)].map(([match]) => match));
      expect(theirs[i], `${rule.id}: ${re2(rule)}`).toEqual(ours);
    }
    record({ area: "privacy", fault: "rules compared with Go's RE2", runs: rules.length * texts.length });
  }, 120_000);
});

// --- internal ---

const documentedCases = (): readonly string[] =>
  readdirSync(CASES)
    .map((source) => join(CASES, source))
    .filter((path) => statSync(path).isDirectory())
    .flatMap((path) => readdirSync(path).map((name) => join(path, name)))
    .filter((path) => existsSync(join(path, "calls.jsonl")));

const GO = `package main

import (
	"encoding/json"
	"os"
	"regexp"
)

func main() {
	var in struct{ Patterns, Texts []string }
	if err := json.NewDecoder(os.Stdin).Decode(&in); err != nil {
		panic(err)
	}
	out := make([][][]string, len(in.Patterns))
	for i, pattern := range in.Patterns {
		compiled := regexp.MustCompile(pattern)
		out[i] = make([][]string, len(in.Texts))
		for j, text := range in.Texts {
			found := compiled.FindAllString(text, -1)
			if found == nil {
				found = []string{}
			}
			out[i][j] = found
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(out); err != nil {
		panic(err)
	}
}
`;

function inGo(Patterns: readonly string[], Texts: readonly string[]): readonly (readonly (readonly string[])[])[] {
  const folder = mkdtempSync(join(tmpdir(), "openhook-go-"));
  try {
    writeFileSync(join(folder, "main.go"), GO);
    writeFileSync(join(folder, "go.mod"), "module rules\n\ngo 1.19\n");
    // No network: the standard library is enough
    const env = {
      ...process.env,
      GOFLAGS: "-mod=mod",
      GOPROXY: "off",
      GOCACHE: join(folder, "cache"),
      GOTOOLCHAIN: "local",
    };
    const output = execFileSync("go", ["run", "."], {
      cwd: folder,
      env,
      input: JSON.stringify({ Patterns, Texts }),
      encoding: "utf8",
      maxBuffer: 1 << 28,
    });
    return JSON.parse(output) as string[][][];
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  }
}
