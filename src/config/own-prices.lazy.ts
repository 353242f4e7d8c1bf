import * as z from "zod";
import type { OwnPrices, OwnRates } from "../model/own-prices.ts";

/**
 * Reads a file of own prices.
 *
 * @param text JSON, see docs/settings.md
 * @returns the prices, or the first problem, which names the place in the file
 */
export function parseOwnPrices(text: string): { readonly prices: OwnPrices } | { readonly problem: string } {
  let json: unknown;
  try {
    json = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch {
    return { problem: "it is not valid JSON" };
  }
  const parsed = file().safeParse(json);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const place = issue?.path.join(".") ?? "";
    return { problem: `${place === "" ? "" : `${place}: `}${issue?.message ?? "it has another form"}` };
  }
  const { source, models } = parsed.data;
  return { prices: { source, models: new Map<string, OwnRates>(Object.entries(models)) } };
}

// --- internal ---

const PRINTABLE = /^\P{C}*$/u;
const MAX_MODELS = 1_000;
const MAX_SOURCE_CHARACTERS = 100;

function file() {
  const rate = z.number().min(0).max(1_000_000);
  const rates = z.strictObject({
    input: rate,
    output: rate,
    cacheRead: rate.optional(),
    cacheWrite: rate.optional(),
    cacheWrite1h: rate.optional(),
  });
  return z.strictObject({
    // It is printed and exported
    source: z.string().min(1).max(MAX_SOURCE_CHARACTERS).regex(PRINTABLE, "contains a control character"),
    models: z
      .record(z.string().min(1).max(256).regex(PRINTABLE), rates)
      .refine((models) => Object.keys(models).length <= MAX_MODELS, `has more than ${MAX_MODELS} models`),
  });
}
