import { rm } from "node:fs/promises";
import type { Context } from "#config/context.ts";
import { UserError } from "#kit/errors.ts";
import { printLines } from "#kit/text/ascii.ts";
import { printable } from "#kit/text/terminal.ts";
import { makeDemoFolders } from "#setup/demo/places.ts";
import { type DemoReceiver, startDemoReceiver } from "#setup/demo/receiver.ts";
import { type DemoResult, runDemo } from "#setup/demo/run.ts";
import { nextStep } from "#setup/demo/text.ts";
import { makeTwoWeeks } from "#setup/demo/two-weeks.ts";
import { whenReleased } from "#store/release.ts";
import { printAnswer } from "./answer.ts";
import { hasBrowser } from "./browser.ts";
import { isInteractive } from "./prompts.ts";

interface DemoOptions {
  /** Keep the demo's folders and print the path of its state. */
  readonly keep: boolean;
  /** Open the page, in a terminal only. */
  readonly open: boolean;
  /** Holds `dist` and `demo`. */
  readonly packageRoot: string;
  /** Returns a signal that Ctrl-C aborts. */
  readonly interruption: () => AbortSignal;
}

/**
 * `openhook-otel demo`: replays recorded sessions through the real hook, drain and exporter into a local OTLP receiver, and compares
 * what arrived with what was recorded; on a terminal it then shows two weeks of made-up sessions, in the browser if there is one. Runs in
 * a temporary home; the user's state, settings and configuration are neither read nor written. If `OTEL_EXPORTER_OTLP_ENDPOINT` is
 * set, the recorded sessions are sent there too.
 *
 * @returns exit code: 0; 1 a number that arrived differs from the recorded one, or the user's endpoint did not accept everything
 * @throws UserError for what the user can fix: not built, no `/bin/sh`, no temporary folder, no free port
 */
export async function demo(options: DemoOptions, context: Context): Promise<number> {
  const places = await makeDemoFolders();
  let result: DemoResult;
  try {
    const receiver = await listening();
    try {
      result = await runDemo(context, options.packageRoot, places, receiver);
    } finally {
      await receiver.close();
    }
    if (isInteractive(context)) {
      printLines(context, result.lines);
      result = { ...result, lines: [] };
      await showTwoWeeks(options, await makeTwoWeeks(places, context, options.packageRoot), context);
    }
  } finally {
    if (!options.keep) await whenReleased(() => rm(places.root, { recursive: true, force: true }));
  }
  // Print after the clean-up, so that nothing is left behind if the reader closes early (`| head`)
  printLines(context, [...result.lines, nextStep()]);
  if (options.keep) context.stdout.write(`\nKept: OPENHOOK_OTEL_HOME=${printable(places.stateDir)}\n`);
  return result.exact && result.delivered ? 0 : 1;
}

// --- internal ---

/** Opens the page until Ctrl-C; where nobody can see one, prints figures. @param own the context of the made-up sessions */
async function showTwoWeeks(options: DemoOptions, own: Context, context: Context): Promise<void> {
  context.stdout.write("\nTwo weeks of made-up sessions in three repositories:\n");
  const isSeen = options.open && hasBrowser(context);
  await printAnswer(own, { next: false });
  const common = { refresh: false, titles: true, json: false } as const;
  if (isSeen) {
    const page = { open: true, port: 0, printUrl: false, packageRoot: options.packageRoot };
    await (await import("./view.ts")).view({ ...common, ...page, stop: options.interruption() }, own);
  } else {
    context.stdout.write("\n");
    await (await import("./report.ts")).report([], { ...common, csv: false }, own);
  }
}

async function listening(): Promise<DemoReceiver> {
  try {
    return await startDemoReceiver();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new UserError("E_DEMO", `cannot listen on 127.0.0.1 for the demo's receiver: ${reason}`, 1, { cause: error });
  }
}
