import * as z from "zod";
import { RATE_WINDOWS, type RateLimit, type RateWindow } from "#core/model/rate-limit.ts";
import type { parseSummary } from "./summary.ts";

// https://code.claude.com/docs/en/statusline: the JSON on stdin, read 2026-11-27

const limit = z.object({ used_percentage: z.number(), resets_at: z.number() }).optional().catch(undefined);
const Input = z.object({
  session_id: z.string().optional().catch(undefined),
  model: z.object({ display_name: z.string() }).optional().catch(undefined),
  cost: z.object({ total_cost_usd: z.number() }).optional().catch(undefined),
  context_window: z.object({ used_percentage: z.number() }).optional().catch(undefined),
  rate_limits: z.object({ five_hour: limit, seven_day: limit }).optional().catch(undefined),
});

/** Figures that are older than this show their time. The same in statusline.sh. */
const STALE_MS = 600_000;

/**
 * The status line, as `statusline.sh` prints it.
 *
 * @param asking the agent that asks, and what it put on stdin; `undefined` for shells and tmux
 * @param summary what the last drain wrote; `undefined` if there is nothing
 * @returns one line of ASCII, and the limits that the input reports
 */
export function statusLine(
  asking: { readonly agent: string; readonly input: string } | undefined,
  summary: ReturnType<typeof parseSummary>,
  nowMs: number,
): { readonly line: string; readonly limits: readonly RateLimit[] } {
  const isToday = summary !== undefined && summary.untilMs > nowMs;
  const age = isToday && nowMs - summary.atMs > STALE_MS ? ` (as of ${summary.clock})` : "";
  const today = [
    `${isToday ? summary.today : "?"} today${age}`,
    ...(summary?.budget === undefined ? [] : [`${isToday ? summary.budget : "? left"} this month`]),
  ];
  if (asking === undefined) {
    const [latest] = summary?.sessions ?? [];
    const parts = [
      ...today,
      ...(latest === undefined ? [] : [`latest session ${latest.cost} (${latest.agent})`]),
      ...(summary?.limits ?? []).map((one) => limitText(`${one.agent} ${one.label}`, one, nowMs)),
      ...(summary?.limits.length ? [LIST_PRICES] : []),
    ];
    return { line: parts.join(" | "), limits: [] };
  }
  const found = Input.safeParse(jsonOf(asking.input)).data ?? {};
  const stored = summary?.sessions.find(({ agent, id }) => agent === asking.agent && id === found.session_id);
  // The agent's own estimate, until the store has the session
  const own = found.cost === undefined ? "?" : `~$${found.cost.total_cost_usd.toFixed(2)}`;
  const model = found.model?.display_name ?? "";
  const used = found.context_window?.used_percentage;
  const limits = WINDOWS.flatMap((window): RateLimit[] => {
    const one = found.rate_limits?.[window];
    return one === undefined ? [] : [{ window, percent: one.used_percentage, resetsAtMs: one.resets_at * 1000 }];
  });
  const parts = [
    // Names with escapes or other characters could change the terminal
    ...(/^[ -~]+$/.test(model) && !/["\\]/.test(model) ? [model] : []),
    `${stored?.cost ?? own} session`,
    ...today,
    `context ${used === undefined ? "?" : `${Math.trunc(used)}%`}`,
    ...limits.map((one) => limitText(RATE_WINDOWS[one.window], one, nowMs)),
    // Only subscriptions have limits, and their costs are not what the user pays
    ...(limits.length > 0 ? [LIST_PRICES] : []),
  ];
  return { line: parts.join(" | "), limits };
}

// --- internal ---

const LIST_PRICES = "list prices";
const WINDOWS = Object.keys(RATE_WINDOWS) as readonly RateWindow[];

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

/** After its reset, how much of a limit is used is unknown. */
function limitText(
  label: string,
  { percent, resetsAtMs }: { readonly percent: number; readonly resetsAtMs: number },
  nowMs: number,
): string {
  const leftS = Math.floor(resetsAtMs / 1000) - Math.floor(nowMs / 1000);
  return leftS > 0 ? `${label} ${Math.trunc(percent)}% (${timeLeft(leftS)})` : `${label} ?`;
}

/** `2h 13m`, `3d 4h`. */
function timeLeft(seconds: number): string {
  const minutes = Math.ceil(seconds / 60);
  if (minutes >= 1440) return `${Math.floor(minutes / 1440)}d ${Math.floor((minutes % 1440) / 60)}h`;
  return minutes >= 60 ? `${Math.floor(minutes / 60)}h ${minutes % 60}m` : `${minutes}m`;
}
