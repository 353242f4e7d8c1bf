import type { PayloadFacts } from "../../model/agent.ts";
import type { Content } from "../../model/content.ts";
import { contentOfEvents } from "../shared/payload/content.ts";
import { asArray, asObject } from "../shared/payload/json.ts";

/** The words behind the program's name. What it printed goes to the user alone, and never through us. */
export const toContent = (payload: unknown, { events }: PayloadFacts): readonly Content[] =>
  contentOfEvents(events, { arguments: { args: asArray(asObject(payload)?.["args"]) } });
