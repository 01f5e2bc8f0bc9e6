import type { FastifyRequest } from 'fastify'

/**
 * A value kept with a request. It is a field of the request and not an entry of a WeakMap: such entries are visited by
 * every collection of young objects, and there is one for each request in flight.
 */
export interface RequestSlot<Value> {
  set(request: FastifyRequest, value: Value): void
  get(request: FastifyRequest): Value | undefined
}

export function createRequestSlot<Value>(name: string): RequestSlot<Value> {
  const field = Symbol(name)
  type Carrier = { [field]?: Value }
  return {
    set(request, value) {
      ;(request as Carrier)[field] = value
    },
    get: (request) => (request as Carrier)[field],
  }
}
