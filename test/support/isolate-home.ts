import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Windows finds the user's folders in these variables, and adds USERPROFILE to the environment of every program that a test starts. So
 * no test reads or writes the profile of the person who runs it. On Linux, WSL can set them.
 */
export default function isolateHome(): () => void {
  const home = mkdtempSync(join(tmpdir(), "openhook-home-"));
  const [local, roaming] = ["Local", "Roaming"].map((name) => join(home, "AppData", name));
  for (const folder of [local, roaming]) mkdirSync(folder ?? "", { recursive: true });
  Object.assign(process.env, { USERPROFILE: home, LOCALAPPDATA: local, APPDATA: roaming });
  if (process.platform === "win32") process.env["HOME"] = home;
  return () => rmSync(home, { recursive: true, force: true });
}
