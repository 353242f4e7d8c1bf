import { pastSessions } from "#collect/import/text.ts";
import type { Context } from "#config/context.ts";
import { suggest } from "#kit/suggest.ts";
import { duration, megabytes, plural } from "#kit/text/figures.ts";
import { askYesNo, isInteractive } from "./prompts.ts";

type Answer = "yes" | "no" | "cancelled";

/**
 * Imports past sessions that are not in the store yet, if there are any.
 *
 * @param how `yes`: without asking; `ask`: only on a terminal; `mention`: says how to import them
 * @param options `brief`: no table, and no commands that show the sessions
 */
export async function offerImport(
  how: "yes" | "ask" | "mention",
  stop: AbortSignal,
  context: Context,
  { brief = false }: { readonly brief?: boolean } = {},
): Promise<{ readonly answer: Answer; readonly code: number }> {
  if (how === "ask" && !isInteractive(context)) return { answer: "yes", code: 0 };
  const given: { answer: Answer } = { answer: "yes" };
  const { importPast } = await import("./import.ts");
  const code = await importPast(
    [],
    {
      dryRun: false,
      export: false,
      json: false,
      brief,
      stop,
      confirm: async (report, agents) => {
        const found = pastSessions(report, agents);
        if (found.sessions === 0) return false;
        const what = `${plural(found.sessions, "past session")} of ${found.agents.join(", ")}`;
        if (how === "mention") {
          context.stdout.write(`${what} can be imported: ${suggest("import")}\n`);
          return false;
        }
        if (how === "ask") {
          const size = `${megabytes(found.bytes)}, ${durationText(found.bytes)}`;
          given.answer = await askYesNo(`Import ${what} (${size})? They stay on this machine.`, context);
        }
        return given.answer === "yes";
      },
    },
    context,
  );
  if (given.answer === "no") {
    context.stdout.write(
      `Nothing was imported. ${suggest("report")} and others import what is new; to prevent it: ${suggest("config set display.refresh false")}\n`,
    );
  }
  return { ...given, code };
}

// --- internal ---

/** An import's speed where it is slow: with one thread. Starting takes less than half a second. */
const BYTES_PER_SECOND = 100e6;

function durationText(bytes: number): string {
  const seconds = bytes / BYTES_PER_SECOND;
  return seconds < 0.5 ? "less than a second" : `about ${duration(Math.ceil(seconds) * 1000)}`;
}
