import { asString } from "./json.ts";

/**
 * OpenTelemetry's name of a model provider, from the id that agents configure it by.
 *
 * @returns the id itself where the convention has no name for it; `undefined` where none was told
 * @see OpenTelemetry GenAI conventions, `gen_ai.provider.name`, read 2026-11-21
 */
export function providerName(id: unknown): string | undefined {
  const given = asString(id);
  if (given === undefined || !/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(given)) return undefined;
  return NAMES.get(given) ?? given;
}

// --- internal ---

const NAMES = new Map([
  ["amazon-bedrock", "aws.bedrock"],
  ["bedrock", "aws.bedrock"],
  ["azure", "azure.ai.openai"],
  ["gemini", "gcp.gemini"],
  ["google", "gcp.gemini"],
  ["google-vertex", "gcp.vertex_ai"],
  ["mistral", "mistral_ai"],
  ["vertex", "gcp.vertex_ai"],
  ["xai", "x_ai"],
]);
