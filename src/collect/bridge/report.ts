import { resolve } from "node:path";
import type { Context } from "#config/context.ts";
import { ownUid } from "#config/file-owner.ts";
import { UserError } from "#kit/errors.ts";
import type { BridgeCommandState } from "#store/bridge.ts";
import { consentTo, readConsents } from "./consent.ts";
import {
  type BridgeCommand,
  projectFileOf,
  type RegistrationFile,
  type Runner,
  readRegistrationFile,
  userFileOf,
} from "./registration-file.ts";

/** A registration file as the bridge sees it now. Times in milliseconds since the epoch. */
export interface BridgeFile {
  readonly path: string;
  /** `changed`: its content is not what was allowed. `refused`: it cannot be allowed, see `problem`. `gone`: allowed, but deleted. */
  readonly state: "allowed" | "changed" | "new" | "refused" | "gone";
  /** Why it is refused. */
  readonly problem?: string;
  readonly allowedMs?: number;
  readonly commands: readonly (BridgeCommand & { readonly stored?: BridgeCommandState })[];
}

/** The user whom this process runs as. */
function runnerOf({ env, platform }: Pick<Context, "env" | "platform">): Runner {
  const sudo = env["SUDO_UID"] ?? "";
  return { uid: ownUid(platform), ...(/^\d{1,10}$/.test(sudo) && { sudoUid: Number(sudo) }) };
}

/** The files that apply in the current folder: the project's and the user's, as far as they exist. */
export const pathsHere = ({ cwd, places }: Pick<Context, "cwd" | "places">): readonly string[] =>
  [projectFileOf(cwd), userFileOf(places)].filter((path) => path !== undefined);

/**
 * The named file, or those that apply in the current folder.
 *
 * @throws UserError if there is none, or one is refused
 */
export function filesFor(path: string | undefined, context: Context): readonly RegistrationFile[] {
  const runner = runnerOf(context);
  const paths = path === undefined ? pathsHere(context) : [resolve(context.cwd, path)];
  const found = paths.map((one) => readRegistrationFile(one, runner)).filter((file) => file !== undefined);
  if (found.length === 0)
    throw new UserError("E_FILE", `there is no ${paths.join(" and no ")}; docs/bridge.md has an example`);
  return found.map((file) => {
    if ("problem" in file) throw new UserError("E_REFUSED", `${file.path} is refused: ${file.problem}`, 1);
    return file;
  });
}

/**
 * All files that were allowed, and those that apply in the current folder. Files with nothing but our own registration are left
 * out.
 *
 * @param stored what the store says about commands
 */
export function bridgeFiles(
  context: Pick<Context, "cwd" | "env" | "places" | "platform">,
  stored: readonly BridgeCommandState[],
): readonly BridgeFile[] {
  const consents = readConsents(context.places) ?? [];
  const paths = new Set([...consents.map(({ path }) => path), ...pathsHere(context)]);
  const runner = runnerOf(context);
  return [...paths].flatMap((path): BridgeFile[] => {
    const file = readRegistrationFile(path, runner);
    const consent = consents.find((one) => one.path === (file?.path ?? path));
    const more = { path: file?.path ?? path, ...(consent !== undefined && { allowedMs: consent.atMs }) };
    if (file === undefined) return consent === undefined ? [] : [{ ...more, state: "gone", commands: [] }];
    if ("problem" in file) return [{ ...more, state: "refused", problem: file.problem, commands: [] }];
    if (consent === undefined && file.commands.length === 0) return [];
    const state = consentTo(consents, file) !== undefined ? "allowed" : consent === undefined ? "new" : "changed";
    return [{ ...more, state, commands: file.commands.map((one) => withStored(file, one, stored)) }];
  });
}

// --- internal ---

function withStored(
  { path }: RegistrationFile,
  one: BridgeCommand,
  stored: readonly BridgeCommandState[],
): BridgeFile["commands"][number] {
  const found = stored.find((state) => state.path === path && state.command === one.command);
  return found === undefined ? one : { ...one, stored: found };
}
