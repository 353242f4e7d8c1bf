import { dirname } from "node:path";
import { afterAll, expect, test } from "vitest";
import claudeCode from "../../src/agents/claude-code/index.ts";
import { readSession } from "../../src/import/read.ts";
import { redact } from "../../src/privacy/redact.ts";
import { MadeFiles } from "../support/at-once.ts";

const made = new MadeFiles();
afterAll(() => made.remove());

const LINE =
  '{"uuid":"u1","timestamp":"2026-11-21T10:00:00.000Z","type":"user","message":{"role":"user","content":"a question"}}\n';

test("a key is heard while one session after the other is read without waiting", async () => {
  const files = made.put([{ bytes: Buffer.from(LINE) }]);
  const roots = files.map(({ path }) => dirname(path));
  const task = { source: "claude-code", sessionId: "s1", files, roots };
  let heard = 0;
  const others = setInterval(() => heard++, 1);
  const untilMs = performance.now() + 300;
  let facts: unknown;
  while (performance.now() < untilMs) facts = (await readSession(task, claudeCode, redact, true)).session?.packed.facts;
  clearInterval(others);
  expect(facts).toBeInstanceOf(Uint8Array);
  expect(heard).toBeGreaterThan(0);
});
