/** A fault of a request, in Portuguese. Thrown by the translation of one request and caught by its format. */
export class InvalidField extends Error {}
