import { join } from "node:path";
import type { RateLimit } from "#core/model/rate-limit.ts";

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
