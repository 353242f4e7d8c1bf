// A span's parent is in the same trace, in whatever order parts are settled.

import { afterEach, describe, expect, test } from "vitest";
import { MadeSession } from "../support/made-session.ts";
import fc from "../support/properties.ts";
import { IS_WHOLE } from "../support/whole.ts";

let session: MadeSession | undefined;
afterEach(() => session?.remove());

/** Names of spans whose parent is in another trace or missing. */
function lostIn(made: MadeSession): readonly string[] {
  const spans = made.spans();
  const here = new Set(spans.map(({ traceId, spanId }) => `${traceId} ${spanId}`));
  return spans.flatMap(({ traceId, parentSpanId, name }) =>
    parentSpanId === undefined || here.has(`${traceId} ${parentSpanId}`) ? [] : [name],
  );
}

/** What happens between two entries of the main thread: a subagent is started or resumed, at any depth. */
interface Step {
  readonly isNew: boolean;
  /** Which subagent is resumed. */
  readonly which: number;
  readonly depth: number;
  /** Whether hooks report the prompt that it belongs to. */
  readonly isNamed: boolean;
}
const step: fc.Arbitrary<Step> = fc.record({
  isNew: fc.boolean(),
  which: fc.nat(5),
  depth: fc.nat(2),
  isNamed: fc.boolean(),
});
const turns = fc.array(
  fc.record({
    /** Otherwise the previous turn continues; before the first turn there is no prompt. */
    asked: fc.boolean(),
    steps: fc.array(step, { maxLength: 3 }),
    drains: fc.boolean(),
    pauseMs: fc.constantFrom(0, 0, 3 * 3_600_000),
  }),
  { minLength: 1, maxLength: 4 },
);

describe.each(["session", "turn"])("traces per %s", (scope) => {
  test("subagents are below the call that started or resumed them, whatever was settled in between", async () => {
    await fc.assert(
      fc.asyncProperty(turns, async (all) => {
        session?.remove();
        const made = new MadeSession({ OPENHOOK_OTEL_TRACES_SCOPE: scope });
        session = made;
        let agents = 0;
        let calls = 0;
        let hooks = 0;
        const work = async (
          { which, depth, isNamed, ...asked }: Step,
          promptId: string | undefined,
          owner?: string,
        ): Promise<void> => {
          const isNew = asked.isNew || agents === 0;
          const agentId = `a${isNew ? agents++ : which % agents}`;
          if (agentId === owner) return;
          const callId = `toolu_${calls++}`;
          const prompt = isNamed && promptId !== undefined ? { prompt_id: promptId } : {};
          await made.answer({ calls: [[callId, isNew ? "Agent" : "SendMessage"]], ...(owner && { agentId: owner }) });
          const subagentPayload = { ...prompt, agent_id: agentId, agent_type: "Explore", no: hooks++ };
          await made.hook("SubagentStart", subagentPayload);
          if (isNew) made.startedBy(agentId, callId);
          await made.user(undefined, agentId);
          if (depth > 0) await work({ isNew: true, which, depth: depth - 1, isNamed }, promptId, agentId);
          await made.answer({ agentId });
          await made.hook("SubagentStop", subagentPayload);
          await made.result(callId, agentId, owner);
        };

        await made.hook("SessionStart", { source: "startup" });
        let prompt: string | undefined;
        for (const [n, { asked, steps, drains, pauseMs }] of all.entries()) {
          if (asked) {
            prompt = `p${n}`;
            await made.hook("UserPromptSubmit", { prompt_id: prompt, prompt: "go on" });
            await made.user(prompt);
          } else await made.result("toolu_background");
          for (const one of steps) await work(one, prompt);
          await made.answer();
          await made.hook("Stop", { ...(prompt !== undefined && { prompt_id: prompt }), no: hooks++ });
          if (drains) await made.drain();
          await made.pause(pauseMs);
          if (drains && pauseMs > 0) await made.drain();
        }
        await made.hook("SessionEnd", { reason: "other" });
        await made.drain();
        expect(lostIn(made)).toEqual([]);
      }),
      { numRuns: IS_WHOLE ? 20 : 3 },
    );
  });
});

test.each(["session", "turn"])(
  "traces per %s: a turn that continues in a later segment keeps its subagent",
  async (scope) => {
    const made = new MadeSession({ OPENHOOK_OTEL_TRACES_SCOPE: scope });
    session = made;
    const agent = async (call: string, no: number): Promise<void> => {
      const subagentPayload = { prompt_id: "p1", agent_id: "a1", agent_type: "Explore", no };
      await made.hook("SubagentStart", subagentPayload);
      if (no === 0) made.startedBy("a1", call);
      await made.user(undefined, "a1");
      await made.answer({ agentId: "a1" });
      await made.hook("SubagentStop", subagentPayload);
      await made.result(call, "a1");
    };
    await made.hook("UserPromptSubmit", { prompt_id: "p1", prompt: "go on" });
    await made.user("p1");
    await made.answer({ calls: [["toolu_first", "Agent"]] });
    await agent("toolu_first", 0);
    await made.answer({ calls: [["toolu_slow", "Bash"]] });
    await made.drain();
    await made.pause(3 * 3_600_000);
    await made.drain();
    await made.result("toolu_slow");
    await made.answer({ calls: [["toolu_second", "SendMessage"]] });
    await agent("toolu_second", 1);
    await made.answer();
    await made.hook("SessionEnd", { reason: "other" });
    await made.drain();

    expect(lostIn(made)).toEqual([]);
    const roots = made.spans().filter(({ attributes }) => attributes["openhook.span.kind"] === "session");
    expect(roots.map(({ attributes }) => attributes["openhook.model_calls"])).toEqual([3, 3]);
  },
);
