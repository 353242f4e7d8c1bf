import { statSync } from "node:fs";
import { readFileIfAny } from "#config/files.ts";
import type { Agent } from "#core/model/agent.ts";
import { type AgentLimit, type RateLimit, type Subscriptions, WINDOW_MS } from "#core/model/rate-limit.ts";
import type { MetricPoint } from "#core/model/telemetry.ts";
import * as semconv from "#core/telemetry/semconv.ts";
import { SHAPES } from "#core/telemetry/shapes.ts";
import { openRegular } from "#kit/open.ts";
import { parseLimits, reportedLimitsPath } from "#show/statusline/summary.ts";
import { labelsOf } from "#store/labels.ts";
import { latestFileOf } from "#store/positions.ts";
import type { Drain } from "./context.ts";

/**
 * The limits that agents last reported, by their status lines or in their newest session, and that were not reset since. Usage only
 * grows until the reset, so an old report is a lower bound. What cannot be read is unknown.
 */
export async function rateLimits({ agents, db, places, now }: Drain): Promise<readonly AgentLimit[]> {
  const limits = await latestLimits(agents, (source) => latestFileOf(db, source), places.stateDir);
  return limits.filter(({ resetsAtMs }) => resetsAtMs > now());
}

/** The same, also those that were reset since. @param latestFile an agent's session file that was modified last */
export async function latestLimits(
  agents: readonly Agent[],
  latestFile: (source: string) => string | undefined,
  stateDir: string,
): Promise<readonly AgentLimit[]> {
  const found = await Promise.all(
    agents.map(async ({ source, rateLimitsOf }) => {
      const path = rateLimitsOf === undefined ? undefined : latestFile(source);
      const limits =
        path === undefined
          ? statusLineLimits(stateDir, source)
          : linesAtEndOf(path).then((lines) => rateLimitsOf?.(lines) ?? []);
      return (await limits.catch(() => [])).map((limit): AgentLimit => ({ agent: source, ...limit }));
    }),
  );
  return found.flat();
}

/**
 * All limits that agents still report, also those that were reset: by their status lines, and at the ends of all their sessions' files.
 *
 * @param filesOf an agent's session files, as far as they can have limits
 * @returns by the agent's id
 */
export async function allReportedLimits(
  agents: readonly Agent[],
  filesOf: (source: string) => readonly string[],
  stateDir: string,
): Promise<ReadonlyMap<string, readonly RateLimit[]>> {
  const found = new Map<string, readonly RateLimit[]>();
  for (const { source, rateLimitsOf } of agents) {
    const limits = [...(await statusLineLimits(stateDir, source).catch(() => []))];
    for (const path of rateLimitsOf === undefined ? [] : filesOf(source)) {
      limits.push(...(rateLimitsOf?.(await linesAtEndOf(path).catch(() => [])) ?? []));
    }
    if (limits.length > 0) found.set(source, limits);
  }
  return found;
}

/**
 * Agents that run on a subscription: those that reported a limit to their status line that was not reset since, because they do so for
 * subscriptions only, and those whose newest session names a plan.
 *
 * @param latestFile an agent's session file that was modified last
 */
export async function subscriptions(
  agents: readonly Agent[],
  latestFile: (source: string) => string | undefined,
  stateDir: string,
  nowMs: number,
): Promise<Subscriptions> {
  const found = new Map<string, number>();
  for (const { source, subscriptionOf } of agents) {
    const path = subscriptionOf === undefined ? undefined : latestFile(source);
    const namedMs = path === undefined ? undefined : subscriptionOf?.(await linesAtEndOf(path).catch(() => []));
    const limits = subscriptionOf === undefined ? await statusLineLimits(stateDir, source).catch(() => []) : [];
    const times = [
      ...limits
        .filter(({ resetsAtMs }) => resetsAtMs > nowMs)
        .map(({ window, resetsAtMs }) => resetsAtMs - WINDOW_MS[window]),
      // Plans do not change from day to day
      ...(namedMs === undefined ? [] : [namedMs - WINDOW_MS.seven_day]),
    ];
    if (times.length > 0) found.set(source, Math.min(...times));
  }
  return found;
}

/** The limits of `rateLimits` as gauges. @param pointMs now, by the backend's clock, in milliseconds since the epoch */
export async function rateLimitGauges(drain: Drain, pointMs: number): Promise<readonly MetricPoint[]> {
  const labels = labelsOf(drain.db);
  return (await rateLimits(drain)).flatMap(({ agent, window, percent, resetsAtMs }) =>
    (
      [
        [SHAPES.rateLimitUsage, percent / 100],
        [SHAPES.rateLimitReset, resetsAtMs / 1000],
      ] as const
    ).map(([shape, value]) => ({
      shape,
      attributes: { [semconv.OPENHOOK_RATE_LIMIT_WINDOW]: window, ...labels },
      resource: { [semconv.SERVICE_NAME]: agent },
      startMs: pointMs,
      timeMs: pointMs,
      data: { kind: "gauge" as const, value },
    })),
  );
}

// --- internal ---

/** The end of a session's file: the last answers, after which agents write their limits. */
const TAIL_BYTES = 65_536;

async function statusLineLimits(stateDir: string, source: string): Promise<readonly RateLimit[]> {
  const path = reportedLimitsPath(stateDir, source);
  // For most agents there is none, and a promise would take longer to say so
  const reportedMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  if (reportedMs === undefined) return [];
  const text = await readFileIfAny(path);
  return parseLimits(text?.toString("latin1") ?? "").map((limit) => ({ ...limit, reportedMs }));
}

async function linesAtEndOf(path: string): Promise<readonly string[]> {
  const { file, stats } = await openRegular(path);
  try {
    const bytes = Buffer.alloc(Math.min(stats.size, TAIL_BYTES));
    const { bytesRead } = await file.read(bytes, 0, bytes.length, stats.size - bytes.length);
    return bytes.subarray(0, bytesRead).toString("utf8").split("\n");
  } finally {
    await file.close();
  }
}
