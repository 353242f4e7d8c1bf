import { suggest } from "#kit/suggest.ts";
import { plural } from "#kit/text/figures.ts";
import { lineOf, type Terminal } from "#kit/text/terminal.ts";
import type { Recording } from "./recordings.ts";

/** What was replayed. */
export function introduction(recordings: readonly Recording[], { colour }: Terminal): readonly string[] {
  const sessions = recordings.flatMap((recording) => recording.sessions).length;
  const agents = [...new Set(recordings.map((recording) => recording.source))].join(", ");
  const text = `${plural(sessions, "recorded session")} of ${agents}, through the real hook, drain and exporter`;
  return [
    lineOf([{ text, style: "bold" }], colour),
    "The model was scripted, so the right totals are known. Your own state and settings are not touched.",
  ];
}

/** The command to run next. */
export const nextStep = (): string => `Next: ${suggest("start")} enables your agents and imports past sessions`;
