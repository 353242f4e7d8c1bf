import { alertGroups } from "./alerts.ts";
import { wrapped } from "./wrapped.ts";

/** docs/alerts.md: one section per alert, to which its annotation `runbook_url` leads. */
export const runbooks = (): string =>
  `${[
    "# Alerts and what to do",
    "",
    "<!-- written by scripts/dashboards.mjs from dashboards/src/alerts.ts: change it there -->",
    "",
    ...wrapped(
      "The annotation `runbook_url` of each alert leads to its section. It is relative to this package: to get a link that works in your messages, put the address of your copy before it, for example with `sed 's|runbook_url: docs/|runbook_url: https://git.example.com/openhook-otel/docs/|'`.",
      118,
    ),
    ...alertGroups().flatMap(({ rules }) =>
      rules.flatMap(({ alert, severity, for: lasts, summary, description }) => [
        "",
        `## ${alert}`,
        "",
        ...wrapped(`**${inWords(summary)}** (${severity}, ${lasts === "0m" ? "immediately" : `after ${lasts}`})`, 118),
        "",
        ...wrapped(inWords(description), 118),
      ]),
    ),
  ].join("\n")}\n`;

// --- internal ---

/** `$value` and `$labels` of a template as words. */
const inWords = (text: string): string =>
  text.replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, "`$1`").replaceAll(/\{\{ \$value \| \w+ \}\}/g, "*value*");
