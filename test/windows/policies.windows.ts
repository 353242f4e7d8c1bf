// Policies of Claude Code in Windows' registry.
import { afterEach, expect, test } from "vitest";
import { newProfile, otel, runAll, type Step } from "./lab.ts";

const REG = "C:\\windows\\system32\\reg.exe";
const MACHINE = "HKLM\\SOFTWARE\\Policies\\ClaudeCode";
const USER = "HKCU\\SOFTWARE\\Policies\\ClaudeCode";
const set = (key: string, settings: string): Step => ({
  argv: [REG, "add", key, "/v", "Settings", "/t", "REG_SZ", "/d", settings, "/f"],
});
const remove = (key: string): Step => ({ argv: [REG, "delete", key, "/f"] });

afterEach(() => {
  runAll([remove(MACHINE), remove(USER)]);
});

test("a policy that allows only an administrator's hooks is named by enable, status and doctor, with the remedy", () => {
  const { env } = newProfile("policies");
  const lock = JSON.stringify({ allowManagedHooksOnly: true, companyAnnouncements: ["Grüße"] });
  const status = otel(["status", "--json"], { env });
  const doctor = otel(["doctor", "--json"], { env });
  const switchedOff = (key: string) =>
    JSON.stringify(`users' hooks are switched off by "allowManagedHooksOnly" in ${key}; `).slice(1, -1);

  const [enabled, , own] = runAll([otel(["enable", "claude-code"], { env }), set(USER, lock), status]);
  expect(enabled?.stdout).not.toContain("switched off");
  expect(own?.stdout).toContain(`${switchedOff(USER)}remove it, or ask the administrator`);
  // The administrator's replaces it
  const [, other] = runAll([set(MACHINE, '{ "model": "opus" }'), status]);
  expect(other?.stdout).not.toContain("switched off");
  const [, again, found] = runAll([set(MACHINE, lock), otel(["enable", "claude-code"], { env }), doctor]);
  expect(again?.stdout.replaceAll(/\s+/g, " ")).toContain(`"allowManagedHooksOnly" in ${MACHINE};`);
  expect(found?.stdout).toContain(
    `${switchedOff(MACHINE)}ask the administrator to remove it, or to add there what enable --managed --print shows`,
  );
  const [, broken] = runAll([set(MACHINE, "{ no json"), doctor]);
  expect(broken?.stdout).toContain(
    `${MACHINE.replaceAll("\\", "\\\\")} could not be read, so it is unknown whether it switches hooks off`,
  );
});
