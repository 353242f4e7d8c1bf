// Model calls that are no part of the conversation are in the totals, and are listed separately.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { show } from "#commands/show.ts";
import { contextAt } from "../support/context.ts";
import { CASES, Replay } from "../support/replay.ts";
import type { Expected } from "../support/summary.ts";

interface Shown {
  readonly model_calls: readonly {
    readonly response_id: string;
    readonly purpose: string | null;
    readonly input: number;
  }[];
  readonly totals: Readonly<Record<string, number>>;
  readonly hidden_totals: Readonly<Record<string, number>> | null;
  readonly spans: readonly { readonly attributes: Readonly<Record<string, unknown>> }[];
}

let replay: Replay | undefined;
afterEach(() => replay?.remove());

const recorded = (source: string, name: string): Expected =>
  JSON.parse(readFileSync(join(CASES, source, name, "expected.json"), "utf8")) as Expected;

async function shown(sessionId: string, json: boolean): Promise<string> {
  const { context, out } = contextAt((replay as Replay).places, {});
  expect(await show(sessionId, { json, envelopes: false }, context)).toBe(0);
  return out();
}

async function collect(source: string, name: string): Promise<void> {
  replay = new Replay(source, name);
  for (const call of replay.calls) replay.put(call);
  await replay.drain({ endIdle: true });
}

test.each([
  ["qwen-code", "multi-turn", ["memory"]],
  ["qwen-code", "interactive-clear", ["memory"]],
  ["qwen-code", "basic", []],
  ["kimi", "compact-switch-resume", ["compaction"]],
  ["goose", "compact-switch-resume", ["compaction"]],
] as const)("%s %s: hidden calls for %j", async (source, name, purposes) => {
  await collect(source, name);
  const found = new Set<string>();
  for (const session of recorded(source, name).sessions) {
    const got = JSON.parse(await shown(session.session_id, true)) as Shown;
    const hidden = got.model_calls.filter(({ purpose }) => purpose !== null);
    for (const { purpose } of hidden) found.add(String(purpose));
    // All calls are in the totals, which are those of the recording
    expect(got.totals).toMatchObject({ model_calls: session.totals.model_calls, input: session.totals.input });
    const sum = hidden.reduce((all, { input }) => all + input, 0);
    if (hidden.length === 0) expect(got.hidden_totals).toBeNull();
    else expect(got.hidden_totals).toMatchObject({ model_calls: hidden.length, input: sum });
    const spans = got.spans.flatMap(({ attributes: of }) => of["openhook.model_call.purpose"] ?? []);
    expect(spans.sort()).toEqual(hidden.map(({ purpose }) => purpose).sort());
    const text = await shown(session.session_id, false);
    if (hidden.length > 0) expect(text).toContain(`of these hidden: ${hidden.length} model call`);
    else expect(text).not.toContain("hidden");
  }
  expect([...found]).toEqual(purposes);
});
