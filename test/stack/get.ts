import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cacheDir, folderOf, REPOSITORY, type Recipe, SOURCES, type Source } from "./programs.ts";

/** The result for one source. */
export type Got =
  | { readonly state: "there" | "new"; readonly source: Source; readonly version: string; readonly tookMs: number }
  | { readonly state: "none"; readonly source: Source; readonly reason: string };

/**
 * Builds or installs the programs that the cache lacks, one after the other, because a build uses all processors.
 *
 * @param say called before each step with its description
 * @returns one entry per source; `none` if this machine lacks what the source needs (Go, Debian's packages)
 * @throws with the source and the end of the command's output if a build or installation failed
 */
export async function getPrograms(say: (line: string) => void): Promise<readonly Got[]> {
  mkdirSync(cacheDir(), { recursive: true });
  const got: Got[] = [];
  for (const source of SOURCES) got.push(await get(source, say));
  // Ten gigabytes of modules and compiled parts, for programs of some three hundred megabytes
  if (got.some(({ state }) => state === "new")) rmSync(GO(), { recursive: true, force: true, maxRetries: 10 });
  return got;
}

// --- internal ---

async function get(source: Source, say: (line: string) => void): Promise<Got> {
  if (isThere(source)) return { state: "there", source, version: versionOf(source), tookMs: 0 };
  const reason = lacking(source.recipe);
  if (reason !== undefined) return { state: "none", source, reason };
  const startMs = Date.now();
  await lock(say);
  try {
    if (isThere(source)) return { state: "there", source, version: versionOf(source), tookMs: 0 };
    say(`${source.name}: ${source.recipe.kind === "debian" ? "installing" : "building"} …`);
    make(source);
    return { state: "new", source, version: versionOf(source), tookMs: Date.now() - startMs };
  } finally {
    unlock();
  }
}

const isThere = (source: Source): boolean =>
  Object.values(source.files).every((file) => existsSync(join(folderOf(source), file)));

function versionOf(source: Source): string {
  const [file = ""] = Object.values(source.files);
  const printed = execFileSync(join(folderOf(source), file), source.version, { encoding: "utf8", stdio: "pipe" });
  return /\d+\.\d+\.\d+[\w.+~-]*/.exec(printed)?.[0] ?? printed.split("\n")[0] ?? "";
}

function lacking(recipe: Recipe): string | undefined {
  const needed = recipe.kind === "debian" ? ["apt-get", "dpkg"] : ["go"];
  const without = needed.filter((name) => spawnSync(name, [name === "go" ? "version" : "--version"]).status !== 0);
  if (without.length > 0) return `there is no ${without.join(" and no ")} on this machine`;
  return recipe.kind === "debian" ? undefined : tooOld();
}

/** Go 1.21 and later download a newer Go themselves, unless that is switched off. */
function tooOld(): string | undefined {
  const [, minor = ""] = /go1\.(\d+)/.exec(execFileSync("go", ["version"], { encoding: "utf8" })) ?? [];
  const mayGetNewer = execFileSync("go", ["env", "GOTOOLCHAIN"], { encoding: "utf8" }).trim() !== "local";
  const isEnough = Number(minor) >= GO_MINOR || (Number(minor) >= 21 && mayGetNewer);
  return isEnough ? undefined : `Go is 1.${minor} on this machine, and it takes 1.${GO_MINOR} or later`;
}

/** The version that go.mod of the newest program requires. */
const GO_MINOR = 26;

/** Builds beside the final folder and renames the result, so that an existing folder is complete. */
function make(source: Source): void {
  const folder = folderOf(source);
  const part = `${folder}.part`;
  rmSync(part, { recursive: true, force: true, maxRetries: 10 });
  mkdirSync(part, { recursive: true });
  try {
    makeIn(part, source);
  } catch (error) {
    throw new Error(`cannot get ${source.name} into ${part}: ${error instanceof Error ? error.message : error}`, {
      cause: error,
    });
  }
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  renameSync(part, folder);
}

function makeIn(folder: string, { recipe }: Source): void {
  switch (recipe.kind) {
    case "debian":
      unpackDebian(folder, recipe.package);
      break;
    case "go":
      buildGo(folder, recipe);
      break;
    case "collector":
      run(folder, [...GO_INSTALL, recipe.builder], { GOBIN: folder });
      run(folder, [join(folder, "builder"), `--config=${join(REPOSITORY, recipe.manifest)}`]);
      renameSync(join(folder, "_build", "otelcol-openhook"), join(folder, "otelcol-openhook"));
      for (const done of ["_build", "builder"]) rmSync(join(folder, done), { recursive: true });
      break;
    default:
      unreachable(recipe);
  }
}

const GO_INSTALL = ["go", "install", "-trimpath", "-ldflags=-s -w"];

/**
 * Builds in a copy of the module's source, with its own list of versions and checksums. `go install` refuses modules
 * with `replace` lines.
 */
function buildGo(folder: string, recipe: Extract<Recipe, { kind: "go" }>): void {
  const { module, version, packages, tags, stamp } = recipe;
  const downloaded: { Dir: string } = JSON.parse(
    run(folder, ["go", "mod", "download", "-json", `${module}@${version}`]),
  );
  const source = join(folder, "source");
  cpSync(downloaded.Dir, source, { recursive: true });
  const flags = ["-trimpath", `-ldflags=-s -w -X ${stamp.join("=")}`, `-tags=${tags}`];
  run(source, ["go", "build", ...flags, `-o=${folder}`, ...packages], { GOWORK: "off" });
  rmSync(source, { recursive: true });
}

/** Unpacks a package; nothing is installed into the system. */
function unpackDebian(folder: string, name: string): void {
  const download = ["apt-get", "download", name];
  try {
    run(folder, download);
  } catch {
    // The machine's lists of packages may be missing, as in a container image
    const own = ["State", "Cache"].flatMap((kind) => [
      "-o",
      `Dir::${kind}=${join(folder, `apt-${kind.toLowerCase()}`)}`,
    ]);
    for (const below of ["apt-state/lists/partial", "apt-cache/archives/partial"]) {
      mkdirSync(join(folder, below), { recursive: true });
    }
    run(folder, ["apt-get", ...own, "update"]);
    run(folder, ["apt-get", ...own, "download", name]);
  }
  const packages = readdirSync(folder).filter((file) => file.endsWith(".deb"));
  for (const file of packages) run(folder, ["dpkg", "-x", file, "."]);
  for (const done of [...packages, "apt-state", "apt-cache"])
    rmSync(join(folder, done), { recursive: true, force: true, maxRetries: 10 });
}

/** @returns stdout @throws with the end of its output */
function run(
  folder: string,
  [program = "", ...args]: readonly string[],
  env: Readonly<Record<string, string>> = {},
): string {
  const { status, error, stdout, stderr } = spawnSync(program, args, {
    cwd: folder,
    encoding: "utf8",
    maxBuffer: 1 << 28,
    env: { ...process.env, ...goEnvironment(), ...env },
  });
  if (error !== undefined) throw error;
  if (status === 0) return stdout;
  const last = `${stdout}${stderr}`
    .trim()
    .split("\n")
    .filter((line) => !line.startsWith("go: downloading "))
    .slice(-15);
  throw new Error(`${[program, ...args].join(" ")} exited with ${status}:\n${last.join("\n")}`);
}

const GO = (): string => join(cacheDir(), "go");

/** Separate from the user's Go caches: shared by all builds, and removed when all are finished. */
const goEnvironment = (): Readonly<Record<string, string>> => ({
  GOMODCACHE: join(GO(), "mod"),
  GOCACHE: join(GO(), "build"),
  GOFLAGS: `${process.env["GOFLAGS"] ?? ""} -modcacherw -buildvcs=false`.trim(),
  CGO_ENABLED: "0",
});

/** Allows one process at a time. A lock whose process is gone is taken over. */
async function lock(say: (line: string) => void): Promise<void> {
  for (let isReported = false; ; isReported = true) {
    try {
      writeFileSync(LOCK(), String(process.pid), { flag: "wx" });
      return;
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    }
    const owner = ownerOfLock();
    if (owner !== undefined && !isAlive(owner)) unlock();
    else if (!isReported) say(`waiting for process ${owner}, which is getting the programs (${LOCK()})`);
    await new Promise((done) => setTimeout(done, 500));
  }
}

const LOCK = (): string => join(cacheDir(), "getting.pid");
const unlock = (): void => rmSync(LOCK(), { force: true });

function ownerOfLock(): number | undefined {
  try {
    const pid = Number.parseInt(readFileSync(LOCK(), "utf8"), 10);
    return Number.isNaN(pid) ? undefined : pid;
  } catch {
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function unreachable(recipe: never): never {
  throw new Error(`no such recipe: ${JSON.stringify(recipe)}`);
}
