import { accessSync, constants, statSync } from "node:fs";

/** Whether a path leads to a file that this user can start. */
export function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
