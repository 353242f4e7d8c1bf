import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A separate file system that can be filled and made read-only. */
export interface SmallDisk {
  readonly dir: string;
  /** Leaves this many bytes free. */
  fill(freeBytes: number): void;
  /** Frees the space again. */
  free(): void;
  readOnly(on: boolean): void;
  remove(): void;
}

/**
 * @param inodes how many files it has room for. @default any number
 * @returns a text with the reason if this user cannot mount anything
 */
export function smallDisk(bytes: number, inodes?: number): SmallDisk | string {
  const dir = mkdtempSync(join(tmpdir(), "openhook-disk-"));
  const mount = (...args: readonly string[]) => spawnSync("mount", [...args], { encoding: "utf8" });
  const made = mount(
    "-t",
    "tmpfs",
    "-o",
    `size=${bytes},mode=0700${inodes === undefined ? "" : `,nr_inodes=${inodes}`}`,
    "tmpfs",
    dir,
  );
  if (made.status !== 0) {
    rmSync(dir, { recursive: true, force: true, maxRetries: 10 });
    return `no tmpfs could be mounted: ${(made.stderr ?? made.error?.message ?? "").trim()}`;
  }
  const filler = join(dir, "filler");
  return {
    dir,
    fill(freeBytes) {
      rmSync(filler, { force: true });
      const { bavail, bsize } = statfsSync(dir);
      writeFileSync(filler, Buffer.alloc(Math.max(0, bavail * bsize - freeBytes)));
    },
    free: () => rmSync(filler, { force: true }),
    readOnly(on) {
      const { status, stderr } = mount("-o", `remount,${on ? "ro" : "rw"}`, dir);
      if (status !== 0) throw new Error(`the disk could not be remounted: ${stderr}`);
    },
    remove() {
      spawnSync("umount", ["-l", dir]);
      rmSync(dir, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

/** Runs a program with a file size limit: a full disk without special rights. */
export const limited = (bytes: number): readonly string[] => [
  "sh",
  "-c",
  // POSIX counts in units of 512 bytes
  `ulimit -f ${Math.floor(bytes / 512)}; exec "$@"`,
  "sh",
];

/**
 * Runs a program so that file permissions restrict it, which only root needs.
 *
 * @returns a text with the reason if this is root and its rights cannot be dropped
 */
export function bound(): readonly string[] | string {
  if (process.getuid?.() !== 0) return [];
  const under = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"];
  const [program = "", ...args] = [...under, "true"];
  const { status, error } = spawnSync(program, args);
  return status === 0 ? under : `root cannot be bound by permissions here: setpriv: ${error?.message ?? status}`;
}
