import type { RateLimit, RateWindow } from "#core/model/rate-limit.ts";
import { asObject, asString, parsedObject } from "../shared/payload/json.ts";

/** The limits in the last of these lines of a rollout that has any. `null`: the account has none, e.g. with an API key. */
export function rateLimitsOf(lines: readonly string[]): readonly RateLimit[] {
  for (const line of [...lines].reverse()) {
    // Most lines are long and have none
    if (!line.includes('"rate_limits"')) continue;
    const found = limitsIn(line);
    if (found.length > 0) return found;
  }
  return [];
}

/** The time of the last of these lines that names the account's plan, if this is a subscription. With an API key it is `null`. */
export function subscriptionOf(lines: readonly string[]): number | undefined {
  const line = lines.findLast((one) => one.includes('"rate_limits"'));
  const record = line === undefined ? undefined : parsedObject(line);
  const plan = asString(asObject(asObject(record?.["payload"])?.["rate_limits"])?.["plan_type"]);
  const timeMs = Date.parse(asString(record?.["timestamp"]) ?? "");
  // Plans that are billed by use end like this
  const isPlan = plan !== undefined && plan !== "" && plan !== "unknown" && !plan.endsWith("usage_based");
  return isPlan && !Number.isNaN(timeMs) ? timeMs : undefined;
}

// --- internal ---

function limitsIn(line: string): readonly RateLimit[] {
  // The first line of a part of a file is torn
  const record = parsedObject(line);
  const limits = asObject(asObject(record?.["payload"])?.["rate_limits"]);
  const writtenMs = Date.parse(asString(record?.["timestamp"]) ?? "");
  return ["primary", "secondary"].flatMap((name): RateLimit[] => {
    const limit = asObject(limits?.[name]);
    const window = windowOf(asNumber(limit?.["window_minutes"]));
    const percent = asNumber(limit?.["used_percent"]);
    const resetsAt = asNumber(limit?.["resets_at"]);
    // Older versions: seconds from the line's time on
    const resetsIn = asNumber(limit?.["resets_in_seconds"]);
    const resetsAtMs = resetsAt !== undefined ? resetsAt * 1000 : writtenMs + (resetsIn ?? Number.NaN) * 1000;
    if (window === undefined || percent === undefined || Number.isNaN(resetsAtMs)) return [];
    return [{ window, percent, resetsAtMs, ...(!Number.isNaN(writtenMs) && { reportedMs: writtenMs }) }];
  });
}

const asNumber = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;

/** Servers round: windows of 299 and 10079 minutes are those of five hours and seven days. */
function windowOf(minutes: number | undefined): RateWindow | undefined {
  if (minutes === undefined) return undefined;
  if (Math.abs(minutes - 300) <= 5) return "five_hour";
  return Math.abs(minutes - 10_080) <= 60 ? "seven_day" : undefined;
}
