/** Whether the status means that the address has no endpoint for this signal. */
export const isEndpointMissing = (httpStatus: number | undefined): boolean => httpStatus === 404 || httpStatus === 405;

/** Whether the status redirects to another address. */
export const isRedirect = (httpStatus = 0): boolean => httpStatus >= 300 && httpStatus < 400;
