import { createHash } from "node:crypto";
import * as z from "zod";
import type { OwnPrices } from "../model/own-prices.ts";
import { type PriceList, type PriceRule, WEEKDAYS } from "../model/price-list.ts";

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
    const [issue] = parsed.error.issues.map(deepest);
    const place = issue?.path.join(".") ?? "";
    return { problem: `${place === "" ? "" : `${place}: `}${issue?.message ?? "it has another form"}` };
  }
  const { source, models } = parsed.data;
  const lists = Object.entries(models).map(([name, rules]) => [name, listOf(rules)] as const);
  const digest = createHash("sha256").update(text).digest("hex").slice(0, DIGEST_CHARACTERS);
  return { prices: { source, models: new Map(lists), digest } };
}

/** The JSON Schema of a file of own prices. */
export function pricesJsonSchema(): object {
  const title = "Own prices of models, for the setting prices.file of openhook-otel";
  return { title, ...z.toJSONSchema(file(), { io: "input" }) };
}

// --- internal ---

const PRINTABLE = /^\P{C}*$/u;
const MAX_MODELS = 1_000;
const MAX_RULES = 100;
const MAX_SOURCE_CHARACTERS = 100;
const DIGEST_CHARACTERS = 16;
const HOURS = /^([01]\d|2[0-3]):([0-5]\d)-(?:([01]\d|2[0-3]):([0-5]\d)|24:00)$/;
const DATE = /^20\d\d-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:\d\d))?$/;

function file() {
  const rules = ruleSchema();
  return z.strictObject({
    $schema: z.string().optional(),
    source: z
      .string()
      .min(1)
      .max(MAX_SOURCE_CHARACTERS)
      // It is printed and exported
      .regex(PRINTABLE, "contains a control character")
      .describe("Where the prices come from, e.g. a contract; reports and exported costs name it."),
    models: z
      .record(z.string().min(1).max(256).regex(PRINTABLE), z.union([rules, z.array(rules).min(1).max(MAX_RULES)]))
      .refine((models) => Object.keys(models).length <= MAX_MODELS, `has more than ${MAX_MODELS} models`)
      .describe(
        "By model: its name, or the beginning of names with * at the end. Prices, or a list of them with conditions: of those that apply to a call, the last ones count.",
      ),
  });
}

function ruleSchema() {
  const rate = z.number().min(0).max(1_000_000);
  const tokens = z.number().int().positive();
  const date = z.string().regex(DATE, "is not a date, such as 2026-10-01 or 2026-10-01T08:00:00Z").refine(isTime);
  return z
    .strictObject({
      input: rate.describe("USD per million input tokens outside any cache."),
      output: rate.describe("USD per million output tokens."),
      cacheRead: rate.optional().describe("USD per million tokens read from a cache."),
      cacheWrite: rate.optional().describe("USD per million tokens written to a cache, except those kept for an hour."),
      cacheWrite1h: rate.optional().describe("USD per million tokens written to a cache for an hour."),
      searches: rate.optional().describe("USD per thousand web searches of the provider."),
      requests: rate.optional().describe("USD per thousand calls, besides their tokens."),
      tier: z
        .string()
        .min(1)
        .max(64)
        .optional()
        .describe("Service tier of these prices, e.g. fast, priority, flex or batch. Default: the standard tier."),
      above: tokens.optional().describe("Only for calls with more input tokens than this, cache included."),
      upTo: tokens.optional().describe("Only for calls with at most this many input tokens, cache included."),
      from: date.optional().describe("The first day or moment of these prices; days begin at 00:00 UTC."),
      to: date.optional().describe("The first day or moment at which they no longer apply."),
      hours: z
        .string()
        .regex(HOURS, "is not a range such as 01:00-04:00")
        .optional()
        .describe("Part of the day, e.g. 01:00-04:00, or 22:00-06:00 over midnight."),
      days: z
        .array(z.enum(WEEKDAYS))
        .min(1)
        .optional()
        .describe("Weekdays; with hours over midnight, when they begin."),
      timeZone: z
        .string()
        .refine(isTimeZone, "is not a time zone such as Asia/Shanghai")
        .optional()
        .describe("IANA time zone of hours and days. Default: UTC."),
    })
    .refine(({ from, to }) => from === undefined || to === undefined || Date.parse(from) < Date.parse(to), {
      path: ["to"],
      message: "is not after from",
    })
    .refine(({ above, upTo }) => above === undefined || upTo === undefined || above < upTo, {
      path: ["upTo"],
      message: "is not larger than above",
    });
}

type Rule = z.infer<ReturnType<typeof ruleSchema>>;

/** Of a value with several possible forms, the problem with the form that it seems to have. */
function deepest(issue: z.core.$ZodIssue): z.core.$ZodIssue {
  if (issue.code !== "invalid_union") return issue;
  const [inner] = issue.errors.flat().toSorted((a, b) => b.path.length - a.path.length);
  return inner === undefined ? issue : { ...inner, path: [...issue.path, ...inner.path] };
}

const listOf = (rules: Rule | readonly Rule[]): PriceList => ({ rules: [rules].flat().map(toRule) });

function toRule({ searches, requests, tier, above, upTo, from, to, hours, days, timeZone, ...rates }: Rule): PriceRule {
  const [, fromHour, fromMinute, toHour = 24, toMinute = 0] = HOURS.exec(hours ?? "") ?? [];
  const window = {
    timeZone: timeZone ?? "UTC",
    ...(days !== undefined && { days: new Set(days.map((day) => WEEKDAYS.indexOf(day))) }),
    ...(hours !== undefined && {
      fromMinute: Number(fromHour) * 60 + Number(fromMinute),
      toMinute: Number(toHour) * 60 + Number(toMinute),
    }),
  };
  return {
    rates: { ...rates, webSearch: searches, request: requests },
    tier,
    above,
    upTo,
    ...(from !== undefined && { fromMs: Date.parse(from) }),
    ...(to !== undefined && { toMs: Date.parse(to) }),
    ...((hours !== undefined || days !== undefined) && { window }),
  };
}

const isTime = (text: string): boolean => !Number.isNaN(Date.parse(text));

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en-US", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
