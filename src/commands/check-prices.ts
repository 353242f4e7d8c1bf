import type { Context } from "#config/context.ts";
import { loadConfig } from "#config/load.ts";
import { readPrices } from "#config/own-prices.ts";
import { type PriceRule, WEEKDAYS } from "#core/model/price-list.ts";
import { UserError } from "#kit/errors.ts";
import { suggest } from "#kit/suggest.ts";
import { exact } from "#kit/text/figures.ts";
import { printable } from "#kit/text/terminal.ts";

/**
 * `openhook-otel config check-prices`: whether a file of own prices can be used, and what it says.
 *
 * @param file its path; `undefined`: the one in the settings
 * @returns exit code: 0; 2 if the file cannot be used
 * @throws UserError (2) if there is neither
 */
export async function checkPrices(file: string | undefined, context: Context): Promise<number> {
  const path = file ?? (await loadConfig(context)).config.prices.file;
  if (path === undefined) {
    throw new UserError(
      "no-prices",
      `no file is named, and prices.file is not set: ${suggest("config check-prices <file>")}`,
      2,
    );
  }
  const read = await readPrices(path);
  if ("problem" in read) {
    context.stderr.write(`error: ${printable(path)}: ${printable(read.problem)}\n`);
    return 2;
  }
  const { source, models } = read.prices;
  context.stdout.write(`${printable(path)} is valid\nsource: ${printable(source)}\n`);
  for (const [name, { rules }] of models) {
    context.stdout.write(`${printable(name)}\n`);
    for (const [i, rule] of rules.entries()) {
      const isUnused = rules.slice(i + 1).some((later) => later.tier === rule.tier && isUnconditional(later));
      context.stdout.write(
        `  ${printable(describe(rule))}${isUnused ? "; never used, because a later price has no conditions" : ""}\n`,
      );
    }
  }
  return 0;
}

// --- internal ---

const isUnconditional = ({ above, upTo, fromMs, toMs, window }: PriceRule): boolean =>
  [above, upTo, fromMs, toMs, window].every((condition) => condition === undefined);

/** USD per million tokens, and when. */
function describe({ rates, tier, above, upTo, fromMs, toMs, window }: PriceRule): string {
  const named = [
    ["input", rates.input],
    ["output", rates.output],
    ["cache read", rates.cacheRead],
    ["cache write", rates.cacheWrite],
    ["cache write for an hour", rates.cacheWrite1h],
    ["per 1,000 searches", rates.webSearch],
    ["per 1,000 calls", rates.request],
  ] as const;
  const prices = named.flatMap(([name, rate]) => (rate === undefined ? [] : [`${name} $${rate}`]));
  const days = window?.days && [...window.days].map((day) => WEEKDAYS[day]).join(", ");
  const conditions = [
    tier === undefined ? "" : `tier ${tier}`,
    above === undefined ? "" : `above ${exact(above)} input tokens`,
    upTo === undefined ? "" : `up to ${exact(upTo)} input tokens`,
    fromMs === undefined ? "" : `from ${new Date(fromMs).toISOString()}`,
    toMs === undefined ? "" : `before ${new Date(toMs).toISOString()}`,
    days === undefined ? "" : `on ${days}`,
    window?.fromMinute === undefined ? "" : `from ${clock(window.fromMinute)} to ${clock(window.toMinute ?? 0)}`,
    window === undefined ? "" : window.timeZone,
  ].filter((text) => text !== "");
  return [prices.join(", "), ...conditions].join("; ");
}

const clock = (minute: number): string =>
  `${String(Math.floor(minute / 60)).padStart(2, "0")}:${String(minute % 60).padStart(2, "0")}`;
