/** The month stays where it is: in one line, why. */
export class ArchiveFault extends Error {}
