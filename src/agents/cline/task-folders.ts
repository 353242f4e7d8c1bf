/** Folders of the extension's tasks in the home folder, on Linux, macOS and Windows; they may not exist. */
export const taskFolders = (): readonly string[] => USER_FOLDERS.map((folder) => `${folder}/${STORAGE}`);

// --- internal ---

const EDITORS = ["Code", "Code - Insiders", "Code - OSS", "VSCodium", "Cursor", "Windsurf"];
const STORAGE = "User/globalStorage/saoudrizwan.claude-dev/tasks";

/** Where editors keep their data, and their servers for remote windows and browsers. */
const USER_FOLDERS = [
  ...[".config", "Library/Application Support", "AppData/Roaming"].flatMap((base) =>
    EDITORS.map((editor) => `${base}/${editor}`),
  ),
  ".local/share/code-server",
  ...[".vscode-server", ".vscode-server-insiders", ".vscodium-server", ".cursor-server", ".windsurf-server"].map(
    (server) => `${server}/data`,
  ),
];
