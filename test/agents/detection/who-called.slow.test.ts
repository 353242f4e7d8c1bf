// Slow: only `npm run test:all` runs it. Payloads under every other agent's registration; detection.test.ts has
// those that were recorded there.
// A hook's `--source` says who registered it, not who runs it: several agents run the hooks in other agents' settings.
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { detect } from "#agents/detect.ts";
import { RECORDED_VARIABLES } from "#agents/intake.const.ts";
import { allAgents } from "#agents/registry.ts";
import type { Agent } from "#core/model/agent.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { extrasOf } from "#core/rules/extras.lazy.ts";
import { type RecordedPayload, recordedPayloads } from "../../session/recorded.ts";
import { type DocumentedCall, intakeOf, linesOf, payloadOf } from "../../support/documented.ts";

const HERE = dirname(fileURLToPath(import.meta.url));
const agents = await allAgents();

/** Agents with payloads that nothing distinguishes from another agent's, with the reason. The command line decides. */
const EQUAL: Readonly<Record<string, string>> = {
  kiro: "older versions send an event, a folder and a tool, as all agents with this contract; the variables are not recorded",
  kilo: "built from OpenCode's code, it has the same payloads; those of our plugin name the agent",
};

/** Agents whose payloads are taken for another's if the command line names that one. */
const LIKE: Readonly<Record<string, readonly string[]>> = { opencode: ["kilo"] };

/** Payloads with the agent that sent them: all recordings, the documented cases, and one per event of newer agents. */
const payloads: readonly RecordedPayload[] = [
  ...recordedPayloads(),
  ...linesOf<RecordedPayload>(join(HERE, "recorded.jsonl")),
  ...documented("kiro"),
].filter(({ source, payload }) => agents.some((agent) => agent.source === source) && payload !== undefined);

const isLike = (own: string, source: string | undefined): boolean => LIKE[own]?.includes(source ?? "") === true;

const detected = ({ event, env, payload }: RecordedPayload, source: string | undefined): Agent | undefined =>
  detect(agents, payload, facts({ event, env, ...(source !== undefined && { source }) }));

describe.each([...new Set(payloads.map(({ source }) => source))])("%s", (own) => {
  const sent = payloads.filter(({ source }) => source === own);
  test(`is found no matter who registered the hook, also if nobody is named${EQUAL[own] === undefined ? "" : `; not always: ${EQUAL[own]}`}`, () => {
    const others =
      EQUAL[own] === undefined
        ? [undefined, ...agents.map(({ source }) => source)].filter((source) => !isLike(own, source))
        : [own];
    const wrong = sent.flatMap((one) =>
      others.flatMap((source) => {
        const found = detected(one, source)?.source;
        return found === own ? [] : [`${one.event} registered for ${source}: ${found}`];
      }),
    );
    expect([...new Set(wrong)]).toEqual([]);
  });
  test("its events are the same under every registration, and under every spelling of the event's name", () => {
    const card = agents.find(({ source }) => source === own);
    for (const { event, env, payload } of sent) {
      const eventsAs = (source: string, name: string) =>
        card?.toEvents(payload, facts({ source, event: name, env })).map((one) => ({ ...one, at: extrasOf(one) }));
      const names = typeof Object(payload).hook_event_name === "string" ? [event, pascalCase(event)] : [event];
      for (const name of names) expect(eventsAs("claude-code", name), event).toEqual(eventsAs(own, event));
    }
  });

  test("an event with a time counts once if two registrations report it", () => {
    const card = agents.find((agent) => agent.source === own);
    expect(card).toBeDefined();
    for (const { event, env, payload } of sent) {
      if (Object(payload).timestamp === undefined) continue;
      const idsAs = (source: string, timeMs: number, hookPid: number) =>
        card?.toEvents(payload, { ...facts({ source, event, env, hookPid }), timeMs }).map(({ id }) => id);
      expect(idsAs("claude-code", 5_000, 7), event).toEqual(idsAs(own, 5_040, 8));
    }
  });
});

test("a mark decides, whatever else a payload has: new members never refuse it", () => {
  const added = { brand_new_member: "x", hookKind: 1, model_settings: {}, note: null };
  for (const one of payloads) {
    if (EQUAL[one.source] !== undefined || typeof one.payload !== "object") continue;
    const payload = { ...one.payload, ...added };
    expect(detected({ ...one, payload }, "claude-code")?.source, `${one.source} ${one.event}`).toBe(one.source);
  }
});

test("variables that an agent inherits from the agent that started it prove nothing", () => {
  const outer = { CLAUDE_PID: "1", CLAUDE_CODE_SESSION_ID: "outer", CRUSH: "1", CRUSH_SESSION_ID: "outer" };
  for (const one of payloads) {
    if (EQUAL[one.source] !== undefined) continue;
    const env = { ...outer, ...one.env };
    expect(detected({ ...one, env }, "claude-code")?.source, `${one.source} ${one.event}`).toBe(one.source);
  }
});

// --- internal ---

const facts = (rest: Partial<IntakeFacts>): IntakeFacts => ({
  timeMs: Date.UTC(2026, 9, 5, 12),
  payloadBytes: 2,
  truncated: false,
  ...rest,
  env: Object.fromEntries(Object.entries(rest.env ?? {}).filter(([name]) => RECORDED_VARIABLES.includes(name))),
});

const pascalCase = (name: string): string => name.replace(/^./, (letter) => letter.toUpperCase());

function documented(source: string): readonly RecordedPayload[] {
  const folder = join(HERE, "..", source);
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name }) => linesOf<DocumentedCall>(join(folder, name, "calls.jsonl")))
    .flatMap((call) => {
      const { event = "", env } = intakeOf(call);
      const { ok, value } = payloadOf(call, intakeOf(call));
      return ok ? [{ source, event, env, payload: value }] : [];
    });
}
