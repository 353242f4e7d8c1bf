import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import reader from "#agents/codex/transcript.ts";
import { INITIAL_OFFSET } from "#core/model/initial-offset.ts";
import type { TranscriptEntry } from "#core/model/transcript.ts";
import fc from "../../support/properties.ts";
import { runs } from "../../support/whole.ts";

const ID = "01a1fcbb-0000-7000-8000-000000000000";

let home = "";
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "openhook-codex-tier-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true, maxRetries: 10 }));

const tiers = fc.constantFrom("default", "standard", "auto", null, "priority", "fast", "flex", "a later one");
/** A call, settings with a tier, settings that name none. */
const step = fc.oneof(
  fc.constant("call" as const),
  tiers.map((tier) => ({ tier })),
  fc.constant("other settings" as const),
);
type Step = "call" | "other settings" | { readonly tier: string | null };

const STANDARD: readonly (string | null)[] = ["default", "standard", "auto", null];

test.each(["0.145.0", "0.169.0"])("%s: a call outside the standard tier has its tier", async (version) => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), fc.nat(12), async (steps, cut) => {
      const path = join(home, `rollout-2026-11-21T00-00-00-${ID}.jsonl`);
      const lines = [
        { timestamp: "2026-11-21T10:00:00.000Z", type: "session_meta", payload: { id: ID, cli_version: version } },
        ...steps.map((one, n) => lineOf(one, n, version)),
      ].map((line) => `${JSON.stringify(line)}\n`);
      // In two drains: the tier lasts over the state that is stored between them
      writeFileSync(path, lines.slice(0, cut + 1).join(""));
      const first = await read(path);
      writeFileSync(path, lines.join(""));
      const entries = [...first.entries, ...(await read(path, first.next)).entries];
      const calls = entries.flatMap((entry) =>
        entry.kind === "model_call" ? [entry.tier === undefined ? undefined : true] : [],
      );
      expect(calls).toEqual(expected(steps));
    }),
    { numRuns: runs(60) },
  );
});

function lineOf(one: Step, n: number, version: string): object {
  const timestamp = new Date(Date.UTC(2026, 10, 21, 10, 0, n + 1)).toISOString();
  if (one === "call") {
    const usage = (input: number) => ({ input_tokens: input, cached_input_tokens: 0, output_tokens: input });
    const total = usage(100 * (n + 1));
    return version === "0.169.0"
      ? {
          timestamp,
          type: "token_usage_record",
          payload: { turn_id: "t", response_id: `resp_${n}`, usage: usage(7), thread_token_usage: total },
        }
      : { timestamp, type: "event_msg", payload: { type: "token_count", info: { total_token_usage: total } } };
  }
  const settings = { model: "gpt-5.5", ...(typeof one === "object" && { service_tier: one.tier }) };
  return { timestamp, type: "event_msg", payload: { type: "thread_settings_applied", thread_settings: settings } };
}

function expected(steps: readonly Step[]): (true | undefined)[] {
  let hasOther: true | undefined;
  return steps.flatMap((one) => {
    if (typeof one === "object") hasOther = STANDARD.includes(one.tier) ? undefined : true;
    return one === "call" ? [hasOther] : [];
  });
}

async function read(path: string, from = INITIAL_OFFSET) {
  const entries: TranscriptEntry[] = [];
  let next = from;
  const [file] = await reader.files({ sessionId: ID, home, path });
  if (file === undefined) throw new Error("no file");
  for await (const batch of reader.read(file, from)) {
    entries.push(...batch.entries);
    next = batch.next;
  }
  return { entries, next: JSON.parse(JSON.stringify(next)) as typeof next };
}
