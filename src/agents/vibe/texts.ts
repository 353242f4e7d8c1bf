import { asArray, asObject, asString } from "../shared/payload/json.ts";

/** The text of a list of blocks; `undefined` if there is none. */
export function promptText(blocks: unknown): string | undefined {
  const texts = asArray(blocks).flatMap((block) => asString(asObject(block)?.["text"]) ?? []);
  return texts.length === 0 ? undefined : texts.join("\n");
}
