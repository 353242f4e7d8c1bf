export const MODULES: readonly { readonly path: string; readonly text: () => Promise<string> }[];
