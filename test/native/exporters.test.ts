import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { find as findOfClaudeCode } from "#agents/claude-code/native-export.ts";
import { findAgent } from "#agents/registry.ts";
import { readText } from "#agents/shared/native/exporters.ts";
import type { NativeExporter, ReadText } from "#core/model/native-export.ts";

const CASES = join(import.meta.dirname, "exporters");
const root = mkdtempSync(join(tmpdir(), "openhook-exporters-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Texts, or JSON, below `home`, `project` and `etc`. */
interface Case {
  readonly files: Readonly<Record<string, unknown>>;
  readonly env: Readonly<Record<string, string>>;
  readonly expected: readonly NativeExporter[];
}

const IS_PATH = /^(?:home|etc)\//;

async function exportersOf(agent: string, name: string, { files, env }: Case): Promise<readonly NativeExporter[]> {
  const folder = join(root, agent, name);
  const at = (path: string): string => join(folder, ...path.split("/"));
  for (const path of ["home", "project", "etc"]) mkdirSync(at(path), { recursive: true });
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(at(path)), { recursive: true });
    writeFileSync(at(path), typeof content === "string" ? content : JSON.stringify(content, null, 2));
  }
  const moved = Object.entries(env).map(([key, value]) => [key, IS_PATH.test(value) ? at(value) : value]);
  const target = { home: at("home"), project: at("project"), env: Object.fromEntries(moved) };
  // An administrator's files
  const read: ReadText = (path) => readText(path.startsWith(folder) ? path : join(folder, path));
  const policies = {
    folder: at("etc/claude-code"),
    system: async () => ({ administrator: undefined, user: undefined }),
  };
  const native = (await (await findAgent(agent))?.nativeExport?.())?.default;
  const found =
    agent === "claude-code" ? await findOfClaudeCode(target, read, policies) : await native?.find(target, read);
  return (found ?? []).map((one) => ({ ...one, where: one.where.replace(`${folder}/`, "").replace(" in /", " in ") }));
}

describe.skipIf(process.platform !== "linux")("finds which exporters of its own are on", () => {
  for (const agent of readdirSync(CASES)) {
    it.each(readdirSync(join(CASES, agent)).map((file) => file.replace(/\.json$/, "")))(
      `${agent}: %s`,
      async (name) => {
        const given: Case = JSON.parse(readFileSync(join(CASES, agent, `${name}.json`), "utf8"));
        const found = await exportersOf(agent, name, given);
        expect(found).toEqual(given.expected);
        expect(JSON.stringify(found)).not.toContain("canary");
      },
    );
  }
});
