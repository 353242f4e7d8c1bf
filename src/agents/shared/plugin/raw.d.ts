/** A file's text: from Vite in tests, from `scripts/build.mjs` in the bundle. */
declare module "*?raw" {
  const text: string;
  export default text;
}
