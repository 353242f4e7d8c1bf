import { readdirSync } from "node:fs";
import { expect } from "vitest";
import { agentNames } from "#agents/registry.ts";
import { MAX_ID_CHARACTERS, MAX_NAME_CHARACTERS, MAX_PATH_CHARACTERS } from "#core/rules/limits.ts";
import { startReceiver } from "../receiver/receiver.ts";
import { GENERIC, RAW, type Sample, samplesOf, spoiled, spoiledAt, VALUES } from "./input-values.ts";
import { InputWorld } from "./input-world.ts";

export interface Tried {
  readonly inputs: number;
  readonly families: number;
  readonly quarantined: number;
  readonly spans: number;
}

/**
 * Unusual values in every member of every agent's payloads, then one ordinary session of each agent; one drain.
 *
 * @param extent `all`: every kind of payload, every raw input for every agent; `some`: one kind, with the raw inputs distributed
 */
export async function tryOddValues(extent: "all" | "some"): Promise<Tried> {
  const world = new InputWorld();
  const receiver = await startReceiver();
  try {
    const before = world.outside();
    const inputs = agentNames.reduce((n, source, at) => n + putAll(world, source, at, extent), 0);
    const after = agentNames.flatMap((source) => samplesOf(source).map((sample) => putAfter(world, source, sample)));
    const report = await world.drain({ endIdle: true }, { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url });

    const { left, waiting, rejected } = report;
    expect({ left, waiting, rejected }).toEqual({ left: 0, waiting: 0, rejected: 0 });
    expect(report.files).toBe(inputs + after.length);
    expect(readdirSync(world.places.inboxDir)).toEqual([]);
    expect(readdirSync(world.places.claimedDir)).toEqual([]);
    const aside = world.quarantined();
    expect(aside).toHaveLength(report.quarantined);
    for (const { reason } of aside)
      expect(reason).toMatch(/^(no agent recognises it|its event is unknown |it cannot be |the payload |it has )/);
    expect(world.outside()).toEqual(before);
    expect(Object.getOwnPropertyNames(Object.prototype).sort().join(" ")).toBe(PROTOTYPE);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
    expectBounded(world);
    // Every span that was built has arrived, whatever it contains
    expect(receiver.spans.length).toBe(report.spans);
    const stored = new Set(world.rows("SELECT session_id FROM sessions").map((row) => row["session_id"]));
    for (const id of after.filter((one) => one !== undefined)) expect(stored).toContain(id);
    const families = Object.keys(VALUES).length + Object.keys(RAW).length;
    return { inputs, families, quarantined: report.quarantined, spans: report.spans };
  } finally {
    await receiver.close();
    world.remove();
  }
}

// --- internal ---

const PROTOTYPE = Object.getOwnPropertyNames(Object.prototype).sort().join(" ");
/** What an id or a name in the store must not contain. */
const UNCLEAN = /[\p{Cc}\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;

function putAll(world: InputWorld, source: string, agent: number, extent: "all" | "some"): number {
  const all = samplesOf(source);
  const samples = extent === "all" ? all : all.slice(agent % all.length).slice(0, 1);
  let inputs = 0;
  const put = (event: string, payload: string | Buffer, env: Sample["env"]): void => {
    world.put(source, event, payload, env);
    inputs++;
  };
  for (const [n, { event, env, payload }] of samples.entries()) {
    for (const [at, value] of Object.values(VALUES).entries()) {
      put(event, JSON.stringify(spoiled(payload, value)), env);
      put(event, JSON.stringify(spoiledAt(payload, at + n, value)), env);
    }
  }
  // The large ones once per agent, each with another kind of payload
  for (const [at, make] of Object.values(RAW).entries()) {
    if (extent === "some" && at % agentNames.length !== agent) continue;
    const { event, env, payload } = samples[at % samples.length] ?? { event: "x", env: {}, payload: {} };
    put(event, make(JSON.stringify(payload).slice(1, -1)), env);
  }
  return inputs;
}

/** @returns the session id that must be in the store; `undefined` if the payload has no usual member for it */
function putAfter(world: InputWorld, source: string, sample: Sample): string | undefined {
  const { event, env, payload } = sample;
  const id = `after-${source}`;
  const names = ["session_id", "sessionId", "conversation_id"].filter((name) => typeof payload[name] === "string");
  const renamed = { ...payload, ...Object.fromEntries(names.map((name) => [name, id])) };
  world.put(source, event, JSON.stringify(renamed), env);
  return names.length === 0 || GENERIC.includes(sample) || !SESSION_EVENTS.test(event) ? undefined : id;
}

/** Events that every agent's adapter converts. */
const SESSION_EVENTS = /^(session-?start|userpromptsubmit|pretooluse)$/i;

/** Ids, names and paths in the store and in spans. */
function expectBounded(of: InputWorld): void {
  for (const { session_id: id, source, cwd } of of.rows("SELECT session_id, source, cwd FROM sessions")) {
    for (const text of [String(id), String(source)]) {
      expect(text.length).toBeLessThanOrEqual(MAX_ID_CHARACTERS);
      expect(text).not.toMatch(UNCLEAN);
    }
    expect(String(cwd).length).toBeLessThanOrEqual(MAX_PATH_CHARACTERS);
  }
  for (const { record: json } of of.rows("SELECT record FROM spans")) {
    const { name, attributes } = JSON.parse(String(json)) as { name: string; attributes: Record<string, unknown> };
    expect(name).not.toMatch(UNCLEAN);
    expect(name.length).toBeLessThanOrEqual(2 * MAX_NAME_CHARACTERS + 32);
    for (const value of Object.values(attributes)) {
      if (typeof value !== "string") continue;
      expect(value.length).toBeLessThanOrEqual(Math.max(MAX_ID_CHARACTERS, MAX_NAME_CHARACTERS));
      expect(value).not.toMatch(UNCLEAN);
    }
  }
  const longest = of.rows("SELECT max(length(body)) AS n FROM events")[0]?.["n"];
  expect(Number(longest)).toBeLessThan(200_000);
}
