/** A request that this adapter cannot send. The message never quotes the request. */
export class RefusedRequest extends Error {
  override readonly name = 'RefusedRequest'
}
