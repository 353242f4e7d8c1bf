import type { ModelCall } from "../model/session.ts";

/**
 * OpenTelemetry's name of who answered a call: as the agent told it, else as the answer's id says it.
 *
 * @param provider of the session's calls that name none themselves
 * @returns `undefined` where nobody told it
 */
export const providerOf = (call: ModelCall, provider: string | undefined): string | undefined =>
  call.provider ?? cloudOf(call.responseId) ?? provider;

// --- internal ---

/** Claude models that run in somebody's cloud say so in the ids of their answers; agents do not. */
function cloudOf(responseId: string | undefined): string | undefined {
  const [, cloud = ""] = /^msg_([a-z]+)_/.exec(responseId ?? "") ?? [];
  return CLOUDS.get(cloud);
}

const CLOUDS = new Map([
  ["bdrk", "aws.bedrock"],
  ["vrtx", "gcp.vertex_ai"],
]);
