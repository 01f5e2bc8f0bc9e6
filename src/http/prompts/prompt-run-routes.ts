import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import type { ActiveKey } from '../../customers/key-cache.ts'
import { type Refusal, refusalOfExcess, refusals } from '../../gateway/calls/refusal.ts'
import { renderPrompt } from '../../customers/prompts/placeholders.ts'
import { runSessionId } from '../../customers/prompts/prompt-runs.ts'
import { findPrompt, type Prompt } from '../../customers/prompts/read-prompts.ts'
import type { Caller } from '../rest/authenticate.ts'
import { chatCompletions } from '../model-calls/model-call-schemas.ts'
import { promptParams, promptRunInput } from './prompt-body.ts'
import type { ServeCall } from '../../gateway/calls/serve-call.ts'
import type { HttpParts } from '../rest/parts.ts'
import { restError, RestRefusal } from '../rest/rest-refusal.ts'
import { restRoute } from '../rest/rest-route.ts'
import { customerSubject } from '../../gateway/calls/limits.ts'
import { PACED_FROM_BYTES } from '../rest/paced-from-bytes.ts'
import type { Client, IncomingCall } from '../../gateway/calls/client.ts'
import { cutOff, hasLeft, onLeave } from '../rest/leaving-client.ts'
import { originOf } from '../rest/request-headers.ts'

type Deps = Pick<HttpParts, 'config' | 'db' | 'keys' | 'bodies' | 'pace'> & {
  readonly modelCalls: { readonly completeChat: ServeCall }
}

const NAME_SHOWN_MAX = 40

/**
 * A run is a chat completion like any other, paid through the given key: its addresses, models, limits and budget hold
 * for the run. The key must be the caller's; another customer's key is answered like a key that does not exist.
 */
export const promptRunRoutes = [
  restRoute({
    method: 'POST',
    path: '/me/prompts/:id/run',
    tag: 'Prompts',
    summary: 'Executa um prompt salvo com os valores dados, e o cobra pela chave dada',
    access: 'account',
    params: promptParams,
    body: promptRunInput,
    answer: chatCompletions.answer,
    refusals: {
      400: ['personal_data_found', 'context_length_exceeded', 'content_policy_violation'],
      402: ['insufficient_balance', 'key_budget_exceeded', 'team_cap_exceeded'],
      403: ['key_model_access_denied', 'account_suspended'],
      404: ['prompt_not_found', 'key_not_found', 'model_not_found'],
      429: ['rate_limit_exceeded', 'api_key_rate_limited', 'balance_on_hold'],
      502: ['upstream_error'],
      503: ['service_paused'],
    },
    async handle({ caller, params, body, request, reply }, deps: Deps) {
      const receivedAtMs = performance.now()
      const prompt = await findPrompt(deps.db, caller.customerId, params.id)
      if (!prompt) throw new RestRefusal(404, 'prompt_not_found')
      const chat = chatOf(prompt, body, deps.config.bodyBytesMax)
      const findKey = keyFinder(deps, caller, body)
      if (!(await findKey())) throw new RestRefusal(404, 'key_not_found')

      const incoming = {
        requestId: request.id,
        authorization: undefined,
        findKey,
        sessionId: runSessionId(prompt.id),
        ip: caller.ip,
        body: chat,
        receivedAtMs,
      }
      const { publicUrl } = deps.config
      const on = { request, reply, publicUrl }
      const { customerId } = caller
      const collected = await withinMemory(deps, { customerId, bytes: chat.length }, () =>
        collectAnswer(deps.modelCalls.completeChat, incoming, on),
      )
      if (collected.kind === 'refused') return sendRefused(reply, collected)
      // Sends the gateway's own text, so that amounts keep their digits.
      return reply.type('application/json; charset=utf-8').send(collected.body)
    },
  }),
]

/** A login session names the key by its id, because it has no secrets; a key cannot act for another key. */
function keyFinder(
  { keys }: Deps,
  { customerId, sessionId }: Caller,
  { api_key: secret, api_key_id: keyId }: Static<typeof promptRunInput>,
): () => Promise<ActiveKey | undefined> {
  if (keyId !== undefined && (secret !== undefined || sessionId === undefined))
    throw new RestRefusal(
      400,
      'invalid_request',
      'api_key_id: é para uma sessão do painel, no lugar de api_key',
    )
  if (keyId !== undefined) return () => keys.findOwn(customerId, keyId)
  if (secret === undefined) throw new RestRefusal(400, 'invalid_request', 'api_key: é obrigatório')
  return async () => {
    const key = await keys.find(secret)
    return key?.customerId === customerId ? key : undefined
  }
}

/** The chat completion of a run, as a client would send it. */
function chatOf(prompt: Prompt, body: Static<typeof promptRunInput>, bytesMax: number): Buffer {
  const model = body.model ?? prompt.defaultModel
  if (model === null)
    throw new RestRefusal(
      400,
      'invalid_request',
      'model: é obrigatório, porque o prompt não tem um',
    )
  const content = contentOf(prompt, new Map(Object.entries(body.values ?? {})), bytesMax)
  const { max_tokens, temperature } = body
  const messages = [{ role: 'user', content }]
  const chat = Buffer.from(JSON.stringify({ model, messages, max_tokens, temperature }))
  if (chat.length > bytesMax) throw tooLong(bytesMax)
  return chat
}

function contentOf(prompt: Prompt, values: ReadonlyMap<string, string>, bytesMax: number): string {
  const rendered = renderPrompt(prompt, values, bytesMax)
  switch (rendered.kind) {
    case 'rendered':
      return rendered.text
    case 'too_long':
      throw tooLong(bytesMax)
    default: {
      const name = rendered.name.slice(0, NAME_SHOWN_MAX)
      throw new RestRefusal(400, 'invalid_request', `values.${name}: é obrigatório`)
    }
  }
}

function tooLong(bytesMax: number): RestRefusal {
  return new RestRefusal(
    413,
    'payload_too_large',
    `values: com eles o prompt tem mais de ${bytesMax} bytes`,
  )
}

/** The gateway's refusal in the REST format. A key that was revoked meanwhile is reported as not found. */
function sendRefused(reply: FastifyReply, refused: Refusal): FastifyReply {
  const { status, code, message, retryAfterSeconds } = refused
  if (status === 401) throw new RestRefusal(404, 'key_not_found')
  if (retryAfterSeconds !== undefined) reply.header('retry-after', retryAfterSeconds)
  return restError(reply, status, code, message)
}

/**
 * Runs `work` while its chat counts for the customer's memory and pace. A few kilobytes of values become a chat as long
 * as the longest body, which would count and wait as well if it had been sent.
 */
async function withinMemory<Result>(
  { bodies, pace }: Pick<HttpParts, 'bodies' | 'pace'>,
  { customerId, bytes }: { readonly customerId: string; readonly bytes: number },
  work: () => Promise<Result>,
): Promise<Result | Refusal> {
  const held = bodies.take(customerSubject(customerId), bytes)
  if (typeof held === 'string') return refusalOfExcess(held)
  try {
    if (bytes > PACED_FROM_BYTES) await pace.wait(customerId, bytes)
    return await work()
  } finally {
    held[Symbol.dispose]()
  }
}

/** A complete answer, in the gateway's JSON. */
interface CollectedAnswer {
  readonly kind: 'answer'
  readonly body: string
}

/**
 * Makes a model call on behalf of a REST request, within this process and through the gateway like every other
 * call, and collects its answer. The call must not be streamed. It belongs to the client of the REST request: if
 * that client disconnects, the gateway handles it as on any model call.
 */
async function collectAnswer(
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
    // Chats are texts.
    answer: (body) => void (collected = { kind: 'answer', body: body.toString() }),
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
