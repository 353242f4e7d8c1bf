import type { PayloadFacts } from "#core/model/agent.ts";
import type { Content } from "#core/model/content.ts";
import { contentOfEvents } from "../payload/content.ts";
import { asArray, asObject } from "../payload/json.ts";

/** Content of a payload. Our plugin sends none: at levels that store content, it is read from the database. */
export function toContent(payload: unknown, { events }: PayloadFacts): readonly Content[] {
  const p = asObject(payload);
  const input = asObject(p?.["input"]) ?? {};
  const output = asObject(p?.["output"]) ?? {};
  const part = asObject(asObject(asObject(input["event"])?.["properties"])?.["part"]);
  const state = asObject(part?.["state"]) ?? {};
  const texts = asArray(output["parts"]).flatMap((one) => {
    const { text, synthetic, ignored } = asObject(one) ?? {};
    return typeof text === "string" && synthetic !== true && ignored !== true ? [text] : [];
  });
  const args = asObject(output["args"]) ?? asObject(input["args"]) ?? asObject(state["input"]);
  return contentOfEvents(events, {
    prompt: texts.join("\n"),
    // The only argument that our plugin sends is the tool name of a call that OpenCode could not parse
    arguments: args === undefined || Object.keys(args).length === 0 ? undefined : args,
    result: output["output"] ?? state["error"],
  });
}
