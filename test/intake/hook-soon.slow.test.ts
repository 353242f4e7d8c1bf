// Slow: only `npm run test:all` runs it. One drain for many events, which takes seconds; intake/hook.test.ts starts drains.
import { readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type intakes, makeSandbox, readInbox, run, shellIntakes, sleepMs, until } from "./intakes.ts";

const PAYLOAD = JSON.stringify({ session_id: "s-1", hook_event_name: "PreToolUse" });

/** The drains that were started. */
const drained = (dir: string): readonly string[] => readdirSync(dir).filter((name) => name.endsWith(".json"));

test("hook.sh starts one drain for many events, some seconds later, on request", async () => {
  const check = async (intake: ReturnType<typeof intakes>[number]) => {
    const own = makeSandbox();
    try {
      const soon = intake.command(own, { source: "claude-code", drain: "soon", payload: { argument: PAYLOAD } });
      const outcomes = await Promise.all([1, 2, 3, 4].map(() => run(soon, { env: { HOME: own.home } })));
      for (const { durationMs } of outcomes) expect(durationMs, intake.title).toBeLessThan(4_000);
      expect(readInbox(own), intake.title).toHaveLength(4);
      expect(drained(own.drainedDir), intake.title).toEqual([]);
      await until(() => (drained(own.drainedDir).length > 0 ? true : undefined));
      await sleepMs(300);
      expect(drained(own.drainedDir), intake.title).toHaveLength(1);
      expect(readdirSync(own.stateDir)).toEqual(["inbox"]);
      // A hook that died while waiting delays others for a minute at most
      writeFileSync(join(own.stateDir, "drain.soon"), "");
      utimesSync(join(own.stateDir, "drain.soon"), new Date(Date.now() - 130_000), new Date(Date.now() - 130_000));
      await run(soon, { env: { HOME: own.home } });
      await until(() => (drained(own.drainedDir).length === 2 ? true : undefined));
    } finally {
      own.remove();
    }
  };
  await Promise.all(shellIntakes().map(check));
});
