import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Client, IncomingCall } from '../../gateway/calls/client.ts'
import { refusals, type Refusal } from '../../gateway/calls/refusal.ts'
import type { ServeCall } from '../../gateway/calls/serve-call.ts'
import { cutOff, hasLeft, onLeave } from '../rest/leaving-client.ts'
import { originOf } from '../rest/origin-of.ts'

/** A complete answer, in the gateway's JSON. */
export interface CollectedAnswer {
  readonly kind: 'answer'
  readonly body: string
}

/**
 * Makes a model call on behalf of a REST request, within this process and through the gateway like every other
 * call, and collects its answer. The call must not be streamed. It belongs to the client of the REST request: if
 * that client disconnects, the gateway handles it as on any model call.
 */
export async function collectAnswer(
  serveCall: ServeCall,
  incoming: IncomingCall,
  {
    request,
    reply,
    publicUrl,
  }: { request: FastifyRequest; reply: FastifyReply; publicUrl: string | undefined },
): Promise<CollectedAnswer | Refusal> {
  const { raw } = reply
  let collected: CollectedAnswer | Refusal | undefined
  const client: Client = {
    refuse: (refused) => void (collected = refused),
    answer: (body) => void (collected = { kind: 'answer', body }),
    expectStream: refuseStream,
    beginStream: refuseStream,
    write: refuseStream,
    endStream: refuseStream,
    hasLeft: () => hasLeft(raw),
    cutOff: () => cutOff(raw),
    origin: () => originOf(request, publicUrl),
    onLeave: (callback) => onLeave(raw, callback),
  }
  await serveCall(incoming, client)
  // Nothing is sent for a client that left.
  if (!collected && hasLeft(raw)) return refusals.serviceUnavailable()
  if (!collected) throw new Error('a model call ended without an answer')
  return collected
}

function refuseStream(): never {
  throw new Error('a collected answer is not streamed')
}
