import { rm } from "node:fs/promises";
import type { Context } from "#config/context.ts";
import { UserError } from "#kit/errors.ts";
import { printLines } from "#kit/text/ascii.ts";
import { printable } from "#kit/text/terminal.ts";
import { makeDemoFolders } from "#setup/demo/places.ts";
import { type DemoReceiver, startDemoReceiver } from "#setup/demo/receiver.ts";
import { type DemoResult, runDemo } from "#setup/demo/run.ts";
import { whenReleased } from "#store/release.ts";

/**
 * `openhook-otel demo`: replays recorded sessions through the real hook, drain and exporter into a local OTLP receiver, and
 * shows what arrived. Runs in a temporary home; the user's state, settings and configuration are neither read nor written.
 * If `OTEL_EXPORTER_OTLP_ENDPOINT` is set, the sessions are sent there too.
 *
 * @param packageRoot holds `dist` and `demo/recordings`
 * @returns exit code: 0; 1 a number that arrived differs from the recorded one, or the user's endpoint did not accept everything
 * @throws UserError for what the user can fix: not built, no `/bin/sh`, no temporary folder, no free port
 */
export async function demo(
  options: { readonly keep: boolean },
  context: Context,
  packageRoot: string,
): Promise<number> {
  const places = await makeDemoFolders();
  let result: DemoResult;
  try {
    const receiver = await listening();
    try {
      result = await runDemo(context, packageRoot, places, receiver);
    } finally {
      await receiver.close();
    }
  } finally {
    if (!options.keep) await whenReleased(() => rm(places.root, { recursive: true, force: true }));
  }
  // Print after the clean-up, so that nothing is left behind if the reader closes early (`| head`)
  printLines(context, result.lines);
  if (options.keep) context.stdout.write(`\nKept: OPENHOOK_OTEL_HOME=${printable(places.stateDir)}\n`);
  return result.exact && result.delivered ? 0 : 1;
}

// --- internal ---

async function listening(): Promise<DemoReceiver> {
  try {
    return await startDemoReceiver();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new UserError("E_DEMO", `cannot listen on 127.0.0.1 for the demo's receiver: ${reason}`, 1, { cause: error });
  }
}
