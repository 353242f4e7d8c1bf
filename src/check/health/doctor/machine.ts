import { execFile } from "node:child_process";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { Context } from "#config/context.ts";
import { DISCOVERY_NAME, readDiscovery } from "#config/discovery.ts";
import { foreignFiles } from "#config/file-owner.ts";
import { refuseOdd } from "#config/files.ts";
import { loadConfig } from "#config/load.ts";
import { isTableOld, PRICE_TABLE, PRICE_TABLE_DATE } from "#core/telemetry/cost.ts";
import { messageOf } from "#kit/error-message.ts";
import { suggest } from "#kit/suggest.ts";
import { plural } from "#kit/text/figures.ts";
import { doubtfulHome } from "../status/doubtful-home.ts";
import type { Status } from "../status/shape.ts";
import { unwritableRemark } from "../status/state-directory.ts";
import type { ExposedFiles } from "./exposed-files.ts";
import { broken, type Finding, inArea } from "./finding.ts";
import { hookFindings } from "./hook.ts";
import { installedFindings, leftoverFindings } from "./installed.ts";

/**
 * Node, and what all agents on this machine share.
 *
 * @param exposed the result of `exposedFiles`
 * @param hookSource the shipped hook program
 */
export async function* machineFindings(
  status: Status,
  context: Context,
  exposed: ExposedFiles,
  hookSource: string,
): AsyncGenerator<Finding> {
  yield* nodeFindings(status, context);
  yield* stateFindings(context, exposed);
  yield* hookFindings(status, context, hookSource);
  yield* installedFindings(status, context);
  yield* leftoverFindings(status, context);
  yield* configFindings(status, context);
  yield* discoveryFindings(context);
}

// --- internal ---

const OLDEST_NODE = 20;

async function* nodeFindings({ hook }: Status, { nodePath, env }: Context): AsyncGenerator<Finding> {
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

async function* stateFindings(context: Context, exposed: ExposedFiles): AsyncGenerator<Finding> {
  const { ok, remark } = inArea("state");
  const unwritable = await unwritableRemark(context);
  yield* broken("state", unwritable);
  yield* broken("state", foreignFiles(context.places.stateDir));
  const { stateDir } = context.places;
  const exists = await stat(stateDir).then(
    () => true,
    () => false,
  );
  for (const { path, mode } of exposed) {
    yield remark(
      `other users of this machine can access ${path}`,
      `${suggest("doctor --fix")}, or chmod ${mode.toString(8)}`,
    );
  }
  if (unwritable.length > 0 || exposed.length > 0) return;
  yield ok(exists ? `${stateDir} is private and writable` : `${stateDir} does not exist yet`);
}

async function* configFindings({ config }: Status, context: Context): AsyncGenerator<Finding> {
  const { ok, remark, broken } = inArea("settings");
  const todo = `${suggest("config")} shows every setting and where it comes from`;
  for (const error of config.errors) yield broken(error, todo);
  for (const warning of config.warnings) yield remark(warning, todo);
  const home = await doubtfulHome(context);
  if (home !== undefined) yield remark(home.problem, home.remedy);
  const { locked, machinePath } = await loadConfig(context);
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

async function* discoveryFindings({ cwd }: Context): AsyncGenerator<Finding> {
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
  for (const hook of ours.filter((one) => !one.async)) {
    yield remark(`${path} makes agents wait for ${JSON.stringify(hook.command)}`, 'set "async": true there');
  }
}

const majorOf = (version: string): number => Number(/^v?(\d+)/.exec(version)?.[1] ?? 0);

const VERSION_TIMEOUT_MS = 3000;

/** `undefined` if it does not run. */
function nodeVersion(path: string, env: Context["env"]): Promise<string | undefined> {
  return new Promise((done) => {
    const options = { env, timeout: VERSION_TIMEOUT_MS, killSignal: "SIGKILL", windowsHide: true } as const;
    execFile(path, ["--version"], options, (error, stdout) => done(error === null ? stdout.trim() : undefined));
  });
}
