import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { timeZoneName } from "#kit/text/times.ts";

const folder = mkdtempSync(join(tmpdir(), "openhook-zone-"));
afterAll(() => rmSync(folder, { recursive: true }));

const intlName = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Calls `look` in a process whose variable TZ is `zone`. */
function inZone<T>(zone: string | undefined, look: () => T): T {
  const before = process.env["TZ"];
  const set = (value: string | undefined): void => {
    if (value === undefined) delete process.env["TZ"];
    else process.env["TZ"] = value;
  };
  set(zone);
  try {
    return look();
  } finally {
    set(before);
  }
}

const OTHERS = ["UTC", "Etc/UTC", "GMT", "Europe/Kyiv", "Asia/Kolkata", ":Europe/Berlin", "posix/Europe/Berlin"];
const NO_ZONES = ["EST5EDT", "Etc/GMT+5", "europe/berlin", "Mars/Olympus", ""];

test.each([undefined, ...OTHERS, ...NO_ZONES])("TZ %j has the name that Intl gives", (zone) => {
  inZone(zone, () => expect(timeZoneName()).toBe(intlName()));
});

test("every zone has the name that Intl gives", () => {
  for (const zone of Intl.supportedValuesOf("timeZone")) inZone(zone, () => expect(timeZoneName()).toBe(intlName()));
});

test.skipIf(process.platform === "win32")("without TZ a link gives the name, a copy or another link does not", () => {
  const europe = join(folder, "zoneinfo", "Europe");
  mkdirSync(europe, { recursive: true });
  const [berlin, here] = [join(europe, "Berlin"), (name: string): string => join(folder, name)];
  writeFileSync(berlin, "rules");
  symlinkSync("Berlin", join(europe, "Paris"));
  symlinkSync(berlin, here("linked"));
  symlinkSync(join(europe, "Paris"), here("linked-twice"));
  symlinkSync(join(europe, "Nowhere"), here("dangling"));
  copyFileSync(berlin, here("copied"));
  const nameOf = (link: string): string => timeZoneName({ zone: undefined, link: here(link) });
  inZone("Asia/Tokyo", () => {
    expect(nameOf("linked")).toBe("Europe/Berlin");
    for (const link of ["linked-twice", "dangling", "copied", "missing"]) expect(nameOf(link)).toBe("Asia/Tokyo");
  });
});
