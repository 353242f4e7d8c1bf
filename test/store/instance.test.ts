import { copyFileSync, mkdirSync, renameSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { METRIC_SHAPES } from "#core/telemetry/shapes.ts";
import { counterValues, countFacts } from "#store/counters.ts";
import { fingerprint, instanceId, isCopy, type MachineProperties, machineIdOn, markCounted } from "#store/instance.ts";
import { addToMeta, readMeta } from "#store/meta.ts";
import { temporaryStores } from "./temporary.ts";

const stores = temporaryStores();
const placeOf = (path: string, home = "/home/dev") => ({ home, stateDir: dirname(path) });
const TURN = {
  key: "turn-1",
  increments: [
    { metric: "openhook.turn.count", amount: 1, attributes: {}, resource: { "service.name": "claude-code" } },
  ],
};

test("a store has one random id, which stays", () => {
  const db = stores.open();
  const here = placeOf(stores.path());
  const id = instanceId(db, here);
  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(instanceId(db, here)).toBe(id);
  expect(instanceId(stores.open(), here)).toBe(id);
  expect(isCopy(db, here)).toBe(false);
  expect(instanceId(stores.open(join(stores.folder(), "another.db")), here)).not.toBe(id);
});

test("a copy in another folder is another instance, and counts from zero", () => {
  const db = stores.open();
  const id = instanceId(db, placeOf(stores.path()));
  countFacts(db, [TURN], METRIC_SHAPES, Date.UTC(2026, 9, 5));
  db.prepare("PRAGMA wal_checkpoint(TRUNCATE)").all();
  const path = join(stores.folder(), "copy.db");
  copyFileSync(stores.path(), path);
  const copy = stores.open(path);
  const elsewhere = placeOf(path, "/home/other");
  expect(counterValues(copy).length).toBe(1);
  expect(isCopy(copy, elsewhere)).toBe(true);
  expect(instanceId(copy, elsewhere)).not.toBe(id);
  expect(isCopy(copy, elsewhere)).toBe(false);
  expect(counterValues(copy)).toEqual([]);
  // What the original counted is not counted again
  expect(countFacts(copy, [TURN], METRIC_SHAPES, Date.UTC(2026, 9, 6))).toBe(0);
  expect(counterValues(db).length).toBe(1);
});

test("the clone of a volume, with all inode numbers, is another instance; an unknown volume is not", () => {
  const db = stores.open();
  const on = (volume: string | undefined) => ({ ...placeOf(stores.path()), volume: () => volume });
  // The volume was not known when the id was made
  const id = instanceId(db, on(undefined));
  expect(instanceId(db, on("e01a2c59e12ad9f7"))).toBe(id);
  countFacts(db, [TURN], METRIC_SHAPES, Date.UTC(2026, 9, 5));
  expect([isCopy(db, on("e01a2c59e12ad9f7")), isCopy(db, on(undefined))]).toEqual([false, false]);
  expect(instanceId(db, on(undefined))).toBe(id);
  expect(isCopy(db, on("e01a2c59e12ad9f6"))).toBe(true);
  expect(instanceId(db, on("e01a2c59e12ad9f6"))).not.toBe(id);
  expect(counterValues(db)).toEqual([]);
  expect(isCopy(db, on("e01a2c59e12ad9f6"))).toBe(false);
});

test("a machine whose id cannot be read is not another machine: id and sums stay, and a copy is still recognised", () => {
  const db = stores.open();
  const here = (id: string | undefined) => ({ ...placeOf(stores.path()), machineId: () => id });
  // The first drain could not read it either
  const id = instanceId(db, here(undefined));
  countFacts(db, [TURN], METRIC_SHAPES, Date.UTC(2026, 9, 5));
  for (const machineId of ["A-1", undefined, "A-1"]) {
    expect(isCopy(db, here(machineId))).toBe(false);
    expect(instanceId(db, here(machineId))).toBe(id);
  }
  expect(counterValues(db).length).toBe(1);
  expect(isCopy(db, here("B-2"))).toBe(true);
  expect(instanceId(db, here("B-2"))).not.toBe(id);
});

test("macOS and Windows report a machine id; if they fail, it is unknown, not absent", () => {
  const mac = '+-o J314sAP  <class IOPlatformExpertDevice>\n    {\n      "IOPlatformUUID" = "5F1C-77"\n    }\n';
  const windows = "\r\nHKEY_LOCAL_MACHINE\\SOFTWARE\r\n    MachineGuid    REG_SZ    9d2e-11\r\n\r\n";
  const timedOut = (): never => {
    throw Object.assign(new Error("spawnSync ETIMEDOUT"), { code: "ETIMEDOUT" });
  };
  expect(machineIdOn("darwin", () => mac)).toBe("5F1C-77");
  expect(machineIdOn("win32", () => windows)).toBe("9d2e-11");
  // By its name alone, Windows would start a reg.exe of the repository in which the user is
  machineIdOn("win32", (program) => {
    expect(program).toBe("C:\\Windows\\System32\\reg.exe");
    return windows;
  });
  for (const platform of ["darwin", "win32"] as const) {
    expect(machineIdOn(platform, timedOut)).toBeUndefined();
    expect(machineIdOn(platform, () => "")).toBeUndefined();
  }
});

test("facts that the original counts are never counted here", () => {
  const db = stores.open();
  markCounted(db, [TURN.key, TURN.key]);
  expect(countFacts(db, [TURN], METRIC_SHAPES, Date.UTC(2026, 9, 6))).toBe(0);
});

describe("fingerprints", () => {
  const LAPTOP: MachineProperties = {
    fileSystem: { name: "ext4", isShared: false, hasLocks: true, hasStableInodes: true, isContainerLayer: false },
    machineId: "3d1219c7",
    hostname: "orchard",
    folderInode: "131074",
  };
  const on = (fileSystem: Partial<MachineProperties["fileSystem"]>) => ({ ...LAPTOP.fileSystem, ...fileSystem });
  const NFS = on({ name: "nfs", isShared: true });
  const SSHFS = on({ name: "fuse", isShared: true, hasStableInodes: false });
  const LAYER = on({ name: "overlayfs", hasStableInodes: false, isContainerLayer: true });
  const HOME = "/home/dev";

  test.each<[string, Partial<MachineProperties>, Partial<MachineProperties>, boolean]>([
    ["a laptop whose host name changes with the network", {}, { hostname: "orchard.example" }, true],
    ["a home copied to another machine", {}, { machineId: "77aa", folderInode: "9" }, false],
    ["a home copied to a machine whose image has the same machine id", {}, { folderInode: "9" }, false],
    ["a backup that was restored to a new folder", {}, { folderInode: "131099" }, false],
    [
      "one home on a file server, seen by two machines",
      { fileSystem: NFS },
      { fileSystem: NFS, machineId: "77aa", hostname: "meadow" },
      true,
    ],
    ["a copy of it on the same server", { fileSystem: NFS }, { fileSystem: NFS, folderInode: "9" }, false],
    ["a copy of it on a local disk", { fileSystem: NFS }, {}, false],
    [
      "a mount that gives its folders new inode numbers each time",
      { fileSystem: SSHFS },
      { fileSystem: SSHFS, folderInode: "3", machineId: "77aa" },
      true,
    ],
    [
      "two containers of an image that holds a state directory",
      { fileSystem: LAYER, machineId: "", hostname: "4f1c" },
      { fileSystem: LAYER, machineId: "", hostname: "9d2e" },
      false,
    ],
    [
      "one of them started again",
      { fileSystem: LAYER, machineId: "", hostname: "4f1c" },
      { fileSystem: LAYER, machineId: "", hostname: "4f1c", folderInode: "77" },
      true,
    ],
    [
      "a volume of one container after the other",
      { machineId: "", hostname: "4f1c" },
      { machineId: "", hostname: "9d2e" },
      true,
    ],
  ])("%s", (_, before, after, isSame) => {
    const [one, other] = [before, after].map((changes) => fingerprint(HOME, { ...LAPTOP, ...changes }));
    expect(one === other).toBe(isSame);
  });

  test("another home or spelling of it is the same store, because the inode number of the folder is the same", () => {
    for (const home of ["/home/other", "/home/dev/", "/mnt/link/dev"]) {
      expect(fingerprint(home, LAPTOP)).toBe(fingerprint(HOME, LAPTOP));
    }
  });

  test.each<[string, Partial<MachineProperties>]>([
    ["without stable inode numbers", { fileSystem: on({ hasStableInodes: false }) }],
    ["at the root of a file system, whose inode number is always the same", { isMountRoot: true, folderInode: "2" }],
    ["at the root of a shared one", { fileSystem: NFS, isMountRoot: true, folderInode: "2" }],
  ])("%s, another home is another store", (_, around) => {
    const of = (home: string): string | undefined => fingerprint(home, { ...LAPTOP, ...around });
    expect(of("/home/other")).not.toBe(of("/home/dev"));
  });

  test("a store keeps its id with any spelling of the home folder", () => {
    const path = join(stores.folder(), "spelled", "store.db");
    mkdirSync(dirname(path));
    const place = placeOf(path, stores.folder());
    const link = join(stores.folder(), "link");
    symlinkSync(place.home, link);
    const db = stores.open(path);
    const id = instanceId(db, place);
    for (const home of [`${place.home}/`, link, place.home, "/elsewhere", place.home]) {
      expect(isCopy(db, { ...place, home })).toBe(false);
      expect(instanceId(db, { ...place, home })).toBe(id);
    }
  });

  test("a state directory that was moved is the same store", () => {
    const path = join(stores.folder(), "before", "store.db");
    mkdirSync(dirname(path));
    const db = stores.open(path);
    const id = instanceId(db, placeOf(path));
    db.close();
    const after = join(stores.folder(), "after", "store.db");
    renameSync(dirname(path), dirname(after));
    expect(instanceId(stores.open(after), placeOf(after))).toBe(id);
  });
});

test("amounts in meta are added up; a key that was never written is unknown", () => {
  const db = stores.open();
  expect(readMeta(db, "harvest")).toBeUndefined();
  for (const amount of [2, 0, 3]) addToMeta(db, "baskets", amount);
  expect(readMeta(db, "baskets")).toBe("5");
});
