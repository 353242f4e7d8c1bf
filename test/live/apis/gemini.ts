import { asArray, asObject, asString } from "#agents/shared/payload/json.ts";
import type { Usage } from "../script.ts";
import { type Api, eventStream, type Json, sendJson, sums, textOf } from "./api.ts";

const PATH = /\/models\/([^:/]+):(stream)?[gG]enerateContent$/;

/** generateContent. The prompt includes cache reads; candidates exclude thoughts. Calls have no ids. */
export const gemini: Api = {
  path: PATH,
  asides: { ":countTokens": { totalTokens: 321 } },
  reports: { reasoning: true },

  read(body, path) {
    const [, model = "", stream] = PATH.exec(path) ?? [];
    return {
      model,
      streams: stream !== undefined,
      system: textOf(asObject(body["systemInstruction"])?.["parts"]),
      tools: asArray(body["tools"])
        .flatMap((tool) => asArray(asObject(tool)?.["functionDeclarations"]))
        .flatMap((tool) => asString(asObject(tool)?.["name"]) ?? []),
    };
  },

  failure: (status) => ({
    body: { error: { code: status, message: "scripted", status: status >= 500 ? "UNAVAILABLE" : "INVALID_ARGUMENT" } },
  }),

  send(response, { id, model, streams, reasoning, text, tools, usage }) {
    const parts = [
      ...(reasoning === undefined ? [] : [{ text: reasoning, thought: true }]),
      ...(text === undefined ? [] : [{ text }]),
      ...tools.map(({ name, input }) => ({ functionCall: { name, args: input } })),
    ];
    const chunk = (some: readonly Json[], isLast: boolean): Json => ({
      candidates: [{ index: 0, content: { role: "model", parts: some }, ...(isLast && { finishReason: "STOP" }) }],
      ...(isLast && { usageMetadata: figures(usage) }),
      modelVersion: model,
      responseId: id,
    });
    if (!streams) return sendJson(response, chunk(parts, true));

    const write = eventStream(response);
    for (const [index, part] of parts.entries()) write(chunk([part], index === parts.length - 1));
    response.end();
  },
};

// --- internal ---

function figures(usage: Usage): Json {
  const { input, output, cacheRead, reasoning } = sums(usage);
  return {
    promptTokenCount: input,
    candidatesTokenCount: output - reasoning,
    cachedContentTokenCount: cacheRead,
    thoughtsTokenCount: reasoning,
    totalTokenCount: input + output,
  };
}
