import type { SpanRecord } from "#core/model/telemetry.ts";
import { GEN_AI_CONVERSATION_ID } from "#core/telemetry/semconv.ts";
import { suggest } from "#kit/suggest.ts";
import { plural } from "#kit/text/figures.ts";
import { lineOf, type Terminal } from "#kit/text/terminal.ts";
import { callsOfSpans } from "#show/report/waterfall/row-sums.ts";
import { waterfall } from "#show/report/waterfall/waterfall.ts";
import type { Recording } from "./recordings.ts";

/** What the demo is about to do. */
export function introduction(recordings: readonly Recording[], terminal: Terminal): readonly string[] {
  const sessions = recordings.flatMap((recording) => recording.sessions).length;
  const agents = sourcesOf(recordings).join(", ");
  return [
    heading(
      `${plural(sessions, "recorded session")} of ${agents}, through the real hook, drain and exporter`,
      terminal,
    ),
    "These are real runs of the agent against a scripted model, so the correct totals are known. Only the home folder,",
    "the session ids and the times were changed: the last session ended a minute ago.",
    "Your own state and settings are not touched.",
    "",
  ];
}

/** One session as the receiver got it. Each of its segments is a trace; all share one time axis. */
export function* sessionLines(
  recording: Recording,
  spans: readonly SpanRecord[],
  terminal: Terminal,
): Generator<string> {
  for (const [index, { sessionId }] of recording.sessions.entries()) {
    const own = spans.filter((span) => span.attributes[GEN_AI_CONVERSATION_ID] === sessionId);
    const traces = [...new Set(own.map((span) => span.traceId))];
    // Each trace is a segment
    const shown = own.map((record) => ({ record, segment: traces.indexOf(record.traceId) }));
    const number = recording.sessions.length > 1 ? ` ${index + 1} of ${recording.sessions.length}` : "";
    const about = `session ${sessionId}, ${plural(traces.length, "trace")}, ${plural(own.length, "span")}`;
    yield "";
    yield lineOf(
      [
        { text: `${recording.name}${number}`, style: "bold" },
        { text: `  ${about}`, style: "dim" },
      ],
      terminal.colour,
    );
    yield* waterfall(shown, callsOfSpans(shown), terminal);
  }
}

/** Commands to run next. */
export const nextSteps = (): readonly string[] => [
  "",
  "Next",
  `  ${suggest("start")}`,
  "      enables your agents, imports your past sessions and opens them in the browser",
  `  ${suggest("config set otlp.endpoint http://127.0.0.1:4318")}`,
  "      exports them to your backend; without an endpoint they stay on this machine",
];

export const heading = (text: string, { colour }: Terminal): string => lineOf([{ text, style: "bold" }], colour);

// --- internal ---

const sourcesOf = (recordings: readonly Recording[]): readonly string[] => [
  ...new Set(recordings.map((recording) => recording.source)),
];
