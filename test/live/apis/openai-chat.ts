import { asArray, asObject, asString } from "#agents/shared/payload/json.ts";
import type { Usage } from "../script.ts";
import { type Api, eventStream, type Json, sendJson, sums, textOf } from "./api.ts";

/** Chat completions. Input includes cache reads, output includes reasoning; there is no figure for cache writes. */
export const openaiChat: Api = {
  path: /\/chat\/completions$/,
  asides: { "/models": { object: "list", data: [] } },
  callIdPrefix: "call_",
  reports: { reasoning: true },

  read: (body) => ({
    model: asString(body["model"]) ?? "",
    streams: body["stream"] === true,
    system: asArray(body["messages"])
      .map(asObject)
      .filter((message) => message?.["role"] === "system")
      .map((message) => textOf(message?.["content"]))
      .join("\n"),
    tools: asArray(body["tools"]).flatMap((tool) => asString(asObject(asObject(tool)?.["function"])?.["name"]) ?? []),
  }),

  failure: (status) => ({
    body: {
      error: { message: "scripted", type: status >= 500 ? "server_error" : "invalid_request_error", code: null },
    },
  }),

  send(response, { id, model, streams, reasoning, text, tools, usage: used }) {
    const usage = figures(used);
    const finish_reason = tools.length > 0 ? "tool_calls" : "stop";
    const head = { id, created: Math.floor(Date.now() / 1000), model };
    const tool_calls = tools.map((tool, index) => ({
      index,
      id: tool.id,
      type: "function",
      function: { name: tool.name, arguments: JSON.stringify(tool.input) },
    }));
    if (!streams) {
      const message = { role: "assistant", content: text ?? null, ...(tool_calls.length > 0 && { tool_calls }) };
      const choices = [{ index: 0, message, finish_reason }];
      return sendJson(response, { ...head, object: "chat.completion", choices, usage });
    }

    const write = eventStream(response);
    const chunk = (choices: readonly Json[], more: Json = {}): void =>
      write({ ...head, object: "chat.completion.chunk", choices, ...more });
    const delta = (value: Json, finish: string | null = null): void =>
      chunk([{ index: 0, delta: value, finish_reason: finish }]);
    delta({ role: "assistant", content: "" });
    if (reasoning !== undefined) delta({ reasoning_content: reasoning });
    if (text !== undefined) delta({ content: text });
    for (const call of tool_calls) delta({ tool_calls: [call] });
    delta({}, finish_reason);
    chunk([], { usage });
    response.end("data: [DONE]\n\n");
  },
};

// --- internal ---

function figures(usage: Usage): Json {
  const { input, output, cacheRead, reasoning } = sums(usage);
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cacheRead },
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
}
