import { join } from "node:path";
import type { CallSums } from "#core/model/model-call.ts";
import type { RateLimit } from "#core/model/rate-limit.ts";
import { NO_CALLS } from "#core/rules/call-sums.ts";

/** What the last drain knew, for status lines. Figures and ids only: nothing from prompts, files or paths. */
export interface Summary {
  readonly atMs: number;
  /** End of the local day that `today` is about. */
  readonly untilMs: number;
  /** A cost as text, see `costOf`. */
  readonly today: string;
  /** What is left of the month's budget as text, see `leftOf`. Absent: none is set. */
  readonly budget?: string;
  /** Sessions with activity within a day, newest first. */
  readonly sessions: readonly SessionCost[];
  /** Limits of agents other than the one that asks, which gives its own. */
  readonly limits: readonly NamedLimit[];
}

export interface SessionCost {
  readonly agent: string;
  readonly id: string;
  readonly cost: string;
}

interface NamedLimit {
  readonly agent: string;
  /** `5h`, `7d`. */
  readonly label: string;
  readonly percent: number;
  readonly resetsAtMs: number;
}

/** The file that drains write and `statusline.sh` prints from. It exists if a status line was set up. */
export const summaryPath = (stateDir: string): string => join(stateDir, "statusline.txt");

/** `$0.42`, `>=$0.42` if a call has no known price or is incomplete, `<$0.01`, `?`. Only ASCII, for every terminal. */
export function costOf(sums: CallSums = NO_CALLS, isUsageUnknown = false): string {
  const { costNanoUsd, unpricedCalls, incompleteCalls, modelCalls, aggregateRecords } = sums;
  const isNothing = modelCalls + aggregateRecords === 0 && !isUsageUnknown;
  if (costNanoUsd === undefined && !isNothing) return "?";
  const dollars = (costNanoUsd ?? 0) / 1e9;
  if (dollars > 0 && dollars < 0.01) return unpricedCalls + incompleteCalls > 0 ? ">=$0.00" : "<$0.01";
  return `${unpricedCalls + incompleteCalls > 0 || isUsageUnknown ? ">=" : ""}$${dollars.toFixed(2)}`;
}

/** `$57.90 left`, `<=$57.90 left` if a part of the month's cost is unknown, `$12.00 over budget`, `? left`. Only ASCII. */
export function leftOf(budgetUsd: number, sums: CallSums = NO_CALLS, isUsageUnknown = false): string {
  const spent = costOf(sums, isUsageUnknown);
  if (spent === "?") return "? left";
  const left = budgetUsd - (sums.costNanoUsd ?? 0) / 1e9;
  const isLeast = spent.startsWith(">=");
  if (left < 0) return `${isLeast ? ">=" : ""}$${(-left).toFixed(2)} over budget`;
  return `${isLeast ? "<=" : ""}$${left.toFixed(2)} left`;
}

/** One line per value, for `read` of a shell. The last line shows that the file is complete. */
export function summaryText({ atMs, untilMs, today, budget, sessions, limits }: Summary): string {
  const at = new Date(atMs);
  const clock = [at.getHours(), at.getMinutes()].map((n) => String(n).padStart(2, "0")).join(":");
  const words = sessions.filter(({ agent, id }) => isWord(agent) && isWord(id));
  const [latest] = words;
  return [
    `openhook-otel-statusline ${VERSION}`,
    `at ${seconds(atMs)} ${clock}`,
    `until ${seconds(untilMs)}`,
    `today ${today}`,
    ...(budget === undefined ? [] : [`budget ${budget}`]),
    ...(latest === undefined ? [] : [`latest ${latest.agent} ${latest.cost}`]),
    ...limits.map(
      ({ agent, label, percent, resetsAtMs }) => `limit ${agent} ${label} ${percent} ${seconds(resetsAtMs)}`,
    ),
    ...words.map(({ agent, id, cost }) => `session ${agent}/${id} ${cost}`),
    "end",
    "",
  ].join("\n");
}

/** What the file says; `undefined` if it is incomplete or of another version. */
export function parseSummary(text: string): (Summary & { readonly clock: string }) | undefined {
  const lines = text.split("\n").map((line) => line.split(" "));
  const valuesOf = (key: string): readonly (readonly string[])[] =>
    lines.filter(([name]) => name === key).map(([, ...values]) => values);
  const [at = "", clock = ""] = valuesOf("at")[0] ?? [];
  const [until = ""] = valuesOf("until")[0] ?? [];
  const budget = valuesOf("budget")[0]?.join(" ");
  if (valuesOf("openhook-otel-statusline")[0]?.[0] !== VERSION || valuesOf("end").length === 0) return undefined;
  return {
    atMs: Number(at) * 1000,
    clock,
    untilMs: Number(until) * 1000,
    today: valuesOf("today")[0]?.[0] ?? "?",
    ...(budget !== undefined && { budget }),
    sessions: valuesOf("session").map(([name = "", cost = "?"]) => {
      const [agent = "", ...id] = name.split("/");
      return { agent, id: id.join("/"), cost };
    }),
    limits: valuesOf("limit").map(([agent = "", label = "", percent = "", reset = ""]) => ({
      agent,
      label,
      percent: Number(percent),
      resetsAtMs: Number(reset) * 1000,
    })),
  };
}

/** The limits that an agent last gave its status line. `statusline.sh` writes the same file. */
export const reportedLimitsPath = (stateDir: string, agent: string): string => join(stateDir, `rate-limits.${agent}`);

/** One line per limit, as `five_hour 23.5 1764219600`, and a last line that shows that the file is complete. */
export const limitsText = (limits: readonly RateLimit[]): string =>
  `${limits.map(({ window, percent, resetsAtMs }) => `${window} ${percent} ${Math.floor(resetsAtMs / 1000)}\n`).join("")}end\n`;

/** The limits in the file; none if it is incomplete or was written by something else. */
export function parseLimits(text: string): readonly RateLimit[] {
  if (!text.endsWith("\nend\n")) return [];
  return text.split("\n").flatMap((line): RateLimit[] => {
    const [, window, percent, reset] = /^(five_hour|seven_day) (\d{1,4}(?:\.\d*)?) (\d{1,11})$/.exec(line) ?? [];
    if (window !== "five_hour" && window !== "seven_day") return [];
    return [{ window, percent: Number(percent), resetsAtMs: Number(reset) * 1000 }];
  });
}

// --- internal ---

const VERSION = "1";

const seconds = (ms: number): number => Math.floor(ms / 1000);

/** Ids are an agent's: only those that are one word without anything special are written. */
const isWord = (text: string): boolean => /^[\w.:-]+$/.test(text);
