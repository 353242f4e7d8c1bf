import { createHash } from "node:crypto";
import { findNodeAtLocation, getNodeValue, type Node } from "jsonc-parser";
import * as z from "zod";
import { type OwnPrices, type PriceList, type PriceRule, WEEKDAYS } from "#core/model/price-list.ts";
import { lineAt, parseDocument } from "./document.lazy.ts";

/**
 * Reads a file of own prices.
 *
 * @param text JSON, comments and trailing commas allowed; see docs/settings.md
 * @returns the prices, or the first problem: the line, the entry, what is wrong and what to write
 */
export function parseOwnPrices(text: string): { readonly prices: OwnPrices } | { readonly problem: string } {
  const document = parseDocument(text.replace(/^\uFEFF/, ""));
  if ("problem" in document) return { problem: `line ${document.line}: ${document.problem}` };
  const parsed = file().safeParse(getNodeValue(document.root), { error: inWords });
  if (!parsed.success) {
    const [{ path, message }] = parsed.error.issues.map(deepest) as [z.core.$ZodIssue];
    return { problem: `line ${lineOf(document.root, path, text)}: ${nameOf(path)} ${message}` };
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
const NO_DATE = "must be a date, such as 2026-10-01 or 2026-10-01T08:00:00Z";

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
  const date = z.string().regex(DATE, NO_DATE).refine(isTime, NO_DATE);
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
        .regex(HOURS, "must be a range, such as 01:00-04:00")
        .optional()
        .describe("Part of the day, e.g. 01:00-04:00, or 22:00-06:00 over midnight."),
      days: z
        .array(z.enum(WEEKDAYS))
        .min(1)
        .optional()
        .describe("Weekdays; with hours over midnight, when they begin."),
      timeZone: z
        .string()
        .refine(isTimeZone, "must be a time zone, such as Asia/Shanghai")
        .optional()
        .describe("IANA time zone of hours and days. Default: UTC."),
    })
    .refine(({ from, to }) => from === undefined || to === undefined || Date.parse(from) < Date.parse(to), {
      path: ["to"],
      message: 'must be after "from"',
    })
    .refine(({ above, upTo }) => above === undefined || upTo === undefined || above < upTo, {
      path: ["upTo"],
      message: 'must be larger than "above"',
    });
}

/** What is wrong and what to write, after the name of the place. `undefined`: the schema has its own message. */
function inWords(issue: z.core.$ZodRawIssue): string | undefined {
  const { input, inst } = issue;
  switch (issue.code) {
    case "invalid_type": {
      if (input !== undefined || inst === undefined) return `must be ${FORMS[issue.expected] ?? issue.expected}`;
      return `is missing: ${z.globalRegistry.get(inst as z.ZodType)?.description?.replace(/\.$/, "")}`;
    }
    case "unrecognized_keys":
      return `has ${issue.keys.map((key) => JSON.stringify(key)).join(", ")}, which is unknown; known are ${Object.keys((inst as z.ZodObject).shape).join(", ")}`;
    case "invalid_value":
      return `must be one of ${issue.values.join(", ")}`;
    case "invalid_key":
      return "has a name that is empty, longer than 256 characters, or contains a control character";
    case "too_small":
      if (issue.origin !== "number" && issue.origin !== "int") return "must not be empty";
      return issue.inclusive === true ? "must not be negative" : "must be larger than 0";
    case "too_big":
      return issue.origin === "string"
        ? `must not have more than ${issue.maximum} characters`
        : `must not be larger than ${issue.maximum}`;
    default:
      return undefined;
  }
}

const PRICES = '{"input": 2, "output": 10}';
const FORMS: Readonly<Record<string, string>> = {
  number: "a number, such as 2.5",
  int: "a whole number, such as 200000",
  string: "text in quotes",
  array: "a list in brackets",
  record: `an object of models, such as {"claude-sonnet-5-5": ${PRICES}}`,
  object: `prices, such as ${PRICES}, or a list of them`,
};

/** `model "gpt-5.5", price 2, "input"` */
function nameOf([top, model, ...rest]: readonly PropertyKey[]): string {
  if (top === undefined) return "the file";
  if (model === undefined) return JSON.stringify(top);
  const names = rest.map((name, i) =>
    typeof name === "number" ? `${i === 0 ? "price" : "entry"} ${name + 1}` : JSON.stringify(name),
  );
  return [`model ${JSON.stringify(model)}`, ...names].join(", ");
}

/** The line of a place in the file, or of the value that lacks it. */
function lineOf(root: Node, path: readonly PropertyKey[], text: string): number {
  const node = findNodeAtLocation(root, path as (string | number)[]);
  if (node === undefined && path.length > 0) return lineOf(root, path.slice(0, -1), text);
  return lineAt(text, node?.offset ?? 0);
}

type Rule = z.infer<ReturnType<typeof ruleSchema>>;

/** Of a value with several possible forms, the problem with the form that it seems to have. */
function deepest(issue: z.core.$ZodIssue): z.core.$ZodIssue {
  if (issue.code !== "invalid_union") return issue;
  const depthOf = ({ path, code }: z.core.$ZodIssue): number => path.length + (code === "invalid_type" ? 0 : 0.5);
  const [inner] = issue.errors.flat().toSorted((a, b) => depthOf(b) - depthOf(a));
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
