import { dirname } from "node:path";
import type { Context } from "#config/context.ts";
import { suggest } from "#kit/suggest.ts";
import { VERSION } from "#kit/version.ts";
import { installedFolders } from "#setup/registration/hook-program.ts";
import { folderOf, isCopy, isCopyCurrent, isPackage } from "#setup/registration/installed-copy.ts";
import type { Status } from "../status/shape.ts";
import { type Finding, inArea } from "./finding.ts";

/** Whether hooks use this version of the program, and from a place that lasts. */
export async function* installedFindings({ hook, agents }: Status, context: Context): AsyncGenerator<Finding> {
  const { ok, remark } = inArea("version");
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
export async function* leftoverFindings({ hook }: Status, context: Context): AsyncGenerator<Finding> {
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
