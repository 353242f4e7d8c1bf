import type { PayloadFacts } from "#core/model/agent.ts";
import type { Content } from "#core/model/content.ts";
import { contentOfEvents } from "../shared/payload/content.ts";
import { asArray, asObject } from "../shared/payload/json.ts";

/** The arguments. The program's output is written directly to the user's terminal, so it is unknown. */
export const toContent = (payload: unknown, { events }: PayloadFacts): readonly Content[] =>
  contentOfEvents(events, { arguments: { args: asArray(asObject(payload)?.["args"]) } });
