import { mkdir, mkdtemp, realpath } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { UserError } from "#kit/errors.ts";
import type { DemoPlaces } from "./replay.ts";

/** The demo's folders below one temporary folder. */
export interface DemoFolders extends DemoPlaces {
  readonly root: string;
  /** A copy of the state before the drain, for the user's own endpoint. */
  readonly secondStateDir: string;
}

/** @throws UserError when no temporary folder can be made */
export async function makeDemoFolders(): Promise<DemoFolders> {
  try {
    // On macOS the temporary folder is a symbolic link, and agents write the real path
    const root = await realpath(await mkdtemp(join(tmpdir(), "openhook-demo-")));
    return { ...(await demoHome(root)), root, secondStateDir: join(root, "state-for-your-endpoint") };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const advice = "set TMPDIR to a folder that you can write to";
    throw new UserError("E_DEMO", `cannot make a folder in ${tmpdir()}: ${reason}; ${advice}`, 1, { cause: error });
  }
}

/** Makes a home, a folder for state and one for settings below a folder. */
export async function demoHome(below: string): Promise<DemoPlaces> {
  const places = { home: join(below, "home"), stateDir: join(below, "state"), configDir: join(below, "config") };
  for (const folder of Object.values(places)) await mkdir(folder, { recursive: true, mode: 0o700 });
  return places;
}
