/**
 * Replaces the package `debug` in the built program: the proxy agents pass it the proxy's address with its password, and DEBUG=* in a
 * user's terminal would print it.
 */
const silent = (): (() => void) => () => {};

export default silent;
