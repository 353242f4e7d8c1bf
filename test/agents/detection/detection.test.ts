import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { detect } from "#agents/detect.ts";
import { allAgents } from "#agents/registry.ts";
import type { Agent, Recognition } from "#core/model/agent.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { type DocumentedCall, intakeOf, linesOf, payloadOf } from "../../support/documented.ts";

interface Case extends DocumentedCall {
  readonly name: string;
  readonly expect: {
    readonly source: string;
    readonly certainty: "certain" | "likely" | "flag" | "ambiguous" | "none";
  };
}

const agents = await allAgents();
const cases = linesOf<Case>(join(dirname(fileURLToPath(import.meta.url)), "cases.jsonl"));

/** The detected agent; an envelope names its source. */
const sourceOf = (one: Case, rest: Partial<IntakeFacts> = {}): string => {
  const intake = { ...intakeOf(one), ...rest };
  const payload = payloadOf(one, intake);
  const card = payload.ok ? detect(agents, payload.value, intake) : undefined;
  if (card?.source !== "openhook") return card?.source ?? "unknown";
  return card.toEvents(payload.value, intake)[0]?.source ?? "unknown";
};

describe.each(cases.map((one) => [one.name, one] as const))("%s", (_, one) => {
  test("is recognised", () => {
    expect(sourceOf(one)).toBe(one.expect.source);
  });
  if (one.expect.certainty === "certain") {
    test("is recognised independently of the command line", () => {
      for (const { source } of agents) expect(sourceOf(one, { source }), source).toBe(one.expect.source);
    });
  }
  if (one.expect.certainty === "flag") {
    test("is recognised only by the command line", () => {
      const { source: _, event: __, ...unnamed } = intakeOf(one);
      const payload = payloadOf(one, unnamed);
      expect(payload.ok ? detect(agents, payload.value, unnamed) : undefined).toBeUndefined();
    });
  }
});

describe("the order", () => {
  const card = (source: string, recognition: Recognition) =>
    ({ source, recognises: () => recognition }) as unknown as Agent;
  const found = (cards: readonly Agent[], source?: string) =>
    detect(
      cards,
      {},
      { timeMs: 0, env: {}, payloadBytes: 2, truncated: false, ...(source !== undefined && { source }) },
    )?.source;

  test("is: certain, then the named agent, then the only likely one", () => {
    const cards = [card("a", "likely"), card("b", "possible"), card("c", "certain"), card("d", "no")];
    expect(found(cards, "b")).toBe("c");
    expect(found(cards.slice(0, 2), "b")).toBe("b");
    expect(found(cards.slice(0, 2), "a")).toBe("a");
    expect(found(cards.slice(0, 2), "d")).toBe("a");
    expect(found(cards.slice(0, 2))).toBe("a");
  });
  test("two likely agents, or a possible one, give no match", () => {
    expect(found([card("a", "likely"), card("b", "likely")])).toBeUndefined();
    expect(found([card("a", "possible")])).toBeUndefined();
    expect(found([card("a", "no")], "a")).toBeUndefined();
    expect(found([card("a", "certain"), card("b", "certain")])).toBeUndefined();
    expect(found([card("a", "certain"), card("b", "certain")], "b")).toBe("b");
  });
});
