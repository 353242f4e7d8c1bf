import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { complete, completion } from "#commands/completion.ts";
import { addAgentCommands } from "#commands/definitions/agents.ts";
import { addCollectCommands } from "#commands/definitions/collect.ts";
import { addCompletionCommands } from "#commands/definitions/completion.ts";
import { addResultCommands } from "#commands/definitions/results.ts";
import { addSessionCommands } from "#commands/definitions/sessions.ts";
import { addToolCommands } from "#commands/definitions/tools.ts";
import { placesOf } from "#config/places.ts";
import { setProgramName } from "#kit/suggest.ts";
import { contextAt } from "../support/context.ts";

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
async function offered(...words: readonly string[]): Promise<readonly string[]> {
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
    expect(await offered("re")).toEqual(["report"]);
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

test("completion prints a script that calls this program, by its path if the shell does not find it", async () => {
  await completion("bash", context);
  expect(out()).toContain("< <(openhook-otel complete --");
  setProgramName(() => "node dist/openhook-otel.cjs");
  await completion("bash", context);
  expect(out()).toContain(`< <('${process.execPath}' '/home/dev'\\''s/dist/openhook-otel.cjs' complete --`);
});
