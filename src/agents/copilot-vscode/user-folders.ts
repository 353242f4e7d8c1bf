/** Where the editor keeps a user's data in the home folder, on Linux, macOS and Windows; they may not exist. */
export const USER_FOLDERS: readonly string[] = [".config", "Library/Application Support", "AppData/Roaming"].flatMap(
  (base) => ["Code", "Code - Insiders"].map((editor) => `${base}/${editor}/User`),
);
