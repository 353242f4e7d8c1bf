import type { OwnPrices, PriceList } from "../model/price-list.ts";

/**
 * Sets the prices for this process. Called at the start of commands that price calls.
 *
 * @param prices `unreadable`: the user has own prices that cannot be read, so nothing has a known price
 */
export function setOwnPrices(prices: OwnPrices | "unreadable" | undefined): void {
  current = prices;
}

/** The current prices; the same object until they are set again; `undefined`: the public list applies. */
export const ownPrices = (): OwnPrices | "unreadable" | undefined => current;

/**
 * The prices of a model: those for its name, otherwise those for the longest matching beginning. `undefined`: the public list
 * applies.
 */
export function ownListOf({ models }: OwnPrices, model: string): PriceList | undefined {
  const exact = models.get(model) ?? listOfRedacted(models, model);
  if (exact !== undefined) return exact;
  let best: string | undefined;
  for (const name of models.keys()) {
    if (!name.endsWith("*") || !model.startsWith(name.slice(0, -1))) continue;
    if (best === undefined || name.length > best.length) best = name;
  }
  return best === undefined ? undefined : models.get(best);
}

/** The rates of the only name that a model's name can be, if an account number in it was redacted. */
function listOfRedacted(models: OwnPrices["models"], model: string): PriceList | undefined {
  const [start = "", ...rest] = model.split(/\[redacted:[a-z-]+\]/);
  if (rest.length === 0) return undefined;
  const found = [...models].filter(([name]) => {
    if (!name.startsWith(start) || !name.endsWith(rest.at(-1) ?? "")) return false;
    let at = start.length;
    return rest.every((part) => {
      const next = name.indexOf(part, at);
      at = next + part.length;
      return next >= 0;
    });
  });
  return found.length === 1 ? found[0]?.[1] : undefined;
}

let current: OwnPrices | "unreadable" | undefined;
