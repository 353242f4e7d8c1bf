import { join } from "node:path";
import { variableFiles } from "#agents/registry.ts";
import type { Context } from "#config/context.ts";
import { DISCOVERY_NAME, readDiscovery } from "#config/discovery.ts";
import { refuseOdd } from "#config/files.ts";
import { placesOf } from "#config/places.ts";
import { readProjectSettings } from "#config/project.ts";
import { doubtfulVariables, ownVariablesIn, systemHome } from "#config/variables.ts";
import { isTableOld, PRICE_TABLE, PRICE_TABLE_DATE } from "#core/telemetry/cost.ts";
import { messageOf } from "#kit/errors.ts";
import { suggest } from "#kit/suggest.ts";
import { plural } from "#kit/text/figures.ts";
import { variablesToRecord } from "#setup/registration/enable.ts";
import type { Examined } from "../facts/examined.ts";
import { type Finding, inArea } from "../finding.ts";

/** The configuration, the home folder that drains use, and the prices. */
export async function* settingsFindings({ facts: { config }, loaded, context }: Examined): AsyncGenerator<Finding> {
  const { ok, remark, broken } = inArea("settings");
  const todo = `${suggest("config")} shows every setting and where it comes from`;
  for (const error of config.errors) yield broken(error, todo, `configuration: ${error}`);
  for (const warning of config.warnings) yield remark(warning, todo, `configuration: ${warning}`);
  const home = await doubtfulHome(context);
  if (home !== undefined) yield remark(home.problem, home.remedy, `configuration: ${home.problem}; ${home.remedy}`);
  const { locked, machinePath } = loaded;
  if (locked.length > 0) yield ok(`${machinePath} locks ${locked.join(", ")}`);
  if (config.errors.length + config.warnings.length === 0) yield ok(`${config.path} and the environment are valid`);
  const prices = `list prices are ${PRICE_TABLE} of ${PRICE_TABLE_DATE}`;
  const ofPrices = inArea("prices");
  yield isTableOld(context.now())
    ? ofPrices.remark(
        `${prices}: models and prices of the last two months may be missing`,
        `update openhook-otel, or add prices: ${suggest("config set prices.file <file>")}`,
      )
    : ofPrices.ok(prices);
}

/** The file of the current folder that tells agents which hooks to run. Nothing if there is none. */
export async function* discoveryFindings({ context: { cwd } }: Examined): AsyncGenerator<Finding> {
  const { ok, remark } = inArea("discovery");
  const path = join(cwd, DISCOVERY_NAME);
  const found = await refuseOdd(path).then(() => readDiscovery(path), messageOf);
  if (found === undefined) return;
  if (typeof found === "string") {
    return yield remark(`${path} does not follow OpenHook v0.1: ${found}`, "correct it by hand");
  }
  const ours = found.hooks.filter(({ command }) => command.includes("openhook-otel"));
  yield ours.length === 0
    ? remark(
        `${path} runs ${plural(found.hooks.length, "hook")}, none of them ours`,
        suggest("enable openhook --scope project"),
      )
    : ok(`${path} runs our hook for ${ours.flatMap(({ events }) => events).join(", ")}`);
  for (const { command } of ours.filter(({ async: isAsync }) => !isAsync)) {
    yield remark(`${path} makes agents wait for ${JSON.stringify(command)}`, 'set "async": true there');
  }
}

/** What the current project requests, and what of it is ignored. */
export async function* projectFindings({ context }: Examined): AsyncGenerator<Finding> {
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

// --- internal ---

/**
 * What drains that hooks start do not read, because HOME is not the account's home and a file there names HOME: a repository could have
 * set it. Otherwise only the log of such a drain says so.
 *
 * @returns the problem and its remedy; `undefined` if drains use this home
 */
async function doubtfulHome({
  env,
  places,
  platform,
}: Context): Promise<{ readonly problem: string; readonly remedy: string } | undefined> {
  const { HOME } = env;
  if (HOME === undefined || HOME !== places.home || HOME === systemHome()) return undefined;
  const inHome = { folders: [], home: HOME, files: await variableFiles() };
  const file = (await doubtfulVariables({ HOME }, places.stateDir, inHome)).get("HOME");
  const used = placesOf({ env: { ...env, HOME: undefined }, home: systemHome() ?? "/", platform }).configPath;
  if (file === undefined || used === places.configPath) return undefined;
  return {
    problem: `drains that hooks start do not read ${places.configPath}, because ${file} names HOME, and a repository could have set it to ${HOME}`,
    remedy: `put your settings into ${used}, or write ~ instead of $HOME in ${file}`,
  };
}
