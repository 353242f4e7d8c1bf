import { expect, test } from "vitest";
import { adapterOf } from "#agents/shared/payload/adapter-of.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";

const intake = (rest: Partial<IntakeFacts> = {}): IntakeFacts => ({
  timeMs: Date.UTC(2026, 9, 5, 12),
  env: {},
  hookPid: 7,
  payloadBytes: 2,
  truncated: false,
  ...rest,
});

const telescope = adapterOf({
  source: "telescope",
  recognises: { members: ["aperture"] },
  events: {
    Open: { type: "session.start" },
    Slew: { type: "tool.start", read: (p) => ({ key: "slew", tool: { name: String(p["tool"]) } }) },
    Night: { type: "turn.end", or: ["turn.error"], read: (p) => (p["clouds"] === true ? { type: "turn.error" } : {}) },
    Frame: { type: "notice", or: ["nothing"], read: (p) => (p["dark"] === true ? undefined : {}) },
    Batch: { type: "tool.end", read: () => ["m31", "m42"].map((key) => ({ key, tool: { name: key } })) },
  },
  notNeeded: "Dew Wind",
  fields: "aperture clouds dark",
  nameIn: ["event", "action"],
  sessionIn: ["night_id"],
  sessionVariable: "NIGHT",
  extrasOf: (p, _, sessionId) => ({ agent_type: p["guide"] === true ? "guide" : undefined, agent_id: sessionId }),
});

const typesOf = (payload: object, facts = intake()) => telescope.toEvents(payload, facts).map(({ type }) => type);

test("a row says what its event becomes: always the same, one of several, several at once, or nothing", () => {
  expect(typesOf({ event: "Open" })).toEqual(["session.start"]);
  expect(typesOf({ event: "Night" })).toEqual(["turn.end"]);
  expect(typesOf({ event: "Night", clouds: true })).toEqual(["turn.error"]);
  expect(typesOf({ event: "Batch" })).toEqual(["tool.end", "tool.end"]);
  expect(typesOf({ event: "Frame" })).toEqual(["notice"]);
  expect(typesOf({ event: "Frame", dark: true })).toEqual([]);
});

test("the name is in one of the members, or on the command line; other names and inherited members give nothing", () => {
  expect(typesOf({ action: "Open" })).toEqual(["session.start"]);
  expect(typesOf({ event: "", action: "Open" }, intake({ event: "Night" }))).toEqual(["session.start"]);
  expect(typesOf({}, intake({ event: "Night" }))).toEqual(["turn.end"]);
  for (const event of ["Dew", "Comet", "toString", "__proto__", "open"]) expect(typesOf({ event })).toEqual([]);
  for (const payload of [null, [], "Open"]) expect(telescope.toEvents(payload, intake({ event: "Open" }))).toEqual([]);
});

test("the session's id is the payload's, otherwise the variable's, otherwise made up", () => {
  const sessionOf = (payload: object, env: Readonly<Record<string, string>>) =>
    telescope.toEvents({ event: "Open", ...payload }, intake({ env }))[0];
  expect(sessionOf({ night_id: "n1" }, { NIGHT: "n2" })?.session_id).toBe("n1");
  expect(sessionOf({}, { NIGHT: "n2" })).toMatchObject({
    session_id: "n2",
    extensions: { session_id_origin: "environment", agent_id: "n2" },
  });
  expect(sessionOf({}, {})).toMatchObject({ extensions: { session_id_origin: "minted" } });
});

test("an event is identified by its row's key, otherwise by its arrival; members without a value are left out", () => {
  const idOf = (payload: object, timeMs: number) => telescope.toEvents(payload, intake({ timeMs }))[0]?.id;
  expect(idOf({ event: "Slew", tool: "mount", night_id: "n" }, 1)).toBe(
    idOf({ event: "Slew", tool: "mount", night_id: "n" }, 2),
  );
  expect(idOf({ event: "Open", night_id: "n" }, 1)).not.toBe(idOf({ event: "Open", night_id: "n" }, 2));
  const [event] = telescope.toEvents({ event: "Open", night_id: "n" }, intake());
  expect(Object.keys(event?.extensions ?? {})).not.toContain("agent_type");
});

test("in any case, and with the table's spelling, if the adapter says so", () => {
  const loose = adapterOf({
    source: "telescope",
    recognises: () => "certain",
    events: { Open: { type: "session.start" } },
    fields: "event",
    inAnyCase: true,
  });
  expect(loose.toEvents({ hook_event_name: "OPEN" }, intake())[0]?.extensions).toMatchObject({ native_event: "OPEN" });
  const { toEvents } = adapterOf({ ...loose, fields: "event", inAnyCase: true, namesAsInTable: true });
  expect(toEvents({ hook_event_name: "OPEN" }, intake())[0]?.extensions).toMatchObject({ native_event: "Open" });
});

test("what the card emits and knows follows from the table", () => {
  expect(telescope.emits).toEqual(["session.start", "tool.start", "turn.end", "turn.error", "notice", "tool.end"]);
  expect(telescope.known.events).toEqual(["Open", "Slew", "Night", "Frame", "Batch", "Dew", "Wind"]);
  expect(telescope.known.notNeeded).toEqual(["Frame", "Dew", "Wind"]);
  expect(telescope.known.fields).toEqual(["aperture", "clouds", "dark"]);
  expect(telescope.known.eventOf?.({ action: "Open" }, intake())).toBe("Open");
  expect(telescope.recognises({ aperture: 8 }, intake())).toBe("certain");
});
