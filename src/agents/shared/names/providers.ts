import { asString } from "../payload/json.ts";

/**
 * OpenTelemetry's name of a model provider, from the id in the agent's configuration.
 *
 * @returns the id itself if the convention has no name for it; `undefined` without an id
 * @see OpenTelemetry GenAI conventions, `gen_ai.provider.name`, read 2026-11-21
 */
export function providerName(id: unknown): string | undefined {
  const given = asString(id);
  if (given === undefined || !/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(given)) return undefined;
  return NAMES.get(given) ?? given;
}

/** `providerName` for ids that always mean one provider. Users choose other ids themselves, for example for a proxy. */
export const knownProvider = (id: unknown): string | undefined =>
  typeof id === "string" && (NAMES.has(id) || OWN_NAMES.has(id)) ? providerName(id) : undefined;

// --- internal ---

/** Providers whose names equal their ids. */
const OWN_NAMES: ReadonlySet<string> = new Set([
  "cerebras",
  "deepseek",
  "fireworks",
  "groq",
  "lmstudio",
  "ollama",
  "openrouter",
  "together",
]);

const NAMES = new Map([
  ["amazon-bedrock", "aws.bedrock"],
  ["bedrock", "aws.bedrock"],
  ["azure", "azure.ai.openai"],
  ["azure-cognitive-services", "azure.ai.openai"],
  ["gemini", "gcp.gemini"],
  ["google", "gcp.gemini"],
  ["google-vertex", "gcp.vertex_ai"],
  ["google-vertex-anthropic", "gcp.vertex_ai"],
  ["mistral", "mistral_ai"],
  ["moonshot", "moonshot_ai"],
  ["moonshotai", "moonshot_ai"],
  ["moonshotai-cn", "moonshot_ai"],
  ["openai-codex", "openai"],
  ["openai-native", "openai"],
  ["vertex", "gcp.vertex_ai"],
  ["xai", "x_ai"],
]);
