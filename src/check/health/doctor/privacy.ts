import { variableFiles } from "#agents/registry.ts";
import type { Context } from "#config/context.ts";
import { checkOwner, ownUid, StateError } from "#config/file-owner.ts";
import { readProjectSettings } from "#config/project.ts";
import { ownVariablesIn } from "#config/repository-variables.ts";
import { suggest } from "#kit/suggest.ts";
import { variablesToRecord } from "#setup/registration/variables-to-record.ts";
import { type Finding, inArea } from "./finding.ts";

/** What protects collected data from others, and what the current project requests. */
export async function* privacyFindings(context: Context): AsyncGenerator<Finding> {
  yield* ownerFindings(context);
  yield* projectFindings(context);
}

// --- internal ---

async function* ownerFindings({ places, platform }: Context): AsyncGenerator<Finding> {
  const { remark, broken } = inArea("state");
  try {
    for (const text of await checkOwner(places.stateDir, { uid: ownUid(platform) })) yield remark(text);
  } catch (error) {
    if (!(error instanceof StateError)) throw error;
    yield broken(error.message, "nothing is collected until this is fixed");
  }
}

async function* projectFindings(context: Context): AsyncGenerator<Finding> {
  const { cwd, places } = context;
  const { ok, remark } = inArea("project");
  const { disabled, capture, attributes, warnings } = await readProjectSettings(cwd);
  for (const warning of warnings) yield remark(warning, "docs/privacy.md lists what a project file can set");
  const named = await ownVariablesIn({ folders: [cwd], home: places.home, files: await variableFiles() });
  const { theirs } = await variablesToRecord(context);
  for (const [name, path] of new Map([...named, ...theirs])) {
    yield remark(
      `${name} in ${path} is ignored by drains that hooks start, unless it is the value that enable recorded: ` +
        "a file in a repository must not decide what is exported",
      `set it yourself: ${suggest("config set KEY VALUE")}, or ${suggest("enable")} in your home folder with the variable set`,
    );
  }
  const effects = [
    ...(disabled ? ["its sessions are not collected"] : []),
    ...(capture === undefined ? [] : [`its sessions are kept with at most capture ${capture}`]),
    ...(Object.keys(attributes).length === 0 ? [] : [`its spans get ${Object.keys(attributes).join(", ")}`]),
  ];
  if (effects.length > 0) yield ok(`the project in ${cwd}: ${effects.join("; ")}`);
}
