import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import {
  FOLDERS_RECORD,
  missingFolders,
  recordFolders,
  removeMadeFolders,
} from "#setup/registration/managed-folders.ts";
import fc from "../support/properties.ts";
import { removeFolder } from "../support/remove.ts";
import { runs } from "../support/whole.ts";

/** Where agents have their files, below a root of the test's. */
const FILES = ["codex/requirements.toml", "claude/managed-settings.d/ours.json", "vendor/copilot/policy.d/ours.json"];
const FOLDERS = ["codex", "claude", "claude/managed-settings.d", "vendor", "vendor/copilot", "vendor/copilot/policy.d"];

/** A machine with these folders already. */
async function onMachine(before: readonly string[], work: (machine: Machine) => Promise<void>): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), "openhook-folders-"));
  const machine = { platform: "linux", programFolder: join(root, "program") } as const;
  mkdirSync(machine.programFolder);
  for (const folder of before) mkdirSync(join(root, folder), { recursive: true });
  const enabled = new Set<string>();
  try {
    await work({
      root,
      record: join(machine.programFolder, FOLDERS_RECORD),
      async enable(file) {
        const path = join(root, file);
        await recordFolders(missingFolders([path], "linux"), machine);
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, "ours");
        enabled.add(path);
      },
      async disable(file) {
        const path = join(root, file);
        rmSync(path, { force: true });
        enabled.delete(path);
        await removeMadeFolders([path], [...enabled], machine);
      },
      folders: () => FOLDERS.filter((folder) => existsSync(join(root, folder))),
    });
  } finally {
    removeFolder(root);
  }
}

interface Machine {
  readonly root: string;
  readonly record: string;
  enable(file: string): Promise<void>;
  disable(file: string): Promise<void>;
  folders(): readonly string[];
}

test("in any order, only folders that were made are removed, and none with anything in it", async () => {
  const step = fc.record({
    kind: fc.constantFrom("enable", "disable", "somebody adds a file", "somebody removes the file" as const),
    file: fc.constantFrom(...FILES),
    folder: fc.constantFrom(...FOLDERS),
  });
  await fc.assert(
    fc.asyncProperty(fc.subarray(FOLDERS), fc.array(step, { maxLength: 14 }), async (before, steps) => {
      await onMachine(before, async ({ root, enable, disable, folders }) => {
        const first = folders();
        const foreign = new Set<string>();
        for (const { kind, file, folder } of steps) {
          const path = join(root, folder, "theirs.txt");
          if (kind === "enable") await enable(file);
          if (kind === "disable") await disable(file);
          if (kind === "somebody adds a file" && existsSync(join(root, folder))) {
            writeFileSync(path, "");
            foreign.add(path);
          }
          if (kind === "somebody removes the file" && foreign.delete(path)) rmSync(path);
          expect(folders()).toEqual(expect.arrayContaining([...first]));
          for (const one of foreign) expect(existsSync(one)).toBe(true);
        }
        const wasUsed = steps.some(({ kind }) => kind === "somebody adds a file");
        for (const file of FILES) await disable(file);
        if (!wasUsed) expect(folders()).toEqual(first);
      });
    }),
    { numRuns: runs(200) },
  );
});

test("a folder that stayed, because something was in it, is the administrator's from then on", async () => {
  await onMachine([], async ({ root, enable, disable, folders }) => {
    await enable("codex/requirements.toml");
    writeFileSync(join(root, "codex", "theirs.toml"), "");
    await disable("codex/requirements.toml");
    rmSync(join(root, "codex", "theirs.toml"));
    await enable("codex/requirements.toml");
    await disable("codex/requirements.toml");
    expect(folders()).toEqual(["codex"]);
  });
});

test("a folder that two agents use stays for the other one", async () => {
  await onMachine([], async ({ enable, disable, folders }) => {
    await enable("vendor/copilot/policy.d/ours.json");
    await enable("vendor/other/ours.json");
    await disable("vendor/copilot/policy.d/ours.json");
    expect(folders()).toEqual(["vendor"]);
    await disable("vendor/other/ours.json");
    expect(folders()).toEqual([]);
  });
});

test("with a damaged record, or a link at its place, every folder stays", async () => {
  await onMachine([], async ({ root, record, enable, disable, folders }) => {
    await enable("codex/requirements.toml");
    writeFileSync(record, '[{"codex"');
    await disable("codex/requirements.toml");
    expect(folders()).toEqual(["codex"]);
    rmSync(join(root, "codex"), { recursive: true });
    await enable("codex/requirements.toml");
    rmSync(join(root, "codex"), { recursive: true });
    mkdirSync(join(root, "elsewhere"));
    symlinkSync(join(root, "elsewhere"), join(root, "codex"));
    await disable("codex/requirements.toml");
    expect(readdirSync(root).sort()).toEqual(["codex", "elsewhere", "program"]);
  });
});
