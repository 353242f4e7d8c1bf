import { readFile } from "node:fs/promises";
import type { Context } from "#config/context.ts";
import { suggest } from "#kit/suggest.ts";
import { knowsPathOfNode, startsNodeByName } from "#setup/registration/lines-in-settings.ts";
import { listed } from "#setup/registration/settings-edit.ts";
import type { AgentStatus, Registration } from "../facts/shape.ts";
import { type Finding, inArea } from "../finding.ts";

/** Users' registrations on Windows whose lines start `node` by its name. */
export async function registrationsByName(
  { registrations }: AgentStatus,
  { platform }: Pick<Context, "platform">,
): Promise<readonly Registration[]> {
  if (platform !== "win32") return [];
  const users = registrations.filter(({ scope, state }) => scope === "user" && state === "enabled");
  const found = await Promise.all(users.map(({ paths }) => filesByName(paths)));
  return users.filter((_, index) => (found[index]?.length ?? 0) > 0);
}

/**
 * Lines in the settings of a user or an administrator that start `node` by its name, as `enable` writes them if Node's path has a blank
 * and the disk has no short names.
 *
 * @param asAdministrator the command that writes an administrator's settings again
 */
export async function nodeByNameFindings(
  status: AgentStatus,
  context: Context,
  asAdministrator: string,
): Promise<readonly Finding[]> {
  const { broken, remark } = inArea(status.title);
  const users = (await registrationsByName(status, context)).flatMap(({ paths }) => paths);
  const managed = status.managed === null || context.platform !== "win32" ? [] : [status.managed];
  const [ofUser, ofAll] = await Promise.all([users, managed].map(filesByName));
  const text = (files: readonly string[]): string =>
    `hooks in ${listed(files)} start node by its name: cmd starts a node.cmd of the current folder, such as a repository's, before the one in PATH`;
  const findings: Finding[] = [];
  if (ofUser !== undefined && ofUser.length > 0) {
    findings.push(
      knowsPathOfNode(context)
        ? broken(text(ofUser), `${suggest("doctor --fix")} writes Node's full path`)
        : remark(
            text(ofUser),
            `this disk has no short names: install Node in a folder without blanks, then ${suggest("enable")}`,
          ),
    );
  }
  if (ofAll !== undefined && ofAll.length > 0) findings.push(broken(text(ofAll), asAdministrator));
  return findings;
}

// --- internal ---

async function filesByName(paths: readonly string[]): Promise<readonly string[]> {
  const texts = await Promise.all(paths.map((path) => readFile(path, "utf8").catch(() => "")));
  return paths.filter((_, index) => startsNodeByName(texts[index] ?? ""));
}
