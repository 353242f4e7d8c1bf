import { describe, expect, test } from "vitest";
import type { ModelCall } from "#core/model/model-call.ts";
import type { SessionFacts } from "#core/model/session.ts";
import { runCounts } from "#core/telemetry/metrics.ts";
import { providerOf } from "#core/telemetry/provider.ts";

const call = (responseId: string | undefined, provider?: string): ModelCall => ({
  key: "c1",
  startMs: 0,
  endMs: 1,
  complete: true,
  usage: { input: 1, output: 1 },
  ...(responseId !== undefined && { responseId }),
  ...(provider !== undefined && { provider }),
});

describe("providerOf", () => {
  test.each([
    { what: "Anthropic's own", id: "msg_01XFDUDYJgAACzvnptvVoYEL", provider: "anthropic" },
    { what: "Amazon Bedrock's", id: "msg_bdrk_015pNYi6bWStpDG95pKQepuH", provider: "aws.bedrock" },
    { what: "Vertex AI's", id: "msg_vrtx_0154abcdefGH", provider: "gcp.vertex_ai" },
    { what: "a relay's", id: "msg_relay_0154abcdefGH", provider: "anthropic" },
    { what: "none", id: undefined, provider: "anthropic" },
  ])("an answer with an id that is $what", ({ id, provider }) => {
    expect(providerOf(call(id), "anthropic")).toBe(provider);
  });

  test("a provider that the agent reports takes precedence; without one there is none", () => {
    expect(providerOf(call("msg_bdrk_015pNYi6bWStpDG95pKQepuH", "litellm"), "anthropic")).toBe("litellm");
    expect(providerOf(call("chatcmpl-1"), undefined)).toBeUndefined();
  });

  test("counters have each call's provider", () => {
    const facts: SessionFacts = { source: "claude-code", sessionId: "s1", provider: "anthropic" };
    const run = {
      key: "p1",
      origin: "human",
      segment: 0,
      state: "ended",
      hasHookPrompt: true,
      backgroundCount: 0,
    } as const;
    const turn = { ...run, startMs: 0, endMs: 1, toolCalls: [], errors: [], closed: true, uses: [] };
    const counts = runCounts(
      { ...turn, modelCalls: [call("msg_bdrk_01abc"), { ...call("msg_01abc"), key: "c2" }] },
      facts,
    );
    const providers = counts.flatMap(({ increments }) =>
      increments.map(({ attributes }) => attributes["gen_ai.provider.name"]),
    );
    expect([...new Set(providers)].filter((name) => name !== undefined).sort()).toEqual(["anthropic", "aws.bedrock"]);
  });
});
