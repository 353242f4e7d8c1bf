import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, test } from "vitest";
import { ensureBuilt, ROOT } from "../support/program.ts";
import { compare } from "./compare.ts";
import { type Installed, install } from "./install.ts";
import { NoProgramError } from "./no-program.ts";
import type { Program } from "./programs/program.ts";
import { NO_PROGRAM } from "./programs.ts";
import { SCENARIOS } from "./scenarios.ts";

/** Folder for downloads, which is kept. */
export const CACHE = resolve(
  process.env["OPENHOOK_LIVE_CACHE"] ?? join(ROOT, "node_modules", ".cache", "openhook-live"),
);
/** Other versions than the pinned ones, e.g. `codex@0.170.0,cline@3.1.0`. */
const VERSIONS = new Map(
  (process.env["OPENHOOK_LIVE_VERSIONS"] ?? "").split(",").map((pair) => {
    const [source = "", version = ""] = pair.split("@");
    return [source, version] as const;
  }),
);
/**
 * Runs every scenario with these programs, and prints what ran and what did not.
 *
 * @param others sources of agents that are reported too, because there is no program of theirs
 */
export function testAgents(programs: readonly Program[], others: readonly string[] = []): void {
  /** Result of each agent, and of each scenario that is left out. */
  const report = new Map(
    others.map((source) => [source, `NOT RUN: ${NO_PROGRAM[source] ?? "not in the table of programs"}`]),
  );
  beforeAll(ensureBuilt);
  for (const program of programs) {
    describe(program.source, () => {
      let installed: Installed | undefined;

      beforeAll(() => {
        try {
          installed = install(program, CACHE, VERSIONS.get(program.source));
          report.set(program.source, `ran, version ${installed.version}`);
        } catch (error) {
          report.set(program.source, `NOT RUN: ${String(error)}`);
          if (!(error instanceof NoProgramError)) throw error;
        }
      });

      for (const [name, scenario] of Object.entries(SCENARIOS)) {
        const isDescribed = scenario.isExtended !== true || program.extensions !== undefined;
        const reason = program.cannot?.[name] ?? (isDescribed ? undefined : "its skills and servers are not described");
        if (reason !== undefined) report.set(`${program.source}, ${name}`, `NOT RUN: ${reason}`);
        else if (scenario.isExtended) for (const [part, why] of missingIn(program)) report.set(part, `NOT RUN: ${why}`);
        test.skipIf(reason !== undefined)(`${name}: ${scenario.title}`, async ({ skip }) => {
          if (installed === undefined) return skip("no such program on this platform");
          await compare({ program, name, scenario, installed });
        });
      }
    });
  }
  afterAll(() => {
    for (const { source } of programs) if (!report.has(source)) report.set(source, "NOT RUN: not asked for");
    console.log(["", ...[...report].sort().map(([what, outcome]) => `${what}: ${outcome}`), ""].join("\n"));
  });
}

// --- internal ---

/** What a program with skills and servers cannot do with them. */
const missingIn = ({ source, extensions }: Program): readonly (readonly [part: string, why: string])[] => [
  ...(extensions?.loads === undefined
    ? ([[`${source}, skills`, "its model reads them as files, so no call names one"]] as const)
    : []),
  ...(extensions?.calls === undefined
    ? ([[`${source}, MCP servers`, "its model cannot call their tools by itself"]] as const)
    : []),
];
