import { resolve } from "node:path";
import { confirm, isCancel } from "@clack/prompts";
import { variableFiles } from "#agents/registry.ts";
import { allow, consentTo, readConsents, revoke } from "#collect/bridge/consent.ts";
import { ownVariables } from "#collect/bridge/environment.ts";
import { bridgeFiles, filesFor, pathsHere } from "#collect/bridge/report.ts";
import { testFile } from "#collect/bridge/sample.ts";
import { commandLines, fileJson, fileLines, startsOwnFile } from "#collect/bridge/text.ts";
import { ensurePrivateState } from "#collect/drain/open.ts";
import type { Context } from "#config/context.ts";
import { loadConfig } from "#config/load.ts";
import { UserError } from "#kit/errors.ts";
import { suggest } from "#kit/suggest.ts";
import { printable, writeLines } from "#kit/text/terminal.ts";
import { withUserErrors } from "#setup/registration/settings.ts";
import { refuseSudo } from "#setup/registration/sudo.ts";
import { bridgeCommandStates } from "#store/bridge.ts";
import { withOpenStore } from "#store/sessions/open-store.ts";
import { isInteractive, promptStreams } from "./prompts.ts";

/** What the arguments of `openhook-otel bridge` mean. */
export type BridgeAction =
  | { readonly kind: "allow"; readonly path: string | undefined; readonly yes: boolean }
  | { readonly kind: "revoke"; readonly path: string | undefined; readonly all: boolean }
  | { readonly kind: "status"; readonly json: boolean }
  | { readonly kind: "test"; readonly path: string | undefined };

/**
 * `openhook-otel bridge`: which registered commands get every event as an OpenHook envelope. Nothing runs without consent.
 *
 * @returns exit code: 0; of `allow` 1 if the user declined or a file is refused; of `test` 1 if a command failed
 * @throws UserError if there is no file, or no terminal to ask on
 */
export function bridge(action: BridgeAction, context: Context): Promise<number> {
  switch (action.kind) {
    case "allow":
      return withUserErrors(() => allowFiles(action.path, action.yes, context));
    case "revoke":
      return withUserErrors(() => revokeFiles(action.path, action.all, context));
    case "status":
      return showStatus(action.json, context);
    case "test":
      return testFiles(action.path, context);
  }
}

// --- internal ---

async function allowFiles(path: string | undefined, yes: boolean, context: Context): Promise<number> {
  const { places, stdout, platform, now } = context;
  await refuseSudo(context);
  for (const file of filesFor(path, context)) {
    const name = printable(file.path);
    if (file.commands.length === 0) {
      stdout.write(
        `${name} contains ${file.own > 0 ? "only our own registration" : "no commands"}: nothing to allow\n`,
      );
      continue;
    }
    if (consentTo(readConsents(places), file) !== undefined) {
      stdout.write(`${name} is allowed already\n`);
      continue;
    }
    writeLines(stdout, [`${name}, in ${printable(file.folder)}:`, ...file.commands.flatMap(commandLines)]);
    if (file.commands.some(startsOwnFile)) {
      stdout.write("You allow this text. A program that it starts can change later, and you are not asked again.\n");
    }
    if (!yes && !isInteractive(context)) {
      throw new UserError("E_CONFIRM", "to allow these commands, run this in a terminal, or pass --yes");
    }
    const message = "Run these commands as you for every event, whichever agent it is from?";
    const answer = yes || (await confirm({ message, initialValue: false, ...promptStreams(context) }));
    if (isCancel(answer) || !answer) {
      stdout.write("Nothing was allowed.\n");
      return 1;
    }
    await ensurePrivateState({ places, platform, log: (line) => context.stderr.write(`${printable(line)}\n`) });
    await allow(places, file, now(), await ownVariables(file, await variableFiles(), context));
    stdout.write(`allowed until the file changes; to try it: ${suggest("bridge test")}\n`);
  }
  return 0;
}

async function revokeFiles(path: string | undefined, all: boolean, context: Context): Promise<number> {
  const meant = new Set(path === undefined ? pathsHere(context) : [resolve(context.cwd, path)]);
  const revoked = await revoke(context.places, (one) => all || meant.has(one));
  for (const one of revoked) context.stdout.write(`${printable(one)} is not allowed any more\n`);
  if (revoked.length === 0) context.stdout.write(`nothing was allowed${all ? "" : " here"}\n`);
  return 0;
}

async function showStatus(json: boolean, context: Context): Promise<number> {
  const files = bridgeFiles(context, withOpenStore(context, bridgeCommandStates) ?? []);
  if (json) context.stdout.write(`${JSON.stringify({ files: files.map(fileJson) })}\n`);
  else if (files.length > 0) writeLines(context.stdout, fileLines(files, context.now()));
  else context.stdout.write("nothing is allowed, and no registration file applies here\n");
  return 0;
}

async function testFiles(path: string | undefined, context: Context): Promise<number> {
  const { config } = await loadConfig(context);
  const consents = readConsents(context.places);
  let failed = 0;
  for (const file of filesFor(path, context)) {
    const consent = consentTo(consents, file);
    failed += consent === undefined ? 1 : await testFile(file, consent, config, context);
    if (consent === undefined)
      context.stdout.write(`${printable(file.path)} is not allowed: ${suggest("bridge allow")}\n`);
  }
  return failed > 0 ? 1 : 0;
}
