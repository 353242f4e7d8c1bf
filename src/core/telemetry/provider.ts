import type { ModelCall } from "../model/model-call.ts";

/**
 * OpenTelemetry's name of the provider that answered a call: as the agent reports it, otherwise from the response id.
 *
 * @param provider used for calls without a provider
 * @returns `undefined` if neither names it
 */
export const providerOf = (call: ModelCall, provider: string | undefined): string | undefined =>
  call.provider ?? cloudOf(call.responseId) ?? provider;

// --- internal ---

/** Response ids of Claude models on a cloud platform name the platform; agents do not. */
function cloudOf(responseId: string | undefined): string | undefined {
  const [, cloud = ""] = /^msg_([a-z]+)_/.exec(responseId ?? "") ?? [];
  return CLOUDS.get(cloud);
}

const CLOUDS = new Map([
  ["bdrk", "aws.bedrock"],
  ["vrtx", "gcp.vertex_ai"],
]);
