import { asArray, asObject, asString } from "#agents/shared/payload/json.ts";
import type { Usage } from "../script.ts";
import { type Answer, type Api, eventStream, sendJson, textOf } from "./api.ts";

/** Messages. Input excludes cache reads and writes; output includes thinking. */
export const anthropic: Api = {
  path: /\/v1\/messages$/,
  asides: { "/count_tokens": { input_tokens: 1234 } },
  callIdPrefix: "toolu_",
  reports: { cacheWrites: true, cacheMisses: true },

  read: (body) => ({
    model: asString(body["model"]) ?? "",
    streams: body["stream"] === true,
    system: textOf(body["system"]),
    tools: asArray(body["tools"]).flatMap((tool) => asString(asObject(tool)?.["name"]) ?? []),
  }),

  failure: (status) => ({
    body: {
      type: "error",
      error: { type: status >= 500 ? "api_error" : "invalid_request_error", message: "scripted" },
    },
    headers: { "x-should-retry": String(status >= 500) },
  }),

  send(response, answer) {
    const content = blocksOf(answer);
    const usage = figures(answer.usage);
    const stop_reason = answer.tools.length > 0 ? "tool_use" : "end_turn";
    const head = {
      ...{ id: answer.id, type: "message", role: "assistant", model: answer.model, stop_sequence: null },
      diagnostics: diagnosticsOf(answer.usage),
    };
    // Agents record it with the answer
    const headers = { "request-id": answer.id.replace(/^[a-z]+/, "req") };
    if (!answer.streams) return sendJson(response, { ...head, content, stop_reason, usage }, 200, headers);

    const write = eventStream(response, headers);
    const event = (type: string, fields: object): void => write({ type, ...fields }, type);
    // output continues to be counted while it streams
    const begun = { ...usage, output_tokens: 1 };
    event("message_start", { message: { ...head, content: [], stop_reason: null, usage: begun } });
    for (const [index, block] of content.entries()) {
      event("content_block_start", { index, content_block: { ...block, ...EMPTY[block.type] } });
      for (const delta of deltasOf(block)) event("content_block_delta", { index, delta });
      event("content_block_stop", { index });
    }
    event("message_delta", { delta: { stop_reason, stop_sequence: null }, usage });
    event("message_stop", {});
    response.end();
  },
};

// --- internal ---

type Block =
  | { readonly type: "thinking"; readonly thinking: string; readonly signature: string }
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "tool_use"; readonly id: string; readonly name: string; readonly input: unknown };

const EMPTY = { thinking: { thinking: "", signature: "" }, text: { text: "" }, tool_use: { input: {} } } as const;

const blocksOf = ({ reasoning, text, tools }: Answer): readonly Block[] => [
  ...(reasoning === undefined ? [] : [{ type: "thinking", thinking: reasoning, signature: "c2lnbmVk" } as const]),
  ...(text === undefined ? [] : [{ type: "text", text } as const]),
  ...tools.map(({ id, name, input }) => ({ type: "tool_use", id, name, input }) as const),
];

function deltasOf(block: Block): readonly object[] {
  switch (block.type) {
    case "text":
      return [{ type: "text_delta", text: block.text }];
    case "tool_use":
      return [{ type: "input_json_delta", partial_json: JSON.stringify(block.input) }];
    case "thinking":
      return [
        { type: "thinking_delta", thinking: block.thinking },
        { type: "signature_delta", signature: block.signature },
      ];
  }
}

const diagnosticsOf = ({ miss }: Usage): object | null =>
  miss === undefined ? null : { cache_miss_reason: { type: miss.reason, cache_missed_input_tokens: miss.tokens } };

const figures = ({ input = 0, cacheRead = 0, cacheWrite = 0, output = 0, reasoning = 0 }: Usage) => ({
  input_tokens: input,
  output_tokens: output + reasoning,
  cache_read_input_tokens: cacheRead,
  cache_creation_input_tokens: cacheWrite,
  cache_creation: { ephemeral_5m_input_tokens: cacheWrite, ephemeral_1h_input_tokens: 0 },
});
