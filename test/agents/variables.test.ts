import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { RECORDED_VARIABLES } from "#agents/intake.const.ts";
import { allAgents } from "#agents/registry.ts";
import { ROOT } from "../support/replay.ts";

test("hook.sh and the plugins have the current lists of variables and Node options", async () => {
  const check = promisify(execFile)(process.execPath, ["scripts/hook-variables.mjs", "--check"], { cwd: ROOT });
  await expect(check).resolves.toMatchObject({ stderr: "" });
});

test("every variable that an adapter reads is declared", async () => {
  for (const { source } of await allAgents()) {
    const folder = join(ROOT, "src", "agents", source);
    const read = readdirSync(folder)
      .filter((name) => name === "adapter.ts" || name === "transcript.ts")
      .flatMap((name) => readVariables(readFileSync(join(folder, name), "utf8")));
    expect(
      read.filter((name) => !RECORDED_VARIABLES.includes(name)),
      source,
    ).toEqual([]);
  }
});

test("names are valid, and none looks like a secret", () => {
  for (const name of RECORDED_VARIABLES) {
    expect(name).toMatch(/^[A-Z][A-Z0-9_]*$/);
    expect(name).not.toMatch(/TOKEN|KEY|SECRET|PASSWORD|AUTH/);
  }
});

/** Variable names read as `env["NAME"]`. */
const readVariables = (text: string): readonly string[] =>
  [...text.matchAll(/\benv\["([A-Z_]+)"\]/g)].map(([, name = ""]) => name);
