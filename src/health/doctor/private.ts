import { allAgents } from "../../agents/registry.ts";
import { checkOwner, openFiles, ownUid, StateError } from "../../config/file-owner.ts";
import { readProjectSettings } from "../../config/project.ts";
import { unheardVariables } from "../../config/repository-variables.ts";
import type { Context } from "../../context.ts";
import { suggest } from "../../model/suggest.ts";
import { type Finding, inArea } from "./finding.ts";

/** What protects collected data from others, and what the current project requests. */
export async function* privacyFindings(context: Context): AsyncGenerator<Finding> {
  yield* ownerFindings(context);
  yield* projectFindings(context);
}

/** Files in the state directory that others can access; `doctor --fix` closes them. */
export const openStateFiles = async ({
  places,
  platform,
}: Pick<Context, "places" | "platform">): Promise<readonly string[]> =>
  platform === "win32" ? [] : openFiles(places.stateDir);

// --- internal ---

async function* ownerFindings({ places, platform }: Context): AsyncGenerator<Finding> {
  const { remark, broken } = inArea("state");
  try {
    for (const text of await checkOwner(places.stateDir, { uid: ownUid(platform) })) yield remark(text);
  } catch (error) {
    if (!(error instanceof StateError)) throw error;
    yield broken(error.message, "nothing is collected until this is mended");
  }
}

async function* projectFindings({ cwd, places }: Context): AsyncGenerator<Finding> {
  const { ok, remark } = inArea("project");
  const { disabled, capture, attributes, warnings } = await readProjectSettings(cwd);
  for (const warning of warnings) yield remark(warning, "docs/privacy.md says what a project file can set");
  const files = (await allAgents()).flatMap((agent) => agent.setsVariablesFrom ?? []);
  for (const [name, path] of await unheardVariables({ folders: [cwd], home: places.home, files })) {
    yield remark(
      `${name} in ${path} is not heard by drains that hooks start: no file of a repository decides what leaves`,
      `set it for yourself: ${suggest("config set KEY VALUE")}`,
    );
  }
  const said = [
    ...(disabled ? ["its sessions are not collected"] : []),
    ...(capture === undefined ? [] : [`no more is kept of its sessions than capture ${capture}`]),
    ...(Object.keys(attributes).length === 0 ? [] : [`its spans get ${Object.keys(attributes).join(", ")}`]),
  ];
  if (said.length > 0) yield ok(`the project in ${cwd}: ${said.join("; ")}`);
}
