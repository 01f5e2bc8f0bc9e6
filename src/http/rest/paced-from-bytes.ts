/** A smaller body is read in a few milliseconds. */
export const PACED_FROM_BYTES = 256 * 1024
