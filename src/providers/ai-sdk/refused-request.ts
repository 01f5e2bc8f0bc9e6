/** A request that cannot be put to this upstream. Its message names no content of the request. */
export class RefusedRequest extends Error {
  override readonly name = 'RefusedRequest'
}
