import { dirname, join } from "node:path";
import type { TokenUsage } from "#core/model/transcript.ts";
import { defined } from "#kit/defined.ts";
import { readSmallSync } from "#kit/open.ts";
import { asArray, asCount, asObject, asString, parsedObject } from "../shared/payload/json.ts";
import { SETTINGS_FILE, sumsFileOf } from "./places.ts";

/**
 * A session's token sum so far, from the file beside its transcript. Droid's input excludes the cache. Its `thinkingTokens` are not
 * used: an estimate, or 0 where the provider reports none.
 *
 * @returns `undefined` if nothing is known: no file, or only zeros
 */
export function sumOf(path: string, roots: readonly string[] | undefined): TokenUsage | undefined {
  const bytes = readSmallSync(sumsFileOf(path), MAX_BYTES, roots);
  const usage = asObject((bytes && parsedObject(bytes))?.["tokenUsage"]);
  const [input, output] = [asCount(usage?.["inputTokens"]), asCount(usage?.["outputTokens"])];
  const [cacheRead, cacheWrite] = [asCount(usage?.["cacheReadTokens"]), asCount(usage?.["cacheCreationTokens"])];
  const figures = [input, output, cacheRead, cacheWrite];
  if (figures.every((tokens) => (tokens ?? 0) === 0)) return undefined;
  const isWhole = input !== undefined && cacheRead !== undefined && cacheWrite !== undefined;
  return defined<TokenUsage>({
    input: isWhole ? input + cacheRead + cacheWrite : undefined,
    output,
    cacheRead,
    cacheWrite,
  });
}

/** The provider's name of a model. The user's own models have other ids, which only the settings resolve. */
export function modelName(id: string, path: string, roots: readonly string[] | undefined): string {
  if (!id.startsWith(OWN_MODEL)) return id;
  const bytes = readSmallSync(join(dirname(dirname(dirname(path))), SETTINGS_FILE), MAX_BYTES, roots);
  const own = asArray((bytes && parsedObject(bytes))?.["customModels"]).map(asObject);
  return asString(own.find((model) => model?.["id"] === id)?.["model"]) ?? id;
}

// --- internal ---

const OWN_MODEL = "custom:";
const MAX_BYTES = 4 << 20;
