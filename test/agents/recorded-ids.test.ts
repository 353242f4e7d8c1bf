// Tests send all recordings to one backend, where sessions with the same id would be one.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { allAgents } from "#agents/registry.ts";
import { CASES } from "../support/replay.ts";
import type { Expected } from "../support/summary.ts";

test("no two recordings of an agent have a session id in common", async () => {
  const found = new Map<string, string>();
  // Their sessions get other ids on each machine
  const local = (await allAgents()).filter((agent) => agent.capabilities.sessionIds === "local");
  for (const { name: source } of readdirSync(CASES, { withFileTypes: true }).filter((entry) => entry.isDirectory())) {
    if (local.some((agent) => agent.source === source)) continue;
    for (const name of readdirSync(join(CASES, source))) {
      const path = join(CASES, source, name, "expected.json");
      if (!existsSync(path)) continue;
      const { sessions }: Expected = JSON.parse(readFileSync(path, "utf8"));
      for (const { session_id } of sessions) {
        const id = `${source} ${session_id}`;
        expect(found.get(id), `${source}/${name}: ${session_id}`).toBeUndefined();
        found.set(id, name);
      }
    }
  }
  expect(found.size).toBeGreaterThan(70);
});
