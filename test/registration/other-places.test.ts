import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { allAgents } from "#agents/registry.ts";
import type { Context } from "#config/context.ts";
import { placesOf } from "#config/places.ts";
import type { SettingsText } from "#core/model/installer.ts";
import { hookCommandOf } from "#setup/registration/hook-program.ts";
import { installerHere, otherPlacesText } from "#setup/registration/other-places.ts";
import { contextAt } from "../support/context.ts";

// A container with the settings of its host, and a hook program in another place

let root: string;
let host: Context;
let container: Context;
const contextOf = (home: string, env: Record<string, string>) =>
  contextAt(placesOf({ env, home, platform: "linux" }), { env }).context;
/** What the host's programs and the container's are called while the other side runs. */
const away = (path: string): string => `${path}.away`;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "other-places-"));
  host = contextOf(join(root, "host"), {});
  container = contextOf(join(root, "container"), { OPENHOOK_OTEL_HOME: join(root, "var/lib/collected") });
  for (const { places } of [host, container]) put(away(places.hookPath), "#!/bin/sh\n");
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  chmodSync(path, 0o755);
}

/** Runs something where only this side's program is. */
function on<T>({ places }: Context, run: () => T): T {
  renameSync(away(places.hookPath), places.hookPath);
  try {
    return run();
  } finally {
    renameSync(places.hookPath, away(places.hookPath));
  }
}

const listed = (await allAgents()).filter(({ installer }) => installer !== undefined);
const installers = await Promise.all(
  listed.map(async ({ source, installer }) => ({ source, of: (await installer?.())?.default })),
);
const ofUser = installers.flatMap(({ source, of }) => (of?.scopes.includes("user") ? [{ source, of }] : []));

describe.each(ofUser)("$source", ({ source, of }) => {
  const target = () => ({ home: join(root, "shared"), project: join(root, "project"), env: {} });
  const enable = (files: readonly SettingsText[], context: Context): readonly SettingsText[] =>
    on(context, () =>
      installerHere(of, context).add(files, {
        scope: "user",
        target: target(),
        version: undefined,
        command: hookCommandOf(context, "user"),
      }),
    );
  const disable = (files: readonly SettingsText[], context: Context): readonly SettingsText[] =>
    on(context, () => installerHere(of, context).remove(files));
  const registered = (files: readonly SettingsText[], context: Context): number =>
    on(context, () => installerHere(of, context).registered(files).length);
  const linesOf = (files: readonly SettingsText[], { places }: Context): number => {
    const names = new Set([places.hookPath, places.hookPath.replace(places.home, "~")]);
    const starts = [...names].flatMap((name) => [`exec ${name} `, `exec '${name}' `]);
    return files.flatMap(({ text = "" }) => starts.flatMap((start) => text.split(start).slice(1))).length;
  };

  it("keeps the registration of the host beside the container's, and each side removes only its own", async () => {
    const empty = (await of.paths("user", target())).map((path) => ({ path, text: undefined }));
    const onHost = enable(empty, host);
    if (linesOf(onHost, host) === 0) {
      // A plugin looks for the program in both places by itself
      expect(onHost.some(({ text }) => text?.includes("INSTALLED_IN"))).toBe(true);
      return;
    }
    let both: readonly SettingsText[];
    try {
      both = enable(onHost, container);
    } catch (error) {
      // A file that can hold one hook is left as it is
      expect(source).toBe("cline");
      expect(String(error)).toMatch(/not ours|another/);
      return;
    }
    expect(linesOf(both, host)).toBe(linesOf(onHost, host));
    expect(linesOf(both, container)).toBe(linesOf(onHost, host));
    expect(registered(both, host)).toBe(registered(both, container));
    expect(registered(onHost, container)).toBe(0);
    // Again on both sides: nothing changes
    expect(enable(both, container)).toEqual(both);
    expect(enable(both, host)).toEqual(both);
    const hostAlone = disable(both, container);
    expect(linesOf(hostAlone, container)).toBe(0);
    expect(registered(hostAlone, host)).toBe(registered(onHost, host));
    const containerAlone = disable(both, host);
    expect(linesOf(containerAlone, host)).toBe(0);
    expect(registered(containerAlone, container)).toBe(registered(onHost, host));
    expect(JSON.stringify(both)).not.toContain("\\ue000");
    // With `--everywhere`
    const removed = on(host, () => of.remove(both));
    expect(linesOf(removed, host) + linesOf(removed, container)).toBe(0);
    expect(on(container, () => otherPlacesText(source, onHost, container)).join("\n")).toMatch(
      /not on this machine.*--everywhere/,
    );
    expect(on(host, () => otherPlacesText(source, onHost, host))).toEqual([]);
  });

  it("replaces the registration of another place on the same machine, and says so", async () => {
    const empty = (await of.paths("user", target())).map((path) => ({ path, text: undefined }));
    const first = enable(empty, host);
    if (linesOf(first, host) === 0) return expect(first.some(({ text }) => text?.includes("INSTALLED_IN"))).toBe(true);
    renameSync(away(host.places.hookPath), host.places.hookPath);
    const moved = contextOf(host.places.home, { OPENHOOK_OTEL_HOME: join(root, "moved") });
    put(away(moved.places.hookPath), "#!/bin/sh\n");
    expect(otherPlacesText(source, first, moved).join("\n")).toContain("this replaces the registration of");
    const after = enable(first, moved);
    expect(linesOf(after, host)).toBe(0);
    expect(linesOf(after, moved)).toBe(linesOf(first, host));
  });
});
