import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Client, IncomingCall } from '../../gateway/client.ts'
import type { Refusal } from '../../gateway/refusal.ts'
import type { ServeCall } from '../../gateway/serve-call.ts'
import { hasLeft, onLeave } from '../rest/leaving-client.ts'
import { originOf } from '../rest/origin-of.ts'

/** A whole answer, in the JSON that the gateway wrote. */
export interface CollectedAnswer {
  readonly kind: 'answer'
  readonly body: string
}

/**
 * Makes a model call on behalf of a REST request, within this process and on the way that every call takes,
 * and gathers what it ends with. It must be one that is not streamed. The call belongs to the client of the
 * request: when that hangs up, the gateway learns of it as it does on calls of its own.
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
    beginStream: refuseStream,
    write: refuseStream,
    endStream: refuseStream,
    hasLeft: () => hasLeft(raw),
    origin: () => originOf(request, publicUrl),
    onLeave: (callback) => onLeave(raw, callback),
  }
  await serveCall(incoming, client)
  if (!collected) throw new Error('a model call ended without an answer')
  return collected
}

function refuseStream(): never {
  throw new Error('a collected answer is not streamed')
}
