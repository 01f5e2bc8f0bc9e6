/** Thrown when a month stays where it is; the message says in one line why. */
export class ArchiveFault extends Error {}
