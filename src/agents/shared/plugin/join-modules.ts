/**
 * One file from the modules of a plugin: in a folder of plugins, every file is a plugin.
 *
 * @param below the modules that it imports, each after those that it imports itself. Only the first may import from Node
 * @param plugin its own module. Its comments before the imports stay at the beginning, its exports are the file's
 */
export function joinModules(below: readonly string[], plugin: string): string {
  const begin = plugin.search(IMPORT);
  const [head, body] = [plugin.slice(0, begin), plugin.slice(begin)];
  const parts = below.map((text) => withoutImports(text).replaceAll(/^export /gm, ""));
  return `${head}\n${[...parts, withoutImports(body)].map((text) => text.trim()).join("\n\n")}\n`;
}

// --- internal ---

/** An import from another module of ours. */
const IMPORT = /^import \{[^}]*\} from "\.[^"]*";\n/m;

const withoutImports = (text: string): string => text.replaceAll(new RegExp(IMPORT, "gm"), "");
