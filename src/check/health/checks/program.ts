import { execFile } from "node:child_process";
import { dirname } from "node:path";
import type { Context } from "#config/context.ts";
import { suggest } from "#kit/suggest.ts";
import { VERSION } from "#kit/version.ts";
import { folderOf, isCopy } from "#setup/registration/copy-folders.ts";
import { installedFolders } from "#setup/registration/hook-program.ts";
import { isCopyCurrent, isPackage } from "#setup/registration/installed-copy.ts";
import type { Examined } from "../facts/examined.ts";
import { type Finding, inArea } from "../finding.ts";

/** Whether Node is new enough, and runs: the one that runs this, and the one with which hooks start drains. */
export async function* nodeFindings({ facts: { hook }, context }: Examined): AsyncGenerator<Finding> {
  const { nodePath, env } = context;
  const { ok, remark, broken } = inArea("node");
  const todo = `install Node ${OLDEST_NODE} or later, then: ${suggest("enable")}`;
  const own = await nodeVersion(nodePath, env);
  yield own === undefined ? broken(`${nodePath} does not report its version`, todo) : ok(`${own} at ${nodePath}`);
  if (hook.node === null || hook.node === nodePath) return;
  const used = await nodeVersion(hook.node, env);
  // The hook then uses the one in PATH
  if (used === undefined) yield remark(`hooks start drains with ${hook.node}, which does not run`, suggest("enable"));
  else if (majorOf(used) < OLDEST_NODE) yield broken(`hooks start drains with Node ${used} at ${hook.node}`, todo);
  else yield ok(`hooks start drains with ${used} at ${hook.node}`);
}

/** Whether hooks use this version of the program, and from a place that lasts. */
export async function* versionFindings({ facts, context }: Examined): AsyncGenerator<Finding> {
  const { ok, remark } = inArea("version");
  const { hook, agents } = facts;
  const { places, programPath } = context;
  const { program, version } = hook;
  if (program === null) {
    const isManaged = agents.some(({ managed }) => managed !== null);
    return yield ok(`this is ${VERSION}${isManaged ? "" : "; hooks use none, no agent is enabled"}`);
  }
  const fix = `${suggest("doctor --fix")} makes them use this one`;
  const used = version ?? "an unknown version";
  if (isCopy(program, places)) {
    if (version !== VERSION) yield remark(`hooks use ${used} (${folderOf(program)}), and this is ${VERSION}`, fix);
    else if (isPackage(programPath) && !(await isCopyCurrent(program, programPath)))
      yield remark(`hooks use another build of ${VERSION} (${folderOf(program)})`, fix);
    else if (!isPackage(programPath) && program !== programPath)
      yield remark(`hooks use ${used} (${folderOf(program)}), and this is a clone (${folderOf(programPath)})`, fix);
    else yield ok(`${VERSION}, hooks use it in ${folderOf(program)}`);
  } else if (program !== programPath) {
    // Two installations, for example under two versions of Node: hooks do not start the one that is updated here
    yield remark(`hooks start drains with ${program} (${used}), and this is ${programPath} (${VERSION})`, fix);
  } else if (isPackage(programPath)) {
    const why = "an update or npm could remove it while a drain runs";
    yield remark(`hooks use ${folderOf(program)} itself: ${why}`, `${suggest("doctor --fix")} makes a copy for them`);
  } else yield ok(`${VERSION}, hooks use it in ${folderOf(program)}`);
}

/** Copies that hooks do not use, and what killed processes left. Drains remove them after an hour. */
export async function* leftoverFindings({ facts: { hook }, context }: Examined): AsyncGenerator<Finding> {
  const used = hook.program === null ? undefined : folderOf(hook.program);
  const left = (await installedFolders(context.places)).filter((folder) => folder !== used);
  if (left.length === 0) return;
  const where = left.length === 1 ? left[0] : `${left.length} folders in ${dirname(left[0] ?? "")}`;
  const todo =
    hook.program === null
      ? suggest("uninstall")
      : `the first drain after an hour removes them, or ${suggest("doctor --fix")}`;
  yield inArea("version").remark(`hooks do not use ${where}`, todo);
}

// --- internal ---

const OLDEST_NODE = 20;

const majorOf = (version: string): number => Number(/^v?(\d+)/.exec(version)?.[1] ?? 0);

const VERSION_TIMEOUT_MS = 3000;

/** `undefined` if it does not run. */
function nodeVersion(path: string, env: Context["env"]): Promise<string | undefined> {
  return new Promise((done) => {
    const options = { env, timeout: VERSION_TIMEOUT_MS, killSignal: "SIGKILL", windowsHide: true } as const;
    execFile(path, ["--version"], options, (error, stdout) => done(error === null ? stdout.trim() : undefined));
  });
}
