import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Command } from "commander";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { complete, completion } from "#commands/completion.ts";
import { addAgentCommands } from "#commands/definitions/agents.ts";
import { addCollectCommands } from "#commands/definitions/collect.ts";
import { addCompletionCommands } from "#commands/definitions/completion.ts";
import { addResultCommands } from "#commands/definitions/results.ts";
import { addSessionCommands } from "#commands/definitions/sessions.ts";
import { addToolCommands } from "#commands/definitions/tools.ts";
import type { Context } from "#config/context.ts";
import { placesOf } from "#config/places.ts";
import { setProgramName } from "#kit/suggest.ts";
import { openDatabase } from "#store/database.ts";
import { importInto } from "../import/run.ts";
import { contextAt } from "../support/context.ts";
import { Replay } from "../support/replay.ts";

const HOME = join(tmpdir(), "openhook-no-such-home");
const { context, out } = contextAt(placesOf({ env: {}, home: HOME, platform: "linux" }), {
  programPath: "/home/dev's/dist/openhook-otel.cjs",
});

let printed: string[] = [];
beforeEach(() => {
  printed = [];
  vi.spyOn(console, "log").mockImplementation((line: string) => void printed.push(line));
});
afterEach(() => {
  vi.restoreAllMocks();
  setProgramName(() => "openhook-otel");
});

/** What can follow the words. */
const offered = (...words: readonly string[]): Promise<readonly string[]> => offeredAt(context, words);

async function offeredAt(context: Context, words: readonly string[]): Promise<readonly string[]> {
  const program = new Command("openhook-otel");
  const setup = {
    context,
    done: async () => {},
    packageRoot: "",
    hookSource: "",
    interruption: () => AbortSignal.abort(),
  };
  for (const add of [
    addAgentCommands,
    addCollectCommands,
    addSessionCommands,
    addToolCommands,
    addCompletionCommands,
    addResultCommands,
  ])
    add(program, setup);
  printed = [];
  expect(await complete(words, program, context)).toBe(0);
  return printed.slice(0, -1).map((line) => line.split("\t")[0] ?? "");
}

describe("complete", () => {
  test("offers commands and their options, without hidden ones", async () => {
    expect(await offered("re")).toEqual(["receive", "report"]);
    expect(await offered("complet")).toEqual(["completion"]);
    expect(await offered("drain", "--")).toEqual(["--end-idle", "--quiet", "--json", "--help"]);
    expect(await offered("export", "--capture", "")).toEqual(["none", "metadata", "redacted", "full"]);
  });

  test("offers agents that the command accepts", async () => {
    expect(await offered("enable", "cl")).toEqual(["claude-code", "cline"]);
    expect(await offered("enable", "cline", "co")).toContain("codex");
    expect(await offered("enable", "cli-w")).toEqual([]);
    expect(await offered("report", "--agent", "cli-w")).toEqual(["cli-wrapper"]);
  });

  test("offers the dimensions of a report, settings and shells", async () => {
    expect(await offered("report", "agent", "m")).toEqual(["month", "model", "mcp"]);
    expect(await offered("config", "set", "otlp.h")).toEqual([
      "otlp.headers",
      "otlp.headersCommand",
      "otlp.headersFile",
    ]);
    expect(await offered("completion", "")).toEqual(["bash", "zsh", "fish", "powershell"]);
  });
});

describe("names in the store", () => {
  let of: Replay;
  beforeAll(async () => {
    of = new Replay("claude-code", "subagent");
    await importInto(of, "claude-code");
    const db = openDatabase(of.places.storePath);
    const add = db.prepare(
      "INSERT INTO sessions (source, session_id, first_ms, last_ms, agent_version, cwd) VALUES (?, ?, ?, ?, ?, ?)",
    );
    add.run("codex", "a", 1, 1, "0.169.0", "/home/dev/$(touch x)");
    add.run("codex", "b", 2, 2, "0.171.0", "/home/dev/api");
    db.close();
  });
  afterAll(() => of.remove());
  const inStore = (...words: readonly string[]) => offeredAt(contextAt(of.places).context, words);

  test("compare: models, agents and repositories that it has", async () => {
    expect(await inStore("compare", "")).toEqual(["model", "agent", "version", "repository"]);
    expect(await inStore("compare", "model", "")).toEqual(["claude-haiku-5-5", "claude-sonnet-4-5-20250929"]);
    expect(await inStore("compare", "model", "claude-sonnet-4-5-20250929", "x")).toEqual([]);
    expect(await inStore("compare", "agent", "codex", "")).toEqual(["claude-code", "codex"]);
    expect(await inStore("compare", "--since", "30d", "repository", "")).toEqual(["acme-shop", "api"]);
  });

  test("compare version: agents, then the agent's versions, newest first", async () => {
    expect(await inStore("compare", "version", "")).toEqual(["claude-code", "codex"]);
    expect(await inStore("compare", "version", "codex", "")).toEqual(["0.171.0", "0.169.0"]);
    expect(await inStore("compare", "version", "codex", "0.171.0", "0.16")).toEqual(["0.169.0"]);
    expect(await inStore("compare", "version", "--agent", "codex", "0.17")).toEqual(["0.171.0"]);
  });

  test("the filters of other commands", async () => {
    expect(await inStore("report", "--model", "")).toEqual(["claude-haiku-5-5", "claude-sonnet-4-5-20250929"]);
    expect(await inStore("sessions", "--repository", "a")).toEqual(["acme-shop", "api"]);
  });

  test("nothing, and no message, if the store cannot be read", async () => {
    const home = mkdtempSync(join(tmpdir(), "openhook-completion-"));
    try {
      const { places } = { places: placesOf({ env: {}, home, platform: "linux" }) };
      mkdirSync(dirname(places.storePath), { recursive: true });
      writeFileSync(places.storePath, "no database");
      const { context, out, err } = contextAt(places);
      for (const words of [
        ["compare", "model", ""],
        ["compare", "version", ""],
        ["report", "--repository", ""],
      ])
        expect(await offeredAt(context, words)).toEqual([]);
      expect([out(), err()]).toEqual(["", ""]);
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
    expect(await offered("compare", "model", "")).toEqual([]);
  });
});

test("completion prints a script that calls this program, by its path if the shell does not find it", async () => {
  await completion("bash", context);
  expect(out()).toContain("< <(openhook-otel complete --");
  setProgramName(() => "node dist/openhook-otel.cjs");
  await completion("bash", context);
  expect(out()).toContain(`< <('${process.execPath}' '/home/dev'\\''s/dist/openhook-otel.cjs' complete --`);
});
