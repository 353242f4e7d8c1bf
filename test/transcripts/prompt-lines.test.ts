import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { allAgents, findAgent } from "#agents/registry.ts";
import { promptLines } from "#collect/transcripts/first-prompt.ts";
import { movedRootsOf } from "#collect/transcripts/transcript-roots.ts";
import { importPast } from "#commands/import.ts";
import { loadConfig } from "#config/load.ts";
import { INITIAL_OFFSET } from "#core/model/initial-offset.ts";
import type { ReadOptions } from "#core/model/transcript-reader.ts";
import { protectionOf } from "#core/privacy/protection.ts";
import { recentSessions } from "#store/queries.ts";
import { readStore } from "#store/read-only.ts";
import { contextAt } from "../support/context.ts";
import { Replay } from "../support/replay.ts";

let at: Replay;
afterEach(() => at.remove());

async function linesOf(env: Readonly<Record<string, string>> = {}): Promise<readonly (string | undefined)[]> {
  const { context } = contextAt(at.places, { env });
  const stop = new AbortController().signal;
  await importPast([at.source], { dryRun: false, export: false, json: false, stop }, context);
  const loaded = await loadConfig(context);
  const sessions = readStore(at.places.storePath, (db) => recentSessions(db, 20)) ?? [];
  expect(sessions.length).toBeGreaterThan(0);
  const { redactSecrets: redact } = await protectionOf(loaded.config.redaction, at.home);
  const lines = await promptLines(
    {
      places: at.places,
      loaded,
      agents: await allAgents(),
      redact,
      movedRoots: (sources) => readStore(at.places.storePath, (db) => movedRootsOf(db, sources)) ?? new Map(),
      startClock: () => () => true,
    },
    sessions,
  );
  return [...lines.values()];
}

/** Every byte in the state directory. */
const stateText = (): string =>
  readdirSync(at.places.stateDir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"))
    .join("\n");

describe("first prompt lines", () => {
  test.each([
    ["claude-code", "Look at src and tell me where to add a discount"],
    ["codex", "What is the VAT rate in src/price.js?"],
    ["opencode", "What is the VAT rate?"],
  ])("are read from the files of %s, and not stored", async (source, line) => {
    at = new Replay(source, "basic");
    expect(await linesOf()).toEqual([line]);
    expect(stateText()).not.toContain(line);
  });

  test("are commands as they were typed", async () => {
    at = new Replay("claude-code", "rare-events");
    expect(await linesOf()).toEqual(["/audit src"]);
  });

  test("have no secrets, and only the first line", async () => {
    const secret = `ghp_${"a1B2".repeat(9)}`;
    const edit = (text: string): string => text.replaceAll("Look at src", `\\n  Use ${secret}\\nthen look at src`);
    at = new Replay("claude-code", "basic", { edit });
    const [line = ""] = await linesOf();
    expect(line).toMatch(/^Use /);
    expect(line).not.toContain(secret);
    expect(line).not.toContain("then");
  });

  test("are not read when titles are off", async () => {
    at = new Replay("claude-code", "basic");
    expect(await linesOf({ OPENHOOK_OTEL_DISPLAY_TITLES: "false" })).toEqual([]);
  });

  test.each([
    ["many lines", 4_000, 1],
    ["a long line", 1, 300_000],
  ])("are found behind %s", async (_, lines, characters) => {
    const before = `${JSON.stringify({ type: "queue-operation", content: "x".repeat(characters) })}\n`.repeat(lines);
    const edit = (text: string, path: string): string => (path === "hooks.jsonl" ? text : before + text);
    at = new Replay("claude-code", "basic", { edit });
    expect(await linesOf()).toEqual(["Look at src and tell me where to add a discount"]);
  });

  test.each([
    ["claude-code", "rare-events"],
    ["codex", "basic"],
    ["gemini-cli", "basic"],
    ["copilot", "basic"],
  ])("end the reading of a file of %s, with nothing to store", async (source, name) => {
    at = new Replay(source, name);
    at.writeTranscripts();
    const reader = (await findAgent(source))?.transcript;
    const { default: transcript } = await (reader ?? (() => expect.fail("no reader")))();
    const roots = transcript.roots(at.home, {});
    const read = async (untilPrompt?: ReadOptions["untilPrompt"]) => {
      for await (const located of transcript.locate({ home: at.home, roots, onProblem: expect.fail })) {
        const [file] = await transcript.files({ ...located, home: at.home, roots });
        if (file === undefined) continue;
        const options = { content: true, ...(untilPrompt !== undefined && { untilPrompt }) };
        for await (const batch of transcript.read({ ...file, roots }, INITIAL_OFFSET, options)) return batch;
      }
      return expect.fail("no batch");
    };
    const whole = await read();
    const isPrompt = ({ kind }: { readonly kind: string }): boolean => kind === "prompt";
    const found = await read((entries) => entries.some(isPrompt));
    expect(found.entries.filter(isPrompt)).toEqual(whole.entries.filter(isPrompt).slice(0, 1));
    expect(found.entries.length).toBeLessThan(whole.entries.length);
    expect(found.next.memo).toEqual({});
  });

  test("are not searched far from the beginning", async () => {
    const before = `${JSON.stringify({ type: "queue-operation", content: "x".repeat(300_000) })}\n`.repeat(20);
    const edit = (text: string, path: string): string => (path === "hooks.jsonl" ? text : before + text);
    at = new Replay("claude-code", "basic", { edit });
    expect(await linesOf()).toEqual([undefined]);
  });

  test("are missing if the file is gone", async () => {
    at = new Replay("claude-code", "basic");
    expect(await linesOf()).toHaveLength(1);
    rmSync(at.transcriptRoot, { recursive: true });
    expect(await linesOf()).toEqual([undefined]);
  });
});
