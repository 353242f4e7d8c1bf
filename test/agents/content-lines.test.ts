// What a person sees of prompts and calls: read from the agents' own files, for every recording, drained and imported.
import { rmSync } from "node:fs";
import { afterEach, expect, test } from "vitest";
import { contentLines, contentOfPart } from "#collect/transcripts/session-content.ts";
import type { WantedContent } from "#core/model/content.ts";
import { firstLine } from "#core/rules/one-line.ts";
import { spanIdOf } from "#core/telemetry/ids.ts";
import { viewOf } from "#show/report/session-view.ts";
import { linesOfSpans, partOfSpan } from "#show/report/story.ts";
import { recentSessions } from "#store/queries.ts";
import { readStore } from "#store/read-only.ts";
import { whenReleased } from "#store/release.ts";
import { recordedCases, recordedHome } from "../import/home.ts";
import { importInto } from "../import/run.ts";
import { clockAt } from "../support/clock.ts";
import type { Replay } from "../support/replay.ts";
import { firstRecordings } from "../support/whole.ts";
import { promptsOf, WRITTEN } from "../support/written.ts";

let replay: Replay | undefined;
afterEach(() => replay?.remove());

const cases = firstRecordings((await recordedCases()).filter(({ source }) => WRITTEN[source] !== undefined));

test.each(cases)(
  "$source $name: prompts and calls are those of its files, after hooks and after an import",
  async (of) => {
    const home = await recordedHome(of);
    replay = home.replay;
    const nowMs = Math.max(...home.calls.map((call) => Date.parse(call.received_at)));
    for (const call of home.calls) replay.put(call);
    await replay.drain({ endIdle: true }, clockAt(nowMs));
    await expectLines(home);
    await whenReleased(() => rmSync(home.replay.places.stateDir, { recursive: true }));
    await importInto(replay, of.source);
    await expectLines(home);
  },
);

// --- internal ---

async function expectLines({
  replay: { places },
  reader,
  home,
  roots,
  replay: of,
}: Awaited<ReturnType<typeof recordedHome>>) {
  const agents = [(await recordedCases()).find(({ source }) => source === of.source)?.agent].flatMap(
    (one) => one ?? [],
  );
  const settings = { semconv: "both", traceScope: "session" } as const;
  const views = readStore(places.storePath, (db) =>
    recentSessions(db, 100).map((stored) => viewOf(db, stored, { agents }, settings)),
  );
  const written = WRITTEN[of.source]?.(of);
  const query = { home, roots, hasTime: () => true };
  const prompts = promptsOf(of).map((prompt) => firstLine(prompt));
  expect(views).toBeDefined();
  let [asks, answered] = [0, 0];
  for (const view of views ?? []) {
    const lines = await contentLines(reader, view.stored, { ...query, redact: (text) => text });
    const bySpan = linesOfSpans(view, lines);
    for (const { tool } of view.toolCalls) {
      // Of a call that ran again after a kill, the file has the id of the first run
      const given = (written?.calls.get(tool.callId) ?? written?.calls.get(tool.callId.replace(/#.*$/, "")))?.given;
      const spanId = spanIdOf(view.facts, "tool_call", tool.callId);
      if (given === undefined || JSON.stringify(given) === "{}") continue;
      const texts = allTexts(given);
      if (texts.length === 0) expect(bySpan.get(spanId)?.text, tool.callId).toBe(undefined);
      else expect(texts, tool.callId).toContain(bySpan.get(spanId)?.text);
      const wanted = partOfSpan(view, bySpan, spanId);
      const shown = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));
      const content = wanted && (await contentOfPart(reader, view.stored, wanted, { ...query, shown }));
      const shownArguments = content?.arguments ?? "";
      expect(shownArguments, tool.callId).toBe(typeof given === "string" ? given : shownArguments);
      if (typeof given !== "string") expect(JSON.parse(shownArguments)).toEqual(given);
    }
    // Some recordings were not made by a scenario, and some agents can keep no file of a session
    const isAsked = prompts.length > 0 && lines.length > 0;
    for (const turn of isAsked ? view.turnList.filter(({ origin }) => origin === "human") : []) {
      const line = bySpan.get(spanIdOf(view.facts, "turn", turn.key));
      expect(prompts, turn.key).toContain(line?.text);
      const contentOf = async (wanted: WantedContent | undefined) =>
        wanted && (await contentOfPart(reader, view.stored, wanted, { ...query, shown: (value) => String(value) }));
      const asked = await contentOf(partOfSpan(view, bySpan, spanIdOf(view.facts, "turn", turn.key)));
      expect(prompts, turn.key).toContain(firstLine(asked?.prompt));
      asks++;
      const told = asked?.answer;
      if (told !== undefined) {
        answered++;
        expect(
          written?.answers.some((answer) => told.includes(answer)),
          `${turn.key}: ${told}`,
        ).toBe(true);
      }
      // The turn's answer is one of those of its calls, unless the agent deleted their records
      const isWhole = view.calls.every(({ call }) => call.covers !== "removed");
      const answers = new Set<string>();
      for (const { call } of view.calls) {
        if (call.agentId !== undefined || call.endMs < turn.startMs || call.startMs > turn.endMs) continue;
        const { answer } = (await contentOf({ subject: "model_call", key: call.key })) ?? {};
        if (answer !== undefined) answers.add(answer);
      }
      if (answers.size > 0 && isWhole) expect([...answers], turn.key).toContain(told);
    }
  }
  // Grok's lines can be parts of a text, so its answers are not read
  if (asks > 0 && written?.answers.length !== 0 && of.source !== "grok") expect(answered).toBeGreaterThan(0);
}

/** Every text in a call's arguments, as a line can show it. */
function allTexts(given: unknown): readonly string[] {
  const texts: string[] = [];
  const walk = (value: unknown): void => {
    if (typeof value === "string") {
      const line = value.split("\n").find((text) => text.trim() !== "");
      if (line !== undefined) texts.push(line.replace(/\s+/g, " ").trim().slice(0, 200));
      texts.push([...value.matchAll(/^\*\*\* \w+ File: (.+)$/gm)].map(([, path]) => path).join(", "));
    } else if (Array.isArray(value)) {
      texts.push(value.filter((item) => typeof item === "string").join(" "));
      const ofItems = value.map(allTexts);
      for (const index of [0, 1, 2]) texts.push(ofItems.flatMap((item) => item[index] ?? []).join(", "));
      value.forEach(walk);
    } else if (typeof value === "object" && value !== null) Object.values(value).forEach(walk);
  };
  walk(given);
  return texts.filter((text) => text !== "").map((text) => text.slice(0, 200));
}
