import { asArray, asObject, asString } from "#agents/shared/payload/json.ts";
import type { Usage } from "../script.ts";
import { type Answer, type Api, eventStream, type Json, sums, textOf } from "./api.ts";

/** Responses, always streamed. Input includes cache reads, output includes reasoning. */
export const openaiResponses: Api = {
  path: /\/responses$/,
  asides: { "/models": { object: "list", data: [] } },
  callIdPrefix: "call_",
  reports: { cacheWrites: true, reasoning: true },

  read: (body) => ({
    model: asString(body["model"]) ?? "",
    streams: true,
    system: textOf(body["instructions"]),
    tools: asArray(body["tools"]).flatMap((tool) => asString(asObject(tool)?.["name"]) ?? []),
  }),

  failure: () => ({ body: { error: { message: "scripted", type: "server_error", code: null } } }),

  send(response, answer) {
    const write = eventStream(response);
    const event = (type: string, fields: object): void => write({ type, ...fields }, type);
    const head = { id: answer.id, object: "response", model: answer.model };
    const output = itemsOf(answer);
    event("response.created", { response: { ...head, status: "in_progress" } });
    for (const [output_index, item] of output.entries()) {
      event("response.output_item.added", { output_index, item });
      event("response.output_item.done", { output_index, item });
    }
    event("response.completed", { response: { ...head, status: "completed", usage: figures(answer.usage), output } });
    response.end();
  },
};

// --- internal ---

const itemsOf = ({ id, reasoning, text, tools }: Answer): readonly Json[] => [
  ...(reasoning === undefined
    ? []
    : [
        {
          type: "reasoning",
          id: `rs_${id}`,
          summary: [{ type: "summary_text", text: reasoning }],
          encrypted_content: "c2VhbGVk",
        },
      ]),
  ...(text === undefined
    ? []
    : [
        {
          type: "message",
          id: `msg_${id}`,
          role: "assistant",
          status: "completed",
          content: [{ type: "output_text", text, annotations: [] }],
        },
      ]),
  ...tools.map(({ id: call_id, name, namespace, input }) =>
    typeof input === "string"
      ? { type: "custom_tool_call", id: `ctc_${call_id}`, call_id, status: "completed", name, input }
      : {
          type: "function_call",
          id: `fc_${call_id}`,
          call_id,
          status: "completed",
          name,
          namespace,
          arguments: JSON.stringify(input),
        },
  ),
];

function figures(usage: Usage): Json {
  const { input, output, cacheRead, cacheWrite, reasoning } = sums(usage);
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cacheRead, ...(cacheWrite > 0 && { cache_write_tokens: cacheWrite }) },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + output,
  };
}
